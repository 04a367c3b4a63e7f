"""Uploading environments to an Arena over HTTP, as the published client does."""

from __future__ import annotations

import io
import json
import tarfile
from typing import Any

import httpx

Events = list[dict[str, Any]]


def packed(files: dict[str, str]) -> bytes:
    """Return a gzip tar of text files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


def form(
    name: str,
    source: str | dict[str, str] | bytes,
    *,
    env_config: str = "",
    requirements: str = "",
    **fields: str,
) -> dict[str, Any]:
    """Return an upload as the published client's form: absent files are empty ones."""
    if not isinstance(source, bytes):
        source = packed({"env.py": source} if isinstance(source, str) else source)
    data = {
        "name": name,
        "version": "v1",
        "multi_agent": "false",
        "language_based": "false",
        "do_rollouts": "false",
        **fields,
    }
    files = {
        "file": ("source.tar.gz", source, "application/gzip"),
        "env_config": ("env_config.yaml", env_config.encode(), "application/x-yaml"),
        "requirements": ("requirements.txt", requirements.encode(), "text/plain"),
    }
    return {"data": data, "files": files}


def upload(api: httpx.Client, *args: Any, **kwargs: Any) -> Events:
    """Upload and validate; return the events of the answer."""
    answer = api.post("/environments/create-and-validate", **form(*args, **kwargs), timeout=120)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


def result(events: Events) -> dict[str, Any]:
    """Return what a client takes for the result: the detail of the last completed status."""
    assert not [event for event in events if event["status"] == "failed"]
    return [event for event in events if event["status"] == "completed"][-1]["detail"]
