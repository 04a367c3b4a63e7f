"""A small Hugging Face hub on this machine: what its libraries ask of it, over HTTP."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

CONVERTED = "refs/convert/parquet"
COMMITS = {"main": "a" * 40, CONVERTED: "b" * 40}


@dataclass
class SmallHub:
    """Datasets, by name and revision, and what was asked.

    Attributes:
        datasets: Files by name of the dataset and revision.
        gated: Names of those whose terms must be accepted first.
        url: Where it answers.
        asked: Method and path of every request.
    """

    datasets: dict[str, dict[str, Mapping[str, bytes]]] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    url: str = ""
    asked: list[str] = field(default_factory=list)

    def add(self, name: str, files: Mapping[str, bytes], revision: str = "main") -> None:
        """Publish a dataset."""
        self.datasets.setdefault(name, {})[revision] = files

    def files(self, name: str, revision: str) -> Mapping[str, bytes] | None:
        """Return the files of a dataset at a revision or its commit."""
        revisions = self.datasets[name]
        named = {COMMITS[key]: key for key in revisions}
        return revisions.get(named.get(revision, revision))


class _Asked(BaseHTTPRequestHandler):
    hub: SmallHub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, *words: Any) -> None:
        pass

    def _answer(self) -> None:
        self.hub.asked.append(f"{self.command} {self.path}")
        self._sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        address = urlsplit(self.path)
        path = unquote(address.path)
        if path == "/api/datasets":
            wanted = parse_qs(address.query).get("search", [""])[0]
            self._json([{"id": n, "description": "Of the hub."} for n in self.hub.datasets
                        if wanted in n])  # fmt: skip
            return
        found = re.fullmatch(r"(/api)?/datasets/([^/]+/[^/]+)(?:/(.*))?", path)
        if found is None or found[2] not in self.hub.datasets:
            self._refuse("RepoNotFound", 404)
        elif found[2] in self.hub.gated:
            self._refuse("GatedRepo", 403)
        elif found[1]:
            self._api(found[2], found[3] or "")
        else:
            self._file(found[2], (found[3] or "").removeprefix("resolve/"))

    def _api(self, name: str, rest: str) -> None:
        what, _, revision = rest.partition("/")
        for known in (*COMMITS, *COMMITS.values()):
            if revision == known or revision.startswith(f"{known}/"):
                revision, folder = known, revision[len(known) :].strip("/")
                break
        else:
            revision, folder = revision or "main", ""
        files = self.hub.files(name, revision)
        if files is None:
            self._refuse("RevisionNotFound", 404)
            return
        commit = COMMITS.get(revision, revision)
        rows = [_row(path, content) for path, content in files.items()]
        if what == "tree":
            self._json([row for row in rows if row["path"].startswith(folder)])
        elif what == "paths-info":
            wanted = {unquote(p) for p in re.findall(r"paths=([^&]+)", self._sent.decode())}
            wanted |= set(json.loads(self._sent).get("paths", ())) if self._is_json else set()
            self._json([row for row in rows if row["path"] in wanted])
        else:
            siblings = [{"rfilename": path} for path in files]
            self._json(
                {"id": name, "sha": commit, "siblings": siblings, "private": False, "tags": []}
            )

    @property
    def _is_json(self) -> bool:
        return "json" in self.headers.get("Content-Type", "")

    def _file(self, name: str, rest: str) -> None:
        for known in (*COMMITS, *COMMITS.values()):
            files = self.hub.files(name, known)
            path = rest.removeprefix(f"{known}/")
            if files is not None and path != rest and path in files:
                self._content(files[path], COMMITS.get(known, known))
                return
        self._refuse("EntryNotFound", 404)

    def _content(self, content: bytes, commit: str) -> None:
        whole, status = len(content), 200
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        self_range = None
        if asked:
            first, last = int(asked[1]), min(int(asked[2] or whole), whole - 1)
            self_range, status = f"bytes {first}-{last}/{whole}", 206
        etag = hashlib.sha256(content).hexdigest()
        part = content[first : last + 1] if asked else content
        self.send_response(status)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("ETag", f'"{etag}"')
        self.send_header("X-Repo-Commit", commit)
        self.send_header("Accept-Ranges", "bytes")
        if self_range:
            self.send_header("Content-Range", self_range)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(part)

    def _json(self, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _refuse(self, code: str, status: int) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()


def _row(path: str, content: bytes) -> dict[str, Any]:
    return {
        "type": "file",
        "path": path,
        "size": len(content),
        "oid": hashlib.sha1(content).hexdigest(),
    }


@contextmanager
def small_hub() -> Iterator[SmallHub]:
    """Run a small hub."""
    hub = SmallHub()
    handler = type("Asked", (_Asked,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join(30)
