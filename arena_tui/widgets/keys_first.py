"""Live drawings give way to keys.

Drawing four live charts takes about as long as a key may take until it is answered. So a drawing
that is due waits for a moment after a key or a click, and draws when the answer has been drawn;
with a key held down it draws now and then all the same.
"""

from __future__ import annotations

from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

from textual import events

SECONDS_AFTER_A_KEY = 0.15
LONGEST_WAIT = 0.75
"""Seconds after which a drawing that is due waits no longer."""

_heard_at: WeakKeyDictionary[Any, float] = WeakKeyDictionary()


def hear(app: Any, event: events.Event) -> None:
    """Take note of a key or a click of the user's."""
    if isinstance(
        event, events.Key | events.MouseDown | events.MouseScrollDown | events.MouseScrollUp
    ):
        _heard_at[app] = monotonic()


def idle_seconds(app: Any) -> float:
    """Return the seconds since the user's last key or click."""
    return monotonic() - _heard_at.get(app, 0.0)


def wait(app: Any, due: float) -> float:
    """Return the seconds that a drawing has yet to wait, at most 0 when it may draw.

    Args:
        app: The app that hears the keys.
        due: When the drawing would have been drawn, by the monotonic clock.
    """
    until = _heard_at.get(app, 0.0) + SECONDS_AFTER_A_KEY
    return min(max(until, due), due + LONGEST_WAIT) - monotonic()
