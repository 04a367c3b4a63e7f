"""A screen whose heart is one table: filter, selection, and a pane about the selected row."""

from __future__ import annotations

import time
from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Input, Static

from arena_tui import theme
from arena_tui.commands import Action
from arena_tui.filtering import FilterError, parse
from arena_tui.safetext import safe_text
from arena_tui.screens.base import ArenaScreen, show_state
from arena_tui.screens.fitted import FittedRows
from arena_tui.stores.base import Polled
from arena_tui.widgets.rows import Column, Row, Rows
from arena_tui.widgets.state_view import StateView

HOLD_SECONDS = 0.12
"""Seconds between two moves of the cursor below which a key is held down."""


class FilterLine(Input):
    """Where a filter is typed; it stays in sight while it filters."""

    BINDINGS: ClassVar[list[Any]] = [Binding("escape", "drop", "Drop", show=False)]

    def __init__(self) -> None:
        super().__init__(
            placeholder="text, !not, /regex/, or state:running algo:DQN lr>=1e-3 -name:test",
            id="filter",
            select_on_focus=False,
        )

    def action_drop(self) -> None:
        """Filter no more, and go back to the table."""
        self.value = ""
        self.post_message(self.Submitted(self, ""))


class ListScreen(ArenaScreen):
    """A table of a store's rows. A subclass gives `columns`, `store`, and its words."""

    ACTIONS: ClassVar[list[Action]] = [
        Action("list.filter", "slash", "Filter", "Show only rows that match.", 15),
        Action("list.detail", "i", "Details", "Show this row alone, or the table again.", 16),
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]

    ROWS_TITLE: ClassVar[str] = ""
    KEY: ClassVar[str] = "name"
    MAIN = "#rows"
    TEXT_KEYS: ClassVar[tuple[str, ...]] = ()
    EMPTY: ClassVar[str] = "There is nothing here yet."
    HINT: ClassVar[str] = ""
    ABSENT: ClassVar[str] = "This Arena does not offer this."
    MARKABLE: ClassVar[bool] = False
    DROP: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        super().__init__()
        self._moved_at = 0.0
        self._held: Timer | None = None

    def columns(self) -> list[Column]:
        """Return the columns of the table."""
        raise TypeError(f"{type(self).__name__} has no columns")

    @property
    def store(self) -> Polled[Any]:
        """The store of the rows."""
        raise TypeError(f"{type(self).__name__} has no store")

    def rows_data(self) -> list[Row]:
        """Return the rows to show."""
        return list(self.store.value or ())

    def detail(self) -> ComposeResult:
        """Make the pane about the selected row; nothing for none."""
        yield from ()

    def show_detail(self, row: Row | None) -> None:
        """Put the selected row into the pane."""

    async def open_row(self, row: Row) -> None:
        """Open a row: enter or a second click."""

    # What it is made of --------------------------------------------------------------------------

    def body(self) -> ComposeResult:
        """Table at the left, the selected row at the right."""
        with Horizontal():
            with Vertical(classes="pane tight left", id="list") as pane:
                pane.border_title = Text(self.ROWS_TITLE)
                yield FilterLine()
                yield StateView(id="state")
                yield FittedRows(
                    self.columns(),
                    drop=self.DROP,
                    key=self.KEY,
                    markable=self.MARKABLE,
                    id="rows",
                )
            yield from self.detail()

    @property
    def rows(self) -> Rows:
        """The table."""
        return self.query_one("#rows", Rows)

    @property
    def selected(self) -> Row | None:
        """The row under the cursor."""
        return self.rows.selected_row if self.is_mounted else None

    def on_mount(self) -> None:
        """Put the last filter back, and start on the table."""
        memory = self.arena.memory
        kept = memory.get(f"filter.{self.SCREEN}", "") if memory else ""
        line = self.query_one(FilterLine)
        if kept:
            line.value = str(kept)
            line.add_class("-used")

    def show(self) -> None:
        """Show rows, the state of the data, and the selected row."""
        rows = self.rows
        rows.set_rows(self.rows_data())
        view = self.query_one("#state", StateView)
        show_state(view, self.store, empty=self.EMPTY, hint=self.HINT, absent=self.ABSENT)
        if view.kind == "clear" and rows.rows_total and not rows.rows_shown:
            view.show_empty("No row matches the filter.", "/ changes it, esc there drops it.")
        rows.display = bool(rows.rows_shown)
        shown, total = len(rows.rows_shown), rows.rows_total
        pane = self.query_one("#list")
        pane.border_subtitle = Text(f"{shown} of {total}" if shown != total else str(total))
        self.show_detail(rows.selected_row)

    def select(self, key: str) -> None:
        """Put the cursor on a row, now or when it comes."""
        self.rows.select(key)

    @on(Rows.Selected)
    def _selected(self, event: Rows.Selected) -> None:
        if isinstance(event, Rows.Opened) or event.rows.id != "rows":
            return
        if self._held is not None:
            self._held.stop()
        before, self._moved_at = self._moved_at, time.monotonic()
        if self._moved_at - before > HOLD_SECONDS:
            self._show_selected()
        else:
            # A key that is held down goes past rows that nobody reads.
            self._held = self.set_timer(HOLD_SECONDS, self._show_selected)

    def _show_selected(self) -> None:
        """Show what is known of the row at which the cursor came to rest."""
        if self.is_attached:
            self.show_detail(self.rows.selected_row)
            self.selection_changed()
            self.refresh_frame()

    def selection_changed(self) -> None:
        """Another row is selected."""

    @on(Rows.Opened, "#rows")
    async def _opened(self, event: Rows.Opened) -> None:
        if event.row is not None:
            await self.open_row(event.row)

    # Filter --------------------------------------------------------------------------------------

    def act_filter(self) -> None:
        """Type a filter."""
        line = self.query_one(FilterLine)
        line.add_class("-used")
        line.focus()

    @on(Input.Changed, "#filter")
    def _filter_typed(self, event: Input.Changed) -> None:
        event.stop()
        try:
            keep = parse(event.value, text_keys=self.TEXT_KEYS)
        except FilterError as error:
            event.input.add_class("-wrong")
            event.input.border_subtitle = Text(safe_text(error, 200))
            return
        event.input.remove_class("-wrong")
        self.rows.set_filter(keep)
        if self.arena.memory is not None:
            self.arena.memory.set(f"filter.{self.SCREEN}", event.value)
        self.data_changed()

    @on(Input.Submitted, "#filter")
    def _filter_done(self, event: Input.Submitted) -> None:
        event.stop()
        event.input.set_class(bool(event.input.value), "-used")
        self.rows.focus()

    # One row alone -------------------------------------------------------------------------------

    @property
    def is_alone(self) -> bool:
        """Whether only the pane about the selected row is shown."""
        return self.has_class("-alone")

    def act_detail(self) -> None:
        """Show only the pane about the selected row, or the table again."""
        self.set_class(not self.is_alone, "-alone")
        if not self.is_alone:
            self.rows.focus()
        else:
            pane = self.query_one(".drop")
            # The whole of it scrolls, and what can be folded inside is one `tab` further.
            inside = next((each for each in pane.query("*") if each.focusable), None)
            (inside if inside is not None and not pane.can_focus else pane).focus()
        self.refresh_frame()

    def why_not_detail(self) -> str | None:
        """Say why there is nothing to show."""
        if not self.query(".drop"):
            return "There is no more to this row than the table shows."
        return None if self.selected is not None else "Nothing is selected."

    def act_back(self) -> None:
        """Show the table again, or go back."""
        if self.is_alone:
            self.act_detail()
        else:
            super().act_back()

    def text_to_copy(self) -> str:
        """Return the name of the selected row."""
        row = self.selected
        return "" if row is None else str(row.get("name", row.get("id", "")))

    # Looks ---------------------------------------------------------------------------------------

    def state_cell(self, state: Any, row: Row) -> Text:
        """Return a state with its mark, in its colour."""
        return state_text(self.app, str(state or ""))


_LIKE = {"done": "completed", "cancelled": "stopped", "not valid": "failed"}
"""States of our own long actions, and what they look like."""


def colour(app: Any, name: str) -> str:
    """Return a colour of the theme in use as Rich names colours, or nothing where there is none."""
    value = getattr(app.current_theme, name, None) or ""
    return value if str(value).startswith("#") else str(value).removeprefix("ansi_")


def state_text(app: Any, state: str) -> Text:
    """Return a state with its mark, in its colour."""
    like = _LIKE.get(state, state)
    mark = theme.STATE_MARKS.get(like, "·")
    return Text(f"{mark} {state}", style=colour(app, theme.STATE_COLOURS.get(like, "foreground")))


class Note(Static):
    """The whole of what a row can only show the start of; out of sight when there is nothing."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)

    def say(self, sentence: object) -> None:
        """Show a sentence, or nothing."""
        from arena_tui.safetext import safe_lines

        text = safe_lines(sentence or "", 2_000)
        self.set_class(bool(text), "-said")
        self.update(Text(text))


class Facts(Static):
    """Names and values under each other, as literal text."""

    DEFAULT_CSS = "Facts { height: auto; width: 1fr; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__("", id=id, classes=classes, markup=False)

    def set_facts(self, facts: list[tuple[str, Any]]) -> None:
        """Show facts; those that are None are left out."""
        from arena_tui.safetext import safe_text

        shown = [(name, value) for name, value in facts if value is not None and value != ""]
        width = max((len(name) for name, _ in shown), default=0)
        text = Text()
        for at, (name, value) in enumerate(shown):
            text.append(f"{name:<{width}}  ", style="dim")
            text.append(value if isinstance(value, Text) else Text(safe_text(value, 400)))
            if at < len(shown) - 1:
                text.append("\n")
        self.update(text)
