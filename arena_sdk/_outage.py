"""How long a service that was there before may be away before nobody waits for it any more."""

from __future__ import annotations

import time

from arena_sdk._pause import backoff
from arena_sdk.errors import ArenaAPIError, ArenaError

GIVE_UP_SECONDS = 60.0
"""How long a service may be unreachable before following a run ends with an error."""
PASSING_STATUSES = frozenset({0, 429, 500, 502, 503, 504})
"""Statuses of errors that a later attempt may not meet; 0 is a network failure."""


class Outage:
    """Counts the failures since a service was last there, for whoever asks it again and again."""

    def __init__(self) -> None:
        self._known = False
        self._failures = 0
        self._since = 0.0

    def over(self) -> bool:
        """Take note that the service has answered; tell whether it was away."""
        away = self._failures > 0
        self._known = True
        self._failures = 0
        return away

    def wait_after(self, error: ArenaError) -> float:
        """Return the seconds to wait before asking again.

        Raises:
            ArenaError: The error itself: asking again does not mend it, the service never was
                there, or it has been away for `GIVE_UP_SECONDS`.
        """
        passing = isinstance(error, ArenaAPIError) and error.status_code in PASSING_STATUSES
        now = time.monotonic()
        if self._failures == 0:
            self._since = now
        if not passing or not self._known or now - self._since > GIVE_UP_SECONDS:
            raise error
        self._failures += 1
        return backoff(self._failures)
