"""How the service is reached just now: what the header tells."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum

from arena_tui.stores.base import Store

OFFLINE_AFTER = 4
"""Attempts that fail in a row before "reconnecting" becomes "offline"."""
LONGEST_WAIT = 15.0
"""Seconds between two attempts at most."""


class Link(Enum):
    """The states of a connection."""

    CONNECTING = "connecting"
    LIVE = "live"
    POLLING = "polling"
    RECONNECTING = "reconnecting"
    OFFLINE = "offline"
    SIGNED_OUT = "signed out"


class Connection(Store):
    """Follows the outcome of every request.

    Attributes:
        link: The state.
        profile: "local", "hosted", or another name of a profile.
        url: Base URL of the service.
        failure: Why it is not usable, or None.
        live_feature: Whether the service pushes metrics; without it they are polled.
    """

    def __init__(self) -> None:
        super().__init__()
        self.link = Link.CONNECTING
        self.profile = ""
        self.url = ""
        self.failure: str | None = None
        self.live_feature = False
        self.attempts = 0
        self._last_good: float | None = None
        self._next_attempt: float | None = None

    @property
    def is_usable(self) -> bool:
        """Whether requests are worth making."""
        return self.link in (Link.LIVE, Link.POLLING)

    @property
    def age(self) -> float | None:
        """Seconds since the service last answered, or None when it never did."""
        return None if self._last_good is None else time.monotonic() - self._last_good

    @property
    def seconds_to_attempt(self) -> int:
        """Whole seconds until the next attempt."""
        if self._next_attempt is None:
            return 0
        return max(0, round(self._next_attempt - time.monotonic()))

    def once_back(self, do: Callable[[], None]) -> Callable[[], None]:
        """Call `do` once, when the service can be used after it could not; returns what forgets it.

        A failure is often met before it is known that the service is gone, so whatever is the state
        now, the service has to be gone, and then back.
        """
        was_gone = not self.is_usable

        def look() -> None:
            nonlocal was_gone
            if not self.is_usable:
                was_gone = True
            elif was_gone:
                forget()
                do()

        forget = self.watch(look)
        return forget

    def begin_anew(self) -> None:
        """Another way in was chosen."""
        self.attempts = 0
        self.failure = None
        self._next_attempt = None
        self._become(Link.CONNECTING)

    def succeeded(self) -> None:
        """A request was answered."""
        self._last_good = time.monotonic()
        self.attempts = 0
        self.failure = None
        self._next_attempt = None
        self._become(Link.LIVE if self.live_feature else Link.POLLING)

    def refused(self, sentence: str) -> None:
        """The credential was not accepted, or there is none."""
        self.failure = sentence
        self._become(Link.SIGNED_OUT)

    def lost(self, sentence: str) -> None:
        """The service could not be reached."""
        self.failure = sentence
        if self.link is Link.SIGNED_OUT:
            return
        self._become(Link.OFFLINE if self.attempts >= OFFLINE_AFTER else Link.RECONNECTING)

    def next_wait(self) -> float:
        """Count an attempt; return the seconds to wait before it, doubling up to a limit."""
        wait = min(LONGEST_WAIT, 2.0**self.attempts)
        self.attempts += 1
        self._next_attempt = time.monotonic() + wait
        if self.link in (Link.RECONNECTING, Link.OFFLINE):
            self._become(Link.OFFLINE if self.attempts > OFFLINE_AFTER else Link.RECONNECTING)
        return wait

    def words(self) -> str:
        """Return what the header says of it."""
        if self.link is Link.RECONNECTING:
            return f"reconnecting {self.seconds_to_attempt}s"
        if self.link is Link.OFFLINE:
            from arena_tui.format import duration

            return "offline" if self.age is None else f"offline {duration(self.age)}"
        return str(self.link.value)

    def _become(self, link: Link) -> None:
        if link is not self.link:
            self.link = link
            self.changed()
