"""The two kinds of store: one that tells its watchers of changes, and one that polls."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

if TYPE_CHECKING:
    from arena_tui.stores.hub import Hub

T = TypeVar("T")

LOADING = "loading"
READY = "ready"
ABSENT = "absent"
FAILED = "failed"


class Store:
    """Tells whoever watches it that something changed."""

    def __init__(self) -> None:
        self._watchers: list[Callable[[], None]] = []

    def watch(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` at every change; returns what ends that."""
        self._watchers.append(callback)
        self._watched()

        def leave() -> None:
            with contextlib.suppress(ValueError):
                self._watchers.remove(callback)
            if not self._watchers:
                self._unwatched()

        return leave

    @property
    def is_watched(self) -> bool:
        """Whether anyone watches."""
        return bool(self._watchers)

    def changed(self) -> None:
        """Tell the watchers."""
        for callback in list(self._watchers):
            callback()

    def _watched(self) -> None:
        """Someone began to watch."""

    def _unwatched(self) -> None:
        """The last watcher left."""


class Polled(Store, Generic[T]):
    """Data that are asked for again and again while someone watches.

    After a failure the last data stay, with their age.

    Attributes:
        value: The last data, or None before the first.
        state: "loading" before the first answer, "ready", "absent" (this service has no such
            thing: HTTP 404), "failed" (an error and no data at all).
        error: The last failure in one sentence, None after a success.
        fetched_at: `time.monotonic()` of the data, or None.
    """

    OF_SERVICE: ClassVar[bool] = True
    """Whether the service itself is asked, so that the outcome says how it is reached."""

    def __init__(
        self, hub: Hub, fetch: Callable[[], Awaitable[T]], *, every: float | None = 1.0
    ) -> None:
        """Make a store.

        Args:
            hub: Owner of the client and of the connection.
            fetch: Asks the service.
            every: Multiple of the set refresh time between two polls; None to ask only once.
        """
        super().__init__()
        self.hub = hub
        self.value: T | None = None
        self.state = LOADING
        self.error: str | None = None
        self.fetched_at: float | None = None
        self._fetch = fetch
        self._every = every
        self._task: asyncio.Task[None] | None = None
        self._asked = asyncio.Event()
        self._asking = False

    @property
    def age(self) -> float | None:
        """Seconds since the data were right, or None without data."""
        return None if self.fetched_at is None else time.monotonic() - self.fetched_at

    @property
    def is_stale(self) -> bool:
        """Whether the data shown are older than the last, failed, attempt."""
        return self.error is not None and self.fetched_at is not None

    def refresh(self) -> None:
        """Ask again now, if someone watches; otherwise at the next watcher."""
        self._asked.set()

    def renew(self) -> None:
        """Ask again, unless that is being done now or was a moment ago."""
        if not (self._asking or self.is_fresh):
            self.refresh()

    def forget(self) -> None:
        """Drop the data: they are another Arena's, or another account's."""
        self.value, self.state, self.error, self.fetched_at = None, LOADING, None, None
        self._asked.set()
        self.changed()

    async def load(self) -> None:
        """Ask the service once; never raises for what the service or the network does."""
        from arena_sdk.errors import ArenaError

        self._asking = True
        try:
            value = await (self.hub.call(self._fetch) if self.OF_SERVICE else self._fetch())
        except ArenaError as error:
            absent = getattr(error, "status_code", None) == 404
            self.error = self.hub.sentence(error)
            if absent:
                self.state, self.value = ABSENT, None
            elif self.value is None:
                self.state = FAILED
        except Exception as error:  # a fault of ours; a store that never asks again is worse
            self.hub.report(error)
            self.error = self.hub.sentence(error)
            if self.value is None:
                self.state = FAILED
        else:
            self.value, self.state, self.error = value, READY, None
            self.fetched_at = time.monotonic()
        finally:
            self._asking = False
        self.changed()

    def _watched(self) -> None:
        if self._task is None or self._task.done():
            self._task = self.hub.spawn(self._poll())

    def _unwatched(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    @property
    def is_fresh(self) -> bool:
        """Whether the data are younger than the time between two polls."""
        if self.age is None or self.error is not None or self._asked.is_set():
            return False
        return self._every is None or self.age < self.hub.refresh_seconds * self._every

    async def _poll(self) -> None:
        if self.is_fresh:
            # Someone looks again at what was asked for a moment ago.
            await self._pause()
        while True:
            # Also when nothing can be asked, or the pause would end at once, again and again; the
            # hub asks for everything when the service is back.
            self._asked.clear()
            if self.hub.connection.is_usable or self.state == LOADING:
                await self.load()
            await self._pause()

    async def _pause(self) -> None:
        """Wait for the next turn, or until `refresh` is called."""
        seconds = None if self._every is None else self.hub.refresh_seconds * self._every
        if self.state in (ABSENT,):
            seconds = None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._asked.wait()
