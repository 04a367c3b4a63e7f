"""What is wrong with a manifest, as rows of a table and as marks beside its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from arena_tui.screens.listing import colour
from arena_tui.widgets.manifest_editor import Mark
from arena_tui.widgets.rows import Column, Row

if TYPE_CHECKING:
    from arena_sdk.manifest import Problem
    from arena_tui.screens.base import ArenaScreen
    from arena_tui.stores.manifests import Diagnosis


def problem_columns(screen: ArenaScreen) -> list[Column]:
    """Return the columns of a table of problems."""

    def mark(value: Any, row: Row) -> Text:
        name = {"✓": "success", "!": "warning"}.get(str(value), "error")
        return Text(str(value), style=colour(screen.app, name))

    return [
        Column("mark", "", 1, show=mark),
        Column("line", "line", 4, "right"),
        Column("path", "where", 24),
        Column("message", "what is wrong"),
    ]


def problem_rows(diagnosis: Diagnosis) -> list[Row]:
    """Return a row a problem, or one that says that there is none; then the warnings."""
    good: list[Row] = [
        {"key": "good", "mark": "✓", "path": "", "message": "It is good: ^s submits it."}
    ]
    found = [(problem, "✗") for problem in diagnosis.problems]
    found += [(problem, "!") for problem in diagnosis.warnings]
    rows: list[Row] = [
        {
            "key": str(at),
            "mark": mark,
            "line": problem.line,
            "path": problem.path or "all of it",
            "message": sentence(problem),
        }
        for at, (problem, mark) in enumerate(found)
    ]
    return [*(good if diagnosis.is_good else ()), *rows]


def marks_of(diagnosis: Diagnosis) -> list[Mark]:
    """Return the marks for an editor."""
    return [
        Mark(
            place.line - 1,
            place.column - 1,
            place.end_column - 1 if place.end_line == place.line else 10_000,
            place.severity,
        )
        for place in diagnosis.places
    ]


def sentence(problem: Problem) -> str:
    """Return what is wrong, and what was meant."""
    meant = f" Did you mean {problem.suggestion!r}?" if problem.suggestion else ""
    return f"{problem.message}{meant}"
