"""What stands around every screen: the header, the tabs, the footer of keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widget import Widget

from arena_tui.commands import Action, show_key
from arena_tui.format import NOTHING, number
from arena_tui.registry import TABS
from arena_tui.safetext import safe_text, shorten_middle
from arena_tui.stores.connection import Link

if TYPE_CHECKING:
    from arena_tui.screens.base import ArenaScreen
    from arena_tui.stores.hub import Hub

Part = tuple[str, str]

MUTED = "$foreground 65%"
FAINT = "$foreground 40%"

_LINK_STYLES = {
    Link.LIVE: ("●", "$text-success"),
    Link.POLLING: ("◐", "$text-success"),
    Link.CONNECTING: ("○", MUTED),
    Link.RECONNECTING: ("◌", "$text-warning"),
    Link.OFFLINE: ("✗", "$text-error"),
    Link.SIGNED_OUT: ("✗", "$text-error"),
}


def width_of(parts: Sequence[Part]) -> int:
    """Return how many cells some parts of a line take."""
    return sum(cell_len(text) for text, _ in parts)


class HeaderLine(Widget):
    """Program, connection, default project, what runs, credits, and the time in UTC."""

    DEFAULT_CSS = "HeaderLine { height: 1; width: 1fr; background: $panel; }"

    def __init__(self, hub: Hub) -> None:
        super().__init__()
        self.hub = hub

    def on_mount(self) -> None:
        """Keep the clock and the seconds of a reconnection going."""
        self.set_interval(1.0, self.refresh)

    def render(self) -> Content:
        """Lay out what there is room for, the clock at the right edge."""
        width = self.size.width
        left = self._left(width)
        right: list[Part] = [(self._clock(), MUTED), (" ", "")]
        middle = [[("  ", ""), part] for part in self._middle()]
        for keep in range(len(middle), -1, -1):
            chosen = [part for group in middle[:keep] for part in group]
            if width_of(left) + width_of(chosen) + width_of(right) + 1 <= width:
                gap = width - width_of(left) - width_of(chosen) - width_of(right)
                return Content.assemble(*left, *chosen, " " * gap, *right)
        return Content.assemble(*left)

    def _left(self, width: int) -> list[Part]:
        connection = self.hub.connection
        mark, style = _LINK_STYLES[connection.link]
        where = shorten_middle(safe_text(connection.profile or "no service"), max(8, width // 4))
        parts: list[Part] = [
            (" arena", "bold $primary"),
            (" · ", FAINT),
            (where, "bold"),
            (f" {mark} {connection.words()}", style),
        ]
        if self.hub.readonly:
            parts.append((" read-only", "$text-warning"))
        return parts

    def _middle(self) -> list[Part]:
        parts: list[Part] = []
        project = self.hub.projects.default
        running = len(self.hub.experiments.active)
        busy = len(self.hub.work.running)
        parts.append((f"▶ {running} running", "$text-success" if running else MUTED))
        if project:
            name = shorten_middle(safe_text(project), 24)
            parts.insert(0, (name, "$text-accent"))
        if busy:
            parts.append((f"◌ {busy} in progress", "$text-warning"))
        credits = self.hub.credits.value
        shown = NOTHING if credits is None else number(credits)
        parts.append((f"credits {shown}", MUTED))
        return parts

    @staticmethod
    def _clock() -> str:
        return datetime.now(UTC).strftime("%H:%M:%S UTC")


class TabLine(Widget):
    """The tabs of the main screens; a click opens one."""

    DEFAULT_CSS = "TabLine { height: 1; width: 1fr; background: $surface; }"

    def __init__(self, active: str, trail: str = "") -> None:
        """Make the line.

        Args:
            active: Id of the screen whose tab is lit.
            trail: What is open within that tab.
        """
        super().__init__()
        self.active = active
        self.trail = trail
        self._spans: list[tuple[int, int, str]] = []

    def render(self) -> Content:
        """Draw the tabs with full names where they fit."""
        trail = min(len(self.trail), 16) + 4 if self.trail else 0
        for level in range(3):
            parts, spans = self._parts(level)
            if width_of(parts) + trail <= self.size.width:
                break
        self._spans = spans
        room = self.size.width - width_of(parts) - 4
        if self.trail and room >= 8:
            parts.append((" › ", FAINT))
            parts.append((shorten_middle(safe_text(self.trail), room), "bold $text-accent"))
        return Content.assemble(*parts)

    def _parts(self, level: int) -> tuple[list[Part], list[tuple[int, int, str]]]:
        parts: list[Part] = []
        spans: list[tuple[int, int, str]] = []
        at = 0
        for item in TABS:
            name = (item.title, item.medium, item.short)[level]
            text = f" {item.tab} {name} "
            lit = item.id == self.active
            parts.append((text, "bold $background on $primary" if lit else MUTED))
            spans.append((at, at + len(text), item.id))
            at += len(text)
        return parts, spans

    async def on_click(self, event: events.Click) -> None:
        """Open the tab that was clicked."""
        for start, end, screen_id in self._spans:
            if start <= event.x < end:
                await self.app.run_action(f"act('app.{screen_id}')")


class FooterLine(Widget):
    """The keys that do something now; a click does it too."""

    DEFAULT_CSS = "FooterLine { height: 1; width: 1fr; background: $panel; }"

    def __init__(self) -> None:
        super().__init__()
        self._spans: list[tuple[int, int, Action, Any]] = []

    def render(self) -> Content:
        """Draw as many actions as fit, the most useful ones first."""
        screen: ArenaScreen = self.screen  # type: ignore[assignment]
        parts: list[Part] = []
        self._spans = []
        at = 0
        for action, owner in screen.actions_now():
            key = show_key(screen.keys_of(action).split(",")[0])
            text = action.label.lower()
            size = cell_len(key) + cell_len(text) + 3
            if at + size > self.size.width:
                break
            parts += [(f" {key}", "bold $footer-key-foreground"), (f" {text} ", MUTED)]
            self._spans.append((at, at + size, action, owner))
            at += size
        return Content.assemble(*parts)

    async def on_click(self, event: events.Click) -> None:
        """Do the action that was clicked."""
        for start, end, action, owner in self._spans:
            if start <= event.x < end:
                await owner.action_act(action.id)
