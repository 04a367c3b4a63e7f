"""A log that follows its end, bounded, searchable, drawn line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from arena_tui.commands import Action, bindings
from arena_tui.safetext import safe_text
from arena_tui.widgets.acting import Acting

_LINE_LIMIT = 4_000
_ERROR = re.compile(r"\b(error|critical|fatal|exception|traceback)\b", re.IGNORECASE)
_WARNING = re.compile(r"\bwarn(ing)?\b", re.IGNORECASE)
# An exception's class at the start of a line has no word boundary before "Error".
_RAISED = re.compile(r"^\w+(Error|Exception)\b")

LEVELS: tuple[str | None, ...] = (None, "warning", "error")


def line_level(line: str) -> str | None:
    """Return "error", "warning" or None, by the words of a log line."""
    if _ERROR.search(line) or _RAISED.match(line):
        return "error"
    return "warning" if _WARNING.search(line) else None


class LogView(Acting, ScrollView, can_focus=True):
    """Lines of a log, made safe, the oldest dropped when there are too many.

    Attributes:
        follow: Whether new lines scroll into view. Scrolling up holds, `f` or the end follows.
        level: None for all lines, or the least level shown.
    """

    ACTIONS: ClassVar[list[Action]] = [
        Action("log.follow", "f", "Follow", "Follow the end of the log, or hold.", 4),
        Action("log.level", "v", "Level", "Show all lines, warnings and errors, errors.", 6),
        Action("log.next", "n", "Next", "Go to the next line that was searched for.", 0),
        Action("log.previous", "N", "Previous", "Go to the match before.", 0),
        Action("log.top", "g", "Top", "Go to the first line.", 0, palette=False),
        Action("log.bottom", "G", "Bottom", "Go to the last line.", 0, palette=False),
        Action("log.down", "j", "Down", "Scroll down a line.", 0, palette=False),
        Action("log.up", "k", "Up", "Scroll up a line.", 0, palette=False),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ACTIONS)]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "log--error",
        "log--warning",
        "log--match",
        "log--current",
    }
    DEFAULT_CSS = """
    LogView { height: 1fr; background: $surface; scrollbar-size-horizontal: 1; }
    LogView > .log--error { color: $text-error; }
    LogView > .log--warning { color: $text-warning; }
    LogView > .log--match { background: $warning-muted; text-style: underline; }
    LogView > .log--current { background: $accent; color: $background; text-style: bold; }
    """

    class Changed(Message):
        """`status` may say something else."""

    def __init__(
        self, *, max_lines: int = 100_000, id: str | None = None, classes: str | None = None
    ) -> None:
        """Make an empty log that keeps the last `max_lines` lines."""
        super().__init__(id=id, classes=classes)
        self.follow = True
        self.level: str | None = None
        self._max_lines = max_lines
        self._lines: list[str] = []
        self._shown: list[int] = []
        self._width = 0
        self.dropped = 0
        self._pattern: re.Pattern[str] | None = None
        self._current: int | None = None

    @property
    def line_count(self) -> int:
        """How many lines are kept."""
        return len(self._lines)

    @property
    def lines(self) -> Sequence[str]:
        """The kept lines, made safe."""
        return self._lines

    @property
    def status(self) -> str:
        """What is shown, in some words: how much of it, and whether the end is followed."""
        words = {None: "all lines", "warning": "warnings and errors", "error": "errors only"}
        kept = len(self._lines)
        parts = ["following" if self.follow else "held", words[self.level]]
        parts.append(f"{len(self._shown):,} of {kept:,}" if self.level else f"{kept:,} lines")
        if self.dropped:
            parts.append(f"{self.dropped:,} older ones dropped")
        if self._pattern is not None:
            parts.append(f"searching {self._pattern.pattern}")
        return " · ".join(parts)

    def write_lines(self, lines: Iterable[str]) -> None:
        """Add lines at the end."""
        new = [safe_text(line, _LINE_LIMIT) for line in lines]
        if not new:
            return
        first = len(self._lines)
        self._lines.extend(new)
        self._width = max(self._width, max(map(cell_len, new)))
        # Dropping a tenth more than needed makes the cost of dropping rare.
        excess = len(self._lines) - self._max_lines
        if excess > 0:
            self._drop(excess + self._max_lines // 10)
        else:
            self._shown.extend(at for at in range(first, len(self._lines)) if self._passes(at))
        self._lay_out()

    def clear(self) -> None:
        """Forget all lines."""
        self._lines, self._shown, self._width, self.dropped = [], [], 0, 0
        self._current = None
        self._lay_out()

    def set_level(self, level: str | None) -> None:
        """Show all lines (None), warnings and errors ("warning") or errors only ("error")."""
        self.level = level
        self._filter()
        self._lay_out()

    def search(self, text: str) -> int:
        """Mark what matches a regular expression (or, where it is none, the text); count lines."""
        try:
            self._pattern = re.compile(text, re.IGNORECASE) if text else None
        except re.error:
            self._pattern = re.compile(re.escape(text), re.IGNORECASE)
        self._current = None
        self.post_message(self.Changed())
        self.refresh()
        if self._pattern is None:
            return 0
        return sum(1 for at in self._shown if self._pattern.search(self._lines[at]))

    def find_next(self) -> bool:
        """Go to the next matching line, after the last to the first; False when there is none."""
        return self._find(1)

    def find_previous(self) -> bool:
        """Go to the matching line before."""
        return self._find(-1)

    def _find(self, step: int) -> bool:
        count = len(self._shown)
        if self._pattern is None or not count:
            return False
        start = self._current if self._current is not None else int(self.scroll_y) - step
        for offset in range(1, count + 1):
            at = (start + step * offset) % count
            if self._pattern.search(self._lines[self._shown[at]]):
                self._current = at
                self._set_follow(False)
                top = max(0, at - self.size.height // 2)
                self.scroll_to(y=top, animate=False, force=True)
                self.refresh()
                return True
        return False

    def _passes(self, at: int) -> bool:
        if self.level is None:
            return True
        level = line_level(self._lines[at])
        return level == "error" or (level == "warning" and self.level == "warning")

    def _filter(self) -> None:
        self._shown = [at for at in range(len(self._lines)) if self._passes(at)]
        self._current = None

    def _drop(self, count: int) -> None:
        count = min(count, len(self._lines))
        del self._lines[:count]
        self.dropped += count
        gone = sum(1 for at in self._shown if at < count)
        self._filter()
        if not self.follow:
            self.scroll_to(y=max(0, self.scroll_y - gone), animate=False, force=True)

    def _lay_out(self) -> None:
        self.post_message(self.Changed())
        self.virtual_size = Size(self._width, len(self._shown))
        if self.follow:
            self.scroll_end(animate=False, immediate=True, x_axis=False, force=True)
        self.refresh()

    def _set_follow(self, follow: bool) -> None:
        if follow != self.follow:
            self.follow = follow
            self.post_message(self.Changed())

    def on_resize(self) -> None:
        """Stay at the end in another size, or once there is a size at all."""
        if self.follow:
            self.scroll_end(animate=False, immediate=True, x_axis=False, force=True)

    def watch_scroll_y(self, old: float, new: float) -> None:
        """Hold when the user scrolls up, follow again at the end."""
        super().watch_scroll_y(old, new)
        if new < old and self._shown and self.max_scroll_y - new > 1:
            self._set_follow(False)
        elif new > old and new >= self.max_scroll_y:
            self._set_follow(True)

    def render_line(self, y: int) -> Strip:
        """Return one line of what is in view."""
        left, top = self.scroll_offset
        width = self.scrollable_content_region.width
        base = self.rich_style
        at = top + y
        if at >= len(self._shown):
            return Strip.blank(width, base)
        text = self._lines[self._shown[at]]
        level = line_level(text)
        style = (
            base + self.get_component_rich_style(f"log--{level}", partial=True) if level else base
        )
        strip = Strip(list(self._segments(text, style, at == self._current)))
        return strip.crop_extend(left, left + width, base)

    def _segments(self, text: str, style: Style, current: bool) -> Iterable[Segment]:
        if self._pattern is None:
            yield Segment(text, style)
            return
        name = "log--current" if current else "log--match"
        marked = style + self.get_component_rich_style(name, partial=True)
        end = 0
        for match in self._pattern.finditer(text):
            if match.end() == match.start():
                continue
            yield Segment(text[end : match.start()], style)
            yield Segment(match.group(), marked)
            end = match.end()
        yield Segment(text[end:], style)

    # Actions -------------------------------------------------------------------------------------

    def act_follow(self) -> None:
        """Follow or hold."""
        self._set_follow(not self.follow)
        self._lay_out()

    def act_level(self) -> None:
        """Show the next level."""
        self.set_level(LEVELS[(LEVELS.index(self.level) + 1) % len(LEVELS)])

    def why_not_next(self) -> str | None:
        """Say why there is no next match."""
        return None if self._pattern else "Search for something first."

    why_not_previous = why_not_next

    def act_next(self) -> None:
        """Go to the next match."""
        if not self.find_next():
            self.notify("No line matches.", markup=False)

    def act_previous(self) -> None:
        """Go to the match before."""
        if not self.find_previous():
            self.notify("No line matches.", markup=False)

    def act_top(self) -> None:
        """Go to the first line and hold."""
        self._set_follow(False)
        self.scroll_to(y=0, animate=False)

    def act_bottom(self) -> None:
        """Go to the last line and follow."""
        self._set_follow(True)
        self._lay_out()

    def act_down(self) -> None:
        """Scroll down a line."""
        self.scroll_relative(y=1, animate=False)

    def act_up(self) -> None:
        """Scroll up a line."""
        self.scroll_relative(y=-1, animate=False)
