"""A train job of the embedded Arena in this process, as the benchmarks run it."""

from __future__ import annotations

import resource
import tempfile
import threading
import time
from pathlib import Path
from typing import Any


class Stopping(threading.Event):
    """Never set here."""

    since: float | None = None


class Channel:
    """What the train job needs of a worker's channel; keeps when each kind of message came.

    Attributes:
        times: Seconds since the epoch, by kind of message.
        total_steps: Environment steps of all members, as last told.
        cpu_start: Processor seconds that had been used when the members had been started.
    """

    def __init__(self) -> None:
        self.stopping = Stopping()
        self.times: dict[str, list[float]] = {}
        self.total_steps = 0
        self.cpu_start = 0.0

    def emit(self, message: dict[str, Any]) -> None:
        """Take a message."""
        self.times.setdefault(message["kind"], []).append(time.time())
        if message["kind"] == "started":
            self.cpu_start = cpu_seconds()
        self.total_steps = message.get("total_steps", self.total_steps)

    def adopt_child(self) -> None:
        """Nothing to tie a child to here."""

    def leave(self, result: dict[str, Any]) -> None:
        """Nobody stops the run."""


def cpu_seconds() -> float:
    """Return the processor seconds of this process and those of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def environment_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the reference that a submission of a manifest leads to."""
    section = manifest["environment"]
    if "entrypoint" not in section:
        return {"kind": "gymnasium", "id": section["name"], "kwargs": {}}
    return {
        "kind": "custom",
        "source_dir": section["path"],
        "entrypoint": section["entrypoint"],
        "env_config": section.get("env_config", {}),
    }


def train(
    manifest: dict[str, Any], cpus: int | None = None, channel: Channel | None = None
) -> Channel:
    """Train to the end.

    Args:
        manifest: The whole of it.
        cpus: At most so many member processes; those of this machine unless given.
        channel: What takes the messages; a plain one unless given.

    Returns:
        What came through the channel.
    """
    from arena_sdk.local.workers import train as job

    channel = channel or Channel()
    with tempfile.TemporaryDirectory() as folder:
        payload = {
            "manifest": manifest,
            "environment": environment_of(manifest),
            "checkpoint_dir": str(Path(folder) / "checkpoints"),
            "resume_from": None,
            "max_steps": manifest["training"]["max_steps"],
            "options": {"cpus": cpus},
        }
        job.main(payload, channel)  # type: ignore[arg-type]
    return channel
