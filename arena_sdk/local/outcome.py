"""How a job ended, told in a sentence."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from arena_sdk.local.joblog import tail
from arena_sdk.local.workers.channel import STACK_FILE

Reason = Literal["exit", "timeout", "stopped", "killed", "crashed", "memory"]

LAST_LINE_LENGTH = 300


@dataclass(frozen=True)
class JobOutcome:
    """How a job ended.

    Attributes:
        reason: `exit` when the worker reported by itself; `stopped` when it ended after it was
            told to, `killed` when it did not and was ended; `timeout` and `memory` when it went
            over its limits; `crashed` when it ended without a word.
        returncode: The exit code; minus the signal's number when a signal ended it.
        result: What its `main` returned.
        error: `{"message", "error_code", "log_tail": [line…], …}` when it failed; after a
            time-out also `"stack": [line…]`, where every thread was.
    """

    reason: Reason
    returncode: int
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None

    @property
    def ok(self) -> bool:
        """True when the worker reported a result."""
        return self.result is not None


@dataclass(frozen=True)
class Ended:
    """What is known of a worker that has ended.

    Attributes:
        kind: The kind of work.
        returncode: Its exit code.
        asked: Why the server ended it, if it did.
        limit: The limit that it went over, as text.
        result: What it reported, if it did.
        error: The failure that it reported, if it did.
        log_path: Its log.
        folder: Its folder.
    """

    kind: str
    returncode: int
    asked: Reason | None
    limit: str
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    log_path: Path
    folder: Path


def conclude(job: Ended) -> JobOutcome:
    """Say how a job ended; a failure always has a sentence, and the end of the log."""
    own: Reason = "stopped" if job.asked == "stopped" else "exit"
    last = tail(job.log_path)
    if job.error is not None:
        return JobOutcome(own, job.returncode, error={**job.error, "log_tail": last})
    if job.result is not None:
        return JobOutcome(own, job.returncode, result=job.result)
    reason: Reason = job.asked or "crashed"
    error: dict[str, Any] = {
        "message": _sentence(job, reason, last),
        "error_code": ERROR_CODES.get(reason, "STOPPED"),
        "log_tail": last,
    }
    if reason == "timeout":
        error["stack"] = tail(job.folder / STACK_FILE, lines=200)
    return JobOutcome(reason, job.returncode, error=error)


ERROR_CODES = {"timeout": "TIMEOUT", "memory": "MEMORY", "crashed": "WORKER_DIED"}


def _sentence(job: Ended, reason: Reason, last: list[str]) -> str:
    worker = f"The {job.kind} worker"
    if reason == "timeout":
        return f"{worker} took longer than {job.limit} and was ended."
    if reason == "memory":
        return f"{worker} used more memory than {job.limit} and was ended."
    if reason == "stopped":
        return f"{worker} was stopped."
    if reason == "killed":
        return f"{worker} did not stop when asked and was ended."
    spoken = [line.strip() for line in last if line.strip()]
    more = f" The last line of its log: {spoken[-1][:LAST_LINE_LENGTH]}" if spoken else ""
    return f"{worker} {_death(job.returncode)}.{more}"


def _death(code: int) -> str:
    if code >= 0:
        return f"left with exit code {code} and without a result"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    memory = ", as the system does to a process that needs too much memory" if code == -9 else ""
    return f"was ended by {name}{memory}"
