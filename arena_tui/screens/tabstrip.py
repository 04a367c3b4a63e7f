"""One line of names of which one is lit, for what lies behind each other within a screen."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from arena_tui.screens.frame import MUTED


class TabStrip(Widget):
    """Names beside each other; the lit one is in view."""

    DEFAULT_CSS = "TabStrip { height: 1; width: 1fr; background: $surface; }"

    class Chosen(Message):
        """Another name was lit."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, tabs: Sequence[tuple[str, str]], *, id: str | None = None) -> None:
        """Make a strip of (id, name)."""
        super().__init__(id=id)
        self.tabs = list(tabs)
        self.lit = self.tabs[0][0]

    def light(self, tab: str) -> None:
        """Light a name."""
        if tab != self.lit and tab in dict(self.tabs):
            self.lit = tab
            self.refresh()
            self.post_message(self.Chosen(tab))

    def step(self, by: int) -> None:
        """Light the next name, or the one before."""
        ids = [tab for tab, _ in self.tabs]
        self.light(ids[(ids.index(self.lit) + by) % len(ids)])

    def render(self) -> Content:
        """Draw the names."""
        parts: list[tuple[str, str]] = []
        for tab, name in self.tabs:
            style = "bold underline $text-primary" if tab == self.lit else MUTED
            parts += [(" ", ""), (name, style), (" ", "")]
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        """Light the name that was clicked."""
        at = 0
        for tab, name in self.tabs:
            at += len(name) + 2
            if event.x < at:
                self.light(tab)
                return
