"""A tour of one running dashboard: every place is seen at each size, as text that is compared.

Starting a dashboard costs more than a picture does, so many pictures are taken of one.
"""

from __future__ import annotations

import re

from textual.pilot import Pilot
from tui_canned import TOKEN
from tui_looking import screen_text

from arena_sdk import AsyncArenaClient
from arena_tui.app import ArenaApp
from arena_tui.settings import Memory
from arena_tui.stores.hub import Hub

SIZES = ((80, 24), (120, 36), (240, 70))


class Tour:
    """Looks at places of one dashboard, each at every size."""

    def __init__(self, app: ArenaApp, pilot: Pilot, snapshot) -> None:
        self.app, self.pilot, self.snapshot = app, pilot, snapshot
        self.loads = False

    async def take(self, name: str) -> None:
        """Compare what is on the screen at every size."""
        while not self.loads and "Loading" in screen_text(self.app):
            await self.pilot.pause(0.05)
        for width, height in SIZES:
            await self.pilot.resize_terminal(width, height)
            assert await self.settled() == self.snapshot(name=f"{name}-{width}x{height}")

    async def settled(self) -> str:
        """Return what is on the screen once it has stood still for a while."""
        seen, since = "", 0
        for _ in range(400):
            await self.pilot.pause(0.03)
            now = steady(screen_text(self.app))
            since = since + 1 if now == seen else 0
            if since == 3:
                return now
            seen = now
        raise AssertionError(f"It does not stand still:\n{seen}")

    async def sees(self, *words: str) -> None:
        """Wait until words are on the screen."""
        for _ in range(400):
            if all(word in screen_text(self.app) for word in words):
                return
            await self.pilot.pause(0.02)
        raise AssertionError(f"{words} did not come:\n{screen_text(self.app)}")


def steady(text: str) -> str:
    """Return a screen without what a clock says, and without blanks at the ends of lines."""
    first, *rest = text.split("\n")
    lines = [re.sub(r" +", " ", first), *rest]
    text = "\n".join(re.sub(r"\b\d+s\b( ago)?", r"#s\1", line).rstrip() for line in lines)
    return re.sub(r"(127\.0\.0\.1)(:|', )\d+", r"\1\2#####", text)


def app_on(url: str, token: str = TOKEN, memory: Memory | None = None) -> ArenaApp:
    """Make a dashboard that asks when it is told to, not by the clock."""
    hub = Hub(lambda: AsyncArenaClient(token, base_url=url), refresh_seconds=60)
    return ArenaApp(hub, memory=memory)
