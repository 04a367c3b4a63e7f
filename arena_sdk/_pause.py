"""What differs between the two flavours of the client: waiting, and what may wait."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

AsyncLocate = Callable[[], Awaitable[str]]
"""Looks an address up."""

Locate = Callable[[], str]
"""Looks an address up, blocking."""

AsyncAuthorize = Callable[[], Awaitable[dict[str, str]]]
"""Returns the headers of authentication as they are now, after a login was renewed if need be."""

Authorize = Callable[[], dict[str, str]]
"""The same, blocking."""


AsyncAction = Callable[[], Awaitable[None]]
"""Does something."""

Action = Callable[[], None]
"""Does something, blocking."""


async def async_call(function: Callable[..., T], *arguments: Any) -> T:
    """Call a function that blocks, in a thread."""
    return await asyncio.to_thread(function, *arguments)


def blocking_call(function: Callable[..., T], *arguments: Any) -> T:
    """Call a function."""
    return function(*arguments)


async def async_shielded(work: Coroutine[Any, Any, T]) -> T:
    """Wait for work that goes on to its end when whoever waits for it is cancelled."""
    task = asyncio.ensure_future(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(task)


def blocking_shielded(result: T) -> T:
    """Return the result of work, which has been done by now."""
    return result


async def async_sleep(seconds: float) -> None:
    """Wait without blocking the event loop."""
    await asyncio.sleep(seconds)


def blocking_sleep(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


def backoff(attempt: int, longest: float = 10.0) -> float:
    """Return how many seconds to wait before a further attempt: doubling, with jitter.

    Args:
        attempt: 1 for the first one after a failure.
        longest: Seconds that it never exceeds.
    """
    return random.uniform(0.5, 1.0) * min(longest, 0.25 * float(1 << min(attempt, 10)))
