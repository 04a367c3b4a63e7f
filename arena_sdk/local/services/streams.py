"""Work that goes on whether or not somebody listens, told as lines of NDJSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

Event = dict[str, Any]


def status(
    stage: str,
    state: str,
    message: str,
    *,
    level: str = "info",
    detail: dict[str, Any] | None = None,
) -> Event:
    """Return a status event of the contract."""
    event: Event = {
        "kind": "status",
        "stage": stage,
        "status": state,
        "message": message,
        "level": level,
    }
    return event if detail is None else {**event, "detail": detail}


def warning(stage: str, message: str) -> Event:
    """Return a warning event of the contract."""
    return {"kind": "warning", "stage": stage, "status": "running", "message": message}


class Told:
    """The events of one piece of work: kept until its end, for any number of listeners.

    A listener that comes late, or comes back, hears it all from the beginning.
    """

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self._events: list[Event] = []
        self._ended = False
        self._news = asyncio.Event()

    def tell(self, event: Event) -> None:
        """Take an event."""
        self._events.append(event)
        self._wake()

    def begin(self, work: Callable[[Told], Awaitable[None]]) -> None:
        """Start the work."""

        async def do() -> None:
            try:
                await work(self)
            finally:
                self._ended = True
                self._wake()

        self.task = asyncio.create_task(do())

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the events as lines until the work ends."""
        index = 0
        while True:
            news = self._news
            while index < len(self._events):
                event = self._events[index]
                index += 1
                yield json.dumps(event, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
            if self._ended and index == len(self._events):
                return
            if index == len(self._events):
                await news.wait()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
