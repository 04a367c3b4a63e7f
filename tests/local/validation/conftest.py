"""Validating a source text in this process's forked child, without a server."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena_sdk.local.workers import validate
from tests.local.validation.sources import Report, write_source


class FakeChannel:
    """A channel that keeps what it is given."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self.messages: list[dict[str, Any]] = []

    def emit(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    def adopt_child(self) -> None:
        pass


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Report]:
    """Return a function that validates a source text and returns the worker's report."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setattr("tempfile.tempdir", str(work / "tmp"))  # as a worker's is
    (work / "tmp").mkdir()

    def run(source: str | dict[str, str], **changes: Any) -> Report:
        payload = {
            "name": "walk",
            "version": "v1",
            "source_dir": str(write_source(tmp_path / "source", source)),
            "entrypoint": None,
            "env_config": {},
            "multi_agent": False,
            "language_based": False,
            "do_rollouts": False,
            "rollouts_dir": None,
            "call_seconds": 30.0,
            "spawns": False,  # half a second each
            **changes,
        }
        channel = FakeChannel()
        report = validate.main(payload, channel)  # type: ignore[arg-type]
        report["events"] = channel.messages
        return report

    return run
