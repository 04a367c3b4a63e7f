"""The family tree of a population, a row a member."""

from __future__ import annotations

from typing import Any

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical

from arena_tui import format
from arena_tui.screens.fitted import FittedRows
from arena_tui.screens.listing import colour
from arena_tui.stores.columns import RunColumns
from arena_tui.stores.lineage import ancestors, tree
from arena_tui.widgets.rows import Column, Row, Rows

_LINE = "›"
"""Stands before the selected member and those that it comes from."""


class LineagePane(Vertical):
    """Who comes from whom: those alive are lit, and the line of one is marked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, classes="pane tight")
        self._drawn: tuple[Any, ...] | None = None

    def compose(self) -> ComposeResult:
        """Make the table."""
        self.border_title = "Lineage"
        yield FittedRows(
            [
                Column("member", "member", show=self._member),
                Column("born", "gen", 4, "right"),
                Column("mutation", "mutation"),
                Column("fitness", "fitness", 8, "right", show=lambda v, row: format.number(v)),
            ],
            drop=("mutation", "born"),
            key="member",
            id="lineage-rows",
        )

    def _member(self, value: Any, row: Row) -> Text:
        text = Text(f"{_LINE if row['in_line'] else ' '} ", style="bold")
        text.append(str(row["branch"]), style="dim")
        lit = colour(self.app, "success") if row["alive"] else "dim"
        text.append(f"{value}", style=f"bold {lit}" if row["in_line"] else lit)
        if row["alive"]:
            text.append(" ●", style=lit)
        return text

    def show_run(self, columns: RunColumns, member: int | None) -> None:
        """Show the tree of a run, and mark the line of one member."""
        state = (id(columns), columns.count, columns.version, member)
        if state == self._drawn:
            return
        self._drawn = state
        leaves = tree(columns)
        line = set(ancestors(columns, member))
        self.query_one(Rows).set_rows(
            {
                "member": leaf.member,
                "branch": leaf.branch,
                "born": leaf.born,
                "mutation": leaf.mutation or "",
                "fitness": leaf.fitness,
                "alive": leaf.alive,
                "in_line": leaf.member in line,
            }
            for leaf in leaves
        )
        alive = sum(leaf.alive for leaf in leaves)
        everyone = len(columns.members)
        words = f"{alive} alive of {everyone}"
        if len(leaves) < everyone:
            words += f", {len(leaves)} shown: those alive and their ancestors"
        self.border_subtitle = words

    def go_to(self, member: int) -> None:
        """Go to a member in the tree."""
        rows = self.query_one(Rows)
        rows.select(str(member))
        rows.focus()
