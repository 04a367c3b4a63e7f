"""Long actions in progress: they outlive the screen that began them, and can be cancelled."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from arena_tui.stores.base import Store

if TYPE_CHECKING:
    from arena_tui.stores.hub import Hub

RUNNING, DONE, FAILED, CANCELLED = "running", "done", "failed", "cancelled"
_KEEP = 20


class Job(Store):
    """One long action.

    Attributes:
        title: What is being done, as in "validate grid v1".
        kind: "validate", "submit", "deploy", …
        subject: What it is done to, as in ("grid", "v1").
        state: "running", "done", "failed" or "cancelled".
        lines: What it said so far.
        checks: Results of checks by name, in order: success, warnings, error.
        result: What it returned, once done.
        error: Why it failed, in one sentence.
    """

    def __init__(self, number: int, kind: str, title: str, subject: tuple[str, ...]) -> None:
        super().__init__()
        self.number = number
        self.kind = kind
        self.title = title
        self.subject = subject
        self.state = RUNNING
        self.stage = ""
        self.lines: list[tuple[str, str]] = []
        self.checks: dict[str, dict[str, Any]] = {}
        self.result: Any = None
        self.error: str | None = None
        self.started = time.monotonic()
        self.ended: float | None = None
        self.task: asyncio.Task[None] | None = None

    @property
    def seconds(self) -> float:
        """How long it has run, or ran."""
        return (self.ended or time.monotonic()) - self.started

    @property
    def is_running(self) -> bool:
        """Whether it goes on."""
        return self.state == RUNNING

    @property
    def outcome(self) -> str:
        """The state in a word for people: what was validated may be done, and not valid."""
        result = self.result if isinstance(self.result, dict) else {}
        return "not valid" if result.get("validated") is False else self.state

    @property
    def last_line(self) -> str:
        """The last thing it said."""
        return self.lines[-1][1] if self.lines else ""

    def say(self, message: str, level: str = "info") -> None:
        """Add a line."""
        if message:
            self.lines.append((level, message))
            self.changed()

    def take(self, event: Any) -> None:
        """Take one event of a stream of the service: a check, a status, a warning or a log line."""
        detail = getattr(event, "detail", None) or {}
        name = getattr(event, "check", None) or detail.get("check")
        if event.kind == "check" and name:
            result = detail.get("result") or {}
            self.checks[str(name)] = {
                "success": bool(result.get("success")),
                "warnings": list(result.get("warnings") or ()),
                "error": result.get("error") or result.get("error msg"),
            }
            self.changed()
            return
        if event.kind == "status":
            self.stage = str(getattr(event, "stage", "") or self.stage)
        level = "warning" if event.kind == "warning" else str(getattr(event, "level", "") or "info")
        self.say(str(getattr(event, "message", "") or ""), level)

    def cancel(self) -> None:
        """Break it off."""
        if self.task is not None and self.is_running:
            self.task.cancel()

    def finish(self, state: str, *, result: Any = None, error: str | None = None) -> None:
        """Mark its end."""
        self.state, self.result, self.error = state, result, error
        self.ended = time.monotonic()
        self.changed()


class Work(Store):
    """The long actions of this session, newest first."""

    def __init__(self, hub: Hub) -> None:
        super().__init__()
        self._hub = hub
        self._numbers = itertools.count(1)
        self.jobs: list[Job] = []

    @property
    def running(self) -> list[Job]:
        """Those that go on."""
        return [job for job in self.jobs if job.is_running]

    def start(self, kind: str, subject: Sequence[str], do: Callable[[Job], Awaitable[Any]]) -> Job:
        """Begin a long action.

        Args:
            kind: A word for its kind.
            subject: What it is done to, by name.
            do: Does it; gets the job, to report to.
        """
        job = Job(next(self._numbers), kind, " ".join((kind, *subject)), tuple(subject))
        job.watch(self.changed)
        self.jobs.insert(0, job)
        del self.jobs[_KEEP:]
        job.task = self._hub.spawn(self._run(job, do))
        self.changed()
        return job

    async def _run(self, job: Job, do: Callable[[Job], Awaitable[Any]]) -> None:
        from arena_sdk.errors import ArenaError

        try:
            result = await self._hub.call(lambda: do(job))
        except asyncio.CancelledError:
            job.finish(CANCELLED, error="Cancelled.")
            raise
        except ArenaError as error:
            job.finish(FAILED, error=self._hub.sentence(error))
        except OSError as error:
            job.finish(
                FAILED, error=f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")
            )
        else:
            job.finish(DONE, result=result)
