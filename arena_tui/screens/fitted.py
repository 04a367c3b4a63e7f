"""A table that leaves columns out where there is no room for them, and never scrolls sideways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from textual import events

from arena_tui.widgets.rows import Column, Row, Rows

_PADDING = 2
_LEAST = 12
"""Cells that a column without a width gets at the least."""


class FittedRows(Rows):
    """Rows whose columns follow the width there is."""

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        drop: Sequence[str] = (),
        key: str | Callable[[Row], str] = "name",
        markable: bool = False,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """Make a table.

        Args:
            columns: All columns; one without a width takes what the others leave.
            drop: Keys of columns to leave out, the first to go first.
            key: Name of the value that tells rows apart.
            markable: Whether rows can be marked.
            id: The widget's id.
            classes: Its classes.
        """
        super().__init__(columns, key=key, markable=markable, id=id, classes=classes)
        self._all = list(columns)
        self._drop = tuple(drop)
        self._mark_width = 1 + _PADDING if markable else 0

    def why_not_mark(self) -> str | None:
        """Say why rows cannot be marked."""
        return None if self._markable else "Nothing is done to several rows here."

    def on_resize(self, event: events.Resize) -> None:
        """Choose the columns for the new width."""
        # Two cells are left for the scrollbar, whether it is there or not, so nothing jumps.
        chosen = self.fitting(event.size.width - 2)
        if chosen != self.columns_shown:
            self.columns_shown = chosen
            name, reverse = self.sorted_by or (None, False)
            self.sort_by(name, reverse)

    def fitting(self, width: int) -> list[Column]:
        """Return the columns that fit into `width` cells, with the widths that fill it."""
        left = list(self._all)
        dropping = iter(self._drop)
        while self._needs(left) > width:
            gone = next(dropping, None)
            if gone is None:
                break
            left = [column for column in left if column.key != gone]
        flexible = [column for column in left if column.width is None]
        room = width - self._needs(left)
        if not flexible or room < 0:
            return self._squeezed(left, width)
        share = room // len(flexible)
        return [
            replace(column, width=_LEAST + share) if column.width is None else column
            for column in left
        ]

    def _needs(self, columns: list[Column]) -> int:
        return self._mark_width + sum((column.width or _LEAST) + _PADDING for column in columns)

    def _squeezed(self, columns: list[Column], width: int) -> list[Column]:
        """Return columns of which the widest are narrowed until all fit."""
        widths = [column.width or _LEAST for column in columns]
        over = self._needs(columns) - width
        while over > 0 and max(widths, default=0) > 4:
            widths[widths.index(max(widths))] -= 1
            over -= 1
        return [replace(column, width=size) for column, size in zip(columns, widths, strict=True)]
