"""Sending hostile uploads to an Arena while somebody else asks it something, and the figures."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.local.conftest import ArenaServer
from tests.local.validation.hostile import packed
from tests.local.validation.uploading import Events, form

AT_ONCE = 3
LONGEST_SECONDS = 280.0
ASK_SECONDS = 0.1


def submit_all(server: ArenaServer, sources: dict[str, Any], victim: Path) -> dict[str, Events]:
    """Upload every source, some at once; return the events of each."""

    def submit(numbered: tuple[int, tuple[str, Any]]) -> tuple[str, Events]:
        number, (what, source) = numbered
        files = {"env.py": source} if isinstance(source, str) else source
        files = {name: text.replace("VICTIM", str(victim)) for name, text in files.items()}
        with server.client() as client:
            answer = client.post(
                "/environments/create-and-validate",
                **form(f"hostile-{number}", packed(files)),
                timeout=LONGEST_SECONDS,
            )
        return what, events_of(answer)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(pool.map(submit, enumerate(sources.items())))


def events_of(answer: httpx.Response) -> Events:
    """Return the events of an answer; of a refusal, one that says so."""
    if answer.status_code != 200:
        return [{"status": "refused", "code": answer.status_code, "message": answer.text}]
    return [json.loads(line) for line in answer.text.splitlines()]


@contextmanager
def asking(server: ArenaServer) -> Iterator[list[float]]:
    """Ask for the list of environments ten times a second; yield how many seconds each took."""
    taken: list[float] = []
    over = threading.Event()

    def ask() -> None:
        with server.client() as client:
            while not over.wait(ASK_SECONDS):
                begun = time.perf_counter()
                client.get("/environments").raise_for_status()
                taken.append(time.perf_counter() - begun)

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask)
        try:
            yield taken
        finally:
            over.set()
            asked.result(timeout=60)


def content_of(folders: Iterable[Path]) -> dict[str, str]:
    """Return what lies below folders: the digest of every file, by path."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for folder in folders
        for path in sorted(folder.rglob("*"))
    }
