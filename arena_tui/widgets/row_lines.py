"""How a table is drawn, line by line.

Textual's own table makes, measures and lays out every cell of every row through a console of Rich;
with 2,000 rows that takes longer than a key may. This one makes the cells of the lines in sight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.geometry import Region
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from arena_tui.widgets.row_cells import Column, Row, segments_of

MARK = Column("", "", 1)
"""The column of marks, before all others."""
BLANKS = 2
"""Blank cells of each column."""
_PLAIN, _CURSOR, _HOVER = "", "rows--cursor", "rows--hover"


class RowLines(ScrollView):
    """Headings that stay, and below them the rows in sight; which there are is told by a subclass.

    Attributes:
        columns_shown: The columns, that of marks aside.
        marked: Keys of the marked rows.
        cursor_row: Place of the cursor, from 0.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--header", _CURSOR, _HOVER}
    DEFAULT_CSS = """
    RowLines {
        height: 1fr; background: $surface; color: $foreground; scrollbar-size-horizontal: 1;
        & > .rows--header { text-style: bold; color: $text-muted; background: $panel; }
        &:ansi > .rows--header { background: ansi_bright_blue; color: ansi_default; }
        & > .rows--cursor {
            background: $block-cursor-blurred-background;
            color: $block-cursor-blurred-foreground;
            text-style: $block-cursor-blurred-text-style;
        }
        &:focus > .rows--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: $block-cursor-text-style;
        }
        & > .rows--hover { background: $block-hover-background; }
    }
    """

    cursor_row: reactive[int] = reactive(0, repaint=False)

    def __init__(
        self, columns: Sequence[Column], *, markable: bool, id: str | None, classes: str | None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.columns_shown = list(columns)
        self.marked: set[str] = set()
        self._markable = markable
        self._given: dict[str, Row] = {}
        self._order: list[str] = []
        self._widths: list[int] = []
        self._sort: tuple[str, bool] | None = None
        self._hovered: int | None = None
        self._strips: dict[tuple[str, str], Strip] = {}
        self._base = Style.null()
        self._drawn_width = 0

    @property
    def _drawn_columns(self) -> list[Column]:
        return [MARK, *self.columns_shown] if self._markable else self.columns_shown

    def _needed_widths(self) -> list[int]:
        """Return the widths of all columns; one without a width is as wide as its widest cell."""
        shown = [self._given[key] for key in self._order]
        return [
            column.width
            if column.width is not None
            else max(len(column.label) + 2, *(column.cell(row).cell_len for row in shown), 0)
            for column in self._drawn_columns
        ]

    def notify_style_update(self) -> None:
        """Draw all anew under another theme, or with another focus."""
        super().notify_style_update()
        self._draw_anew()

    def _draw_anew(self) -> None:
        self._strips.clear()
        self.refresh()

    def _draw_line(self, index: int) -> None:
        y = index + 1 - round(self.scroll_y)
        if 1 <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def _draw_row_anew(self, index: int) -> None:
        for look in (_PLAIN, _CURSOR, _HOVER):
            self._strips.pop((self._order[index], look), None)
        self._draw_line(index)

    def _draw_changes(self) -> None:
        """Make the lines in sight anew, as their ages may differ, and draw those that changed."""
        self._prepare()
        before, self._strips = self._strips, {}
        top = round(self.scroll_y)
        for index in range(top, min(top + self.size.height, len(self._order))):
            key = (self._order[index], self._look(index))
            old = before.get(key)
            if old is None or self._line(index) != old:
                self._draw_line(index)

    def _look(self, index: int) -> str:
        if index == self.cursor_row:
            return _CURSOR
        return _HOVER if index == self._hovered else _PLAIN

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return lines; the style under them, which takes longer than a line, is found out once."""
        self._prepare()
        return super().render_lines(crop)

    def _prepare(self) -> None:
        base, width = self.rich_style, self.size.width
        if (self._base, self._drawn_width) != (base, width):
            self._strips.clear()
            self._base, self._drawn_width = base, width

    def render_line(self, y: int) -> Strip:
        """Return one line: the headings, or a row."""
        width, base = self.size.width, self._base
        index = y - 1 + round(self.scroll_y)
        if y == 0:
            strip = self._headings()
        elif index < len(self._order):
            strip = self._line(index)
        else:
            return Strip.blank(width, base)
        left = round(self.scroll_x)
        return strip.crop(left, left + width)

    def _headings(self) -> Strip:
        style = self.get_component_rich_style("rows--header")
        cells = []
        for column, width in zip(self._drawn_columns, self._widths, strict=True):
            label = column.label
            if self._sort and column is not MARK and self._sort[0] == column.key:
                label = f"{label[: max(0, width - 2)]} {'↓' if self._sort[1] else '↑'}"
            cells.append(Text(label[:width], end=""))
        return self._strip(cells, style, Style.null(), ["left"] * len(cells))

    def _line(self, index: int) -> Strip:
        row_key, look = self._order[index], self._look(index)
        strip = self._strips.get((row_key, look))
        if strip is None:
            row = self._given[row_key]
            cells = [column.cell(row) for column in self.columns_shown]
            if self._markable:
                cells.insert(0, Text("✓" if row_key in self.marked else " ", "bold", end=""))
            style, over = self._base, Style.null()
            if look:
                component = self.get_component_rich_style(look)
                style += component
                over = Style.from_color(component.color) if look is _CURSOR else over
            aligns = [column.align for column in self._drawn_columns]
            strip = self._strips[row_key, look] = self._strip(cells, style, over, aligns)
        return strip

    def _strip(self, cells: list[Text], style: Style, over: Style, aligns: list[str]) -> Strip:
        console = self.app.console
        segments = [
            segment
            for cell, width, align in zip(cells, self._widths, aligns, strict=True)
            for segment in segments_of(cell, width, align, style, over, console)
        ]
        strip = Strip(segments)
        return strip.extend_cell_length(self.size.width, style + over).simplify()
