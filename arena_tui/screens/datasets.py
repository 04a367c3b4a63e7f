"""Datasets, where the Arena has any."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import DataTable, Static

from arena_tui import format
from arena_tui.commands import Action
from arena_tui.safetext import safe_text
from arena_tui.screens.base import style_file
from arena_tui.screens.dataset_actions import DatasetActions
from arena_tui.screens.listing import Facts, ListScreen
from arena_tui.stores.base import ABSENT, Polled, Store
from arena_tui.stores.datasets import Datasets
from arena_tui.widgets.dialogs import ConfirmDialog
from arena_tui.widgets.rows import Column, Row


class DatasetsScreen(ListScreen, DatasetActions):
    """One row a dataset."""

    SCREEN = "datasets"
    CSS_PATH = [style_file("frame"), style_file("datasets")]
    ROWS_TITLE = "Datasets"
    DROP = ("hf_dataset_id", "size_mb")
    EMPTY = "No dataset yet."
    HINT = "n makes one from a CSV or Parquet file, or from the Hugging Face hub."
    ABSENT = (
        "This Arena offers no datasets: it trains agents in environments (2),"
        " not language models on data."
    )
    ACTIONS: ClassVar[list[Action]] = [
        Action("datasets.new", "n", "New", "Make a dataset from files or the hub.", 1, True),
        Action("datasets.delete", "x", "Delete", "Delete this dataset.", 4, True),
    ]

    def columns(self) -> list[Column]:
        """Return the columns of the table."""
        return [
            Column("name", "name", 28),
            Column("category", "category", 12),
            Column("num_rows", "rows", 8, "right", show=_count),
            Column("size_mb", "MB", 8, "right", show=_megabytes),
            Column("hf_dataset_id", "hub id"),
        ]

    @property
    def store(self) -> Datasets:
        """The datasets."""
        return self.hub.datasets

    def __init__(self) -> None:
        super().__init__()
        self._about: str | None = None
        self._shown: Any = None

    @property
    def details(self) -> Polled[dict[str, Any]] | None:
        """The store of the selected dataset, where the service tells more than its row."""
        if self._about is None or not self.hub.has("dataset_details"):
            return None
        return self.store.details(self._about)

    def stores(self) -> Iterable[Store]:
        """Return what is watched."""
        yield self.store
        if self.details is not None:
            yield self.details

    def detail(self) -> ComposeResult:
        """Make the pane about a dataset."""
        with Vertical(classes="pane right drop", id="about") as pane:
            pane.border_title = "Dataset"
            yield Facts(id="facts")
            yield Static("First rows", classes="heading", id="h-preview")
            yield DataTable(id="preview", zebra_stripes=True, cursor_type="row")

    def selection_changed(self) -> None:
        """Ask for the details of another dataset."""
        name = str(self.selected["name"]) if self.selected else None
        if name != self._about:
            self._about = name
            self.rewatch()

    def show_detail(self, row: Row | None) -> None:
        """Show all that the service says of the selected dataset."""
        pane = self.query_one("#about")
        pane.set_class(self.store.state == ABSENT or row is None, "-none")
        pane.border_title = Text(safe_text(row["name"], 200)) if row else "Dataset"
        known = (self.details.value if self.details else None) or {}
        facts = [
            (str(key).replace("_", " "), _words(value))
            for key, value in (row or {}).items()
            if key not in ("name", "columns", "id", "preview")
        ]
        facts.append(("columns", _columns(known.get("columns") or (row or {}).get("columns"))))
        facts.append(("details", self.details.error if self.details else None))
        self.query_one("#facts", Facts).set_facts(facts)
        self._show_preview(known.get("preview") or [])

    def _show_preview(self, rows: list[dict[str, Any]]) -> None:
        """Show the first rows as a table of literal text."""
        table = self.query_one("#preview", DataTable)
        table.display = self.query_one("#h-preview").display = bool(rows)
        if rows == self._shown:
            return
        self._shown = rows
        table.clear(columns=True)
        names = list(dict.fromkeys(str(name) for row in rows for name in row))
        table.add_columns(*(Text(safe_text(name, 60)) for name in names))
        for row in rows:
            table.add_row(*(Text(safe_text(row.get(name, ""), 120)) for name in names))

    def made(self, name: str) -> None:
        """Put the cursor on a dataset that is new."""
        self.select(name)

    async def open_row(self, row: Row) -> None:
        """Show the rows of a dataset as wide as there is room."""
        self.act_detail()

    async def act_delete(self) -> None:
        """Delete the selected dataset, after asking."""
        name = str((self.selected or {})["name"])
        sure = await self.app.push_screen_wait(
            ConfirmDialog(f"Delete dataset {name}?", "Its rows are gone then.", typed=name)
        )
        if sure:
            await self.store.delete(name)
            self.tell(f"Deleted dataset {name}.")

    def why_not_delete(self) -> str | None:
        """Say why none can be deleted."""
        return None if self.selected is not None else "Choose a dataset first."


def _count(value: Any, row: Row) -> str:
    return format.count(value) if isinstance(value, int | float) else ""


def _megabytes(value: Any, row: Row) -> str:
    if not isinstance(value, int | float):
        return ""
    return f"{value:,.2f}" if value >= 0.01 else "<0.01"


def _words(value: Any) -> Any:
    """Return a value as people read it: a mapping as `key → column`."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key} → {item}" for key, item in value.items())
    return value


def _columns(columns: Any) -> str | None:
    """Return columns with their types: `question (string), answer (string)`."""
    if not columns:
        return None
    named = [
        f"{column.get('name')} ({column.get('type')})" if isinstance(column, dict) else str(column)
        for column in columns
    ]
    return ", ".join(named)
