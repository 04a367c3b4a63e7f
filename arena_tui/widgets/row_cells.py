"""Cells of a table: from a row of data to literal text, and from text to segments of a width."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from arena_tui.safetext import safe_text

Row = Mapping[str, Any]
Cell = str | Text

_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        key: Name of the value in a row.
        label: Heading.
        width: Cells wide, or None for as wide as its widest value.
        align: "left" or "right"; figures belong to the right.
        show: Makes the cell from (value, row); text that it returns is literal, a `Text` keeps its
            styles. When left out, the value as text, nothing for None.
        sort: Makes what to sort by from a value; when left out, the value itself, numbers in text
            by size, None last.
    """

    key: str
    label: str
    width: int | None = None
    align: str = "left"
    show: Callable[[Any, Row], Cell] | None = None
    sort: Callable[[Any], Any] | None = None

    def cell(self, row: Row) -> Text:
        """Return the cell of a row as literal, safe text."""
        value = row.get(self.key)
        shown = self.show(value, row) if self.show else ("" if value is None else value)
        if isinstance(shown, Text):
            text = shown.copy()
            if not text.plain.isprintable():
                text = Text(safe_text(text.plain), style=shown.style)
        else:
            text = Text(safe_text(shown))
        text.end = ""
        return text

    def order(self, row: Row) -> tuple[Any, ...]:
        """Return what to sort a row by; missing values come last."""
        value = row.get(self.key)
        if self.sort is not None:
            value = self.sort(value)
        if value is None or value != value:
            return (2,)
        if isinstance(value, bool | int | float):
            return (0, value)
        # "step_900" goes before "step_1000".
        parts = _DIGITS.split(str(value).casefold())
        return (1, tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in parts))


def segments_of(
    text: Text, width: int, align: str, base: Style, over: Style, console: Console
) -> list[Segment]:
    """Return a cell as segments of exactly `width` cells, and one blank cell on either side.

    Args:
        text: What is in the cell; it is cut, with an ellipsis, where there is no room.
        width: Cells wide, without the blanks.
        align: "left" or "right".
        base: Style under that of the text.
        over: Style over that of the text.
        console: Resolves styles that are given by name.
    """
    if cell_len(text.plain) > width:
        text.truncate(width, overflow="ellipsis")
    room = max(0, width - cell_len(text.plain))
    before, after = (1 + room, 1) if align == "right" else (1, 1 + room)
    blank = base + over
    if text.spans:
        inside = [
            Segment(piece, base + (style or Style.null()) + over)
            for piece, style, _ in text.render(console)
        ]
    else:
        own = console.get_style(text.style, default="") if text.style else Style.null()
        inside = [Segment(text.plain, base + own + over)] if text.plain else []
    return [Segment(" " * before, blank), *inside, Segment(" " * after, blank)]
