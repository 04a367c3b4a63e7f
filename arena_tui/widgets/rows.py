"""A table of rows that keeps its cursor on the same row when the data are refreshed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message

from arena_tui.commands import Action, bindings
from arena_tui.widgets.acting import Acting
from arena_tui.widgets.row_cells import Cell as Cell
from arena_tui.widgets.row_cells import Column as Column
from arena_tui.widgets.row_cells import Row as Row
from arena_tui.widgets.row_lines import BLANKS, MARK, RowLines


class Rows(Acting, RowLines, can_focus=True):
    """Rows by key, with sorting, a filter and marks; cells are always literal text."""

    ACTIONS: ClassVar[list[Action]] = [
        Action("rows.down", "j", "Down", "Move to the next row.", 0, palette=False),
        Action("rows.up", "k", "Up", "Move to the row before.", 0, palette=False),
        Action("rows.top", "g", "Top", "Move to the first row.", 0, palette=False),
        Action("rows.bottom", "G", "Bottom", "Move to the last row.", 0, palette=False),
        Action("rows.sort", "o", "Sort", "Sort by the next column.", 8),
        Action("rows.turn", "O", "Turn", "Turn the order round.", 0),
        Action("rows.mark", "space", "Mark", "Mark or unmark this row.", 7),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(ACTIONS),
        Binding("down", "step(1)", "Down", show=False),
        Binding("up", "step(-1)", "Up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("home,ctrl+home", "to_end(0)", "Top", show=False),
        Binding("end,ctrl+end", "to_end(1)", "Bottom", show=False),
        Binding("enter", "open", "Open", show=False),
    ]

    class Selected(Message):
        """The cursor came to another row, or to another state of the same row."""

        def __init__(self, rows: Rows, key: str | None, row: Row | None) -> None:
            super().__init__()
            self.rows, self.key, self.row = rows, key, row

        @property
        def control(self) -> Rows:
            """The table."""
            return self.rows

    class Opened(Selected):
        """A row was opened, by enter or a second click."""

    class MarksChanged(Message):
        """Rows were marked or unmarked."""

        def __init__(self, rows: Rows) -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> Rows:
            """The table."""
            return self.rows

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        key: str | Callable[[Row], str] = "name",
        markable: bool = True,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """Make a table.

        Args:
            columns: What it shows.
            key: Name of the value that tells rows apart, or what makes it from a row.
            markable: Whether rows can be marked with space.
            id: The widget's id.
            classes: Its classes.
        """
        super().__init__(columns, markable=markable, id=id, classes=classes)
        self._key_of = (lambda row: str(row.get(key, ""))) if isinstance(key, str) else key
        self._places: dict[str, int] = {}
        self._filter: Callable[[Row], bool] | None = None
        self._wanted: str | None = None
        self._told: tuple[str | None, Row | None] = (None, None)

    def on_mount(self) -> None:
        """Show what was given before."""
        self._show_rows()

    # What is shown -----------------------------------------------------------------------------

    def set_rows(self, rows: Iterable[Row]) -> None:
        """Replace the data; cursor, marks, sorting and scroll position stay by row key."""
        self._given = {self._key_of(row): row for row in rows}
        gone = self.marked - self._given.keys()
        if gone:
            self.marked -= gone
            self.post_message(self.MarksChanged(self))
        self._show_rows()

    def set_filter(self, keep: Callable[[Row], bool] | None) -> None:
        """Show only the rows for which `keep` is true; None shows all."""
        self._filter = keep
        self._show_rows()

    def sort_by(self, column: str | None, reverse: bool = False) -> None:
        """Sort by a column's key; None leaves the order as it was given."""
        self._sort = None if column is None else (column, reverse)
        self._draw_anew()
        self._show_rows()

    @property
    def sorted_by(self) -> tuple[str, bool] | None:
        """The column sorted by and whether in reverse."""
        return self._sort

    @property
    def rows_shown(self) -> list[Row]:
        """The rows that pass the filter, in the order shown."""
        return [self._given[key] for key in self._order if key in self._given]

    @property
    def rows_total(self) -> int:
        """How many rows there are, shown or not."""
        return len(self._given)

    @property
    def row_count(self) -> int:
        """How many rows are shown."""
        return len(self._order)

    @property
    def selected_key(self) -> str | None:
        """Key of the row under the cursor."""
        at = self.cursor_row
        return self._order[at] if 0 <= at < len(self._order) else None

    @property
    def selected_row(self) -> Row | None:
        """The row under the cursor."""
        key = self.selected_key
        return None if key is None else self._given.get(key)

    @property
    def marked_rows(self) -> list[Row]:
        """The marked rows, in the order shown, whether the filter hides them or not."""
        shown = [key for key in self._order if key in self.marked]
        rest = [key for key in self._given if key in self.marked and key not in self._places]
        return [self._given[key] for key in shown + rest]

    def set_marked(self, keys: Iterable[str]) -> None:
        """Mark these and no others, also for rows that come later; nothing is told of it."""
        wanted = set(keys)
        changed = (wanted ^ self.marked) & self._given.keys()
        self.marked = wanted
        if changed and self._markable:
            self._show_rows()

    def row(self, key: str) -> Row | None:
        """Return the data of a row."""
        return self._given.get(key)

    def cell_text(self, row: int, column: int) -> str:
        """Return what a cell says in full; rows and columns are counted from 0 as shown."""
        return self.columns_shown[column].cell(self.rows_shown[row]).plain

    def select(self, key: str) -> bool:
        """Move the cursor to a row; one that is not there yet is waited for. True when it is."""
        self._wanted = key
        if key not in self._places:
            return False
        self._wanted = None
        self.move_cursor(self._places[key])
        return True

    def move_cursor(self, row: int) -> None:
        """Move the cursor to a place, from 0; beyond either end, to that end."""
        self.cursor_row = max(0, min(row, len(self._order) - 1))
        self._scroll_to_cursor()

    # How it is kept up ---------------------------------------------------------------------------

    def _ordered(self) -> list[str]:
        keys = [k for k, row in self._given.items() if self._filter is None or self._filter(row)]
        if self._sort is None:
            return keys
        name, reverse = self._sort
        column = next((c for c in self.columns_shown if c.key == name), None)
        if column is None:
            return keys
        with_value = [(column.order(self._given[key]), key) for key in keys]
        last = [key for order, key in with_value if order == (2,)]
        rest = [item for item in with_value if item[0] != (2,)]
        rest.sort(key=lambda item: item[0], reverse=reverse)
        return [key for _, key in rest] + last

    def _show_rows(self) -> None:
        if not self.is_attached:
            return
        order, at, row_at = self._ordered(), self.selected_key, self.cursor_row
        same = order == self._order
        self._order = order
        self._places = {key: place for place, key in enumerate(order)}
        widths = self._needed_widths()
        if same and widths == self._widths:
            self._draw_changes()
        else:
            self._widths = widths
            self._draw_anew()
        self.virtual_size = Size(sum(widths) + BLANKS * len(widths), len(order) + 1)
        if at is not None:
            # The same row, or the one that is in its place now.
            place = self._places.get(at, max(0, min(row_at, len(order) - 1)))
            self.set_reactive(Rows.cursor_row, place)
        if self._wanted is not None:
            self.select(self._wanted)
        self._tell()

    def _tell(self) -> None:
        key, row = self.selected_key, self.selected_row
        if (key, row) != self._told:
            self._told = (key, row)
            self.post_message(self.Selected(self, key, row))

    def watch_cursor_row(self, before: int, now: int) -> None:
        """Draw both rows, and tell of the new one."""
        self._draw_line(before)
        self._draw_line(now)
        self._tell()

    def _scroll_to_cursor(self) -> None:
        if not self.size.height:
            self.call_after_refresh(self._scroll_to_cursor_now)
        else:
            self._scroll_to_cursor_now()

    def _scroll_to_cursor_now(self) -> None:
        at, top, lines = self.cursor_row, round(self.scroll_y), max(1, self.size.height - 1)
        if not top <= at < top + lines:
            y = at if at < top else at - lines + 1
            self.scroll_to(y=y, animate=False, force=True, immediate=True)

    def on_resize(self, event: events.Resize) -> None:
        """Keep the cursor in sight."""
        self._scroll_to_cursor()

    # The mouse -----------------------------------------------------------------------------------

    def _place(self, event: events.MouseEvent) -> tuple[int, int] | None:
        """Return line and cell of a place inside; line 0 is the headings."""
        offset = event.get_content_offset(self)
        return None if offset is None else (offset.y, offset.x + round(self.scroll_x))

    def on_click(self, event: events.Click) -> None:
        """Sort by a heading, turned round at the second click; move to a row, or open it."""
        place = self._place(event)
        if place is None:
            return
        line, x = place
        if line == 0:
            self._heading_clicked(x)
            return
        index = line - 1 + round(self.scroll_y)
        if index >= len(self._order):
            return
        if index == self.cursor_row:
            self.action_open()
        else:
            self.move_cursor(index)

    def _heading_clicked(self, x: int) -> None:
        end = 0
        for column, width in zip(self._drawn_columns, self._widths, strict=True):
            end += width + BLANKS
            if x < end:
                if column is not MARK:
                    now = self._sort
                    self.sort_by(column.key, bool(now and now[0] == column.key and not now[1]))
                return

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Show which row a click would take."""
        place = self._place(event)
        self._hover(place[0] - 1 + round(self.scroll_y) if place and place[0] else None)

    def on_leave(self) -> None:
        """Point at no row."""
        self._hover(None)

    def _hover(self, index: int | None) -> None:
        before, self._hovered = self._hovered, index
        if before != index:
            for line in (before, index):
                if line is not None:
                    self._draw_line(line)

    # Actions -------------------------------------------------------------------------------------

    def action_step(self, rows: int) -> None:
        """Move the cursor down by some rows, or up."""
        self._hover(None)
        self.move_cursor(self.cursor_row + rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor by as many rows as are in sight."""
        self.action_step(pages * max(1, self.size.height - 2))

    def action_to_end(self, end: int) -> None:
        """Move the cursor to the first row (0) or to the last (1)."""
        self.move_cursor(end * len(self._order))

    def action_open(self) -> None:
        """Open the row under the cursor."""
        self._tell()
        if self.selected_row is not None:
            self.post_message(self.Opened(self, self.selected_key, self.selected_row))

    def act_down(self) -> None:
        """Move down."""
        self.action_step(1)

    def act_up(self) -> None:
        """Move up."""
        self.action_step(-1)

    def act_top(self) -> None:
        """Move to the first row."""
        self.action_to_end(0)

    def act_bottom(self) -> None:
        """Move to the last row."""
        self.action_to_end(1)

    def act_sort(self) -> None:
        """Sort by the column after the one sorted by now; after the last, as given."""
        names: list[str | None] = [None, *(column.key for column in self.columns_shown)]
        now = self._sort[0] if self._sort else None
        self.sort_by(names[(names.index(now) + 1) % len(names)])

    def act_turn(self) -> None:
        """Turn the order round."""
        if self._sort:
            self.sort_by(self._sort[0], not self._sort[1])

    def why_not_turn(self) -> str | None:
        """Say why the order cannot be turned round."""
        return None if self._sort else "Sort by a column first."

    def act_mark(self) -> None:
        """Mark or unmark the row under the cursor, and go on to the next."""
        key = self.selected_key
        if key is None or not self._markable:
            return
        self.marked ^= {key}
        self._draw_row_anew(self.cursor_row)
        self.post_message(self.MarksChanged(self))
        self.action_step(1)
