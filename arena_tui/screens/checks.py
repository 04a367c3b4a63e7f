"""How what a validation found is shown: its checks, stored or live, and the algorithms that fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rich.text import Text

from arena_tui.screens.listing import colour
from arena_tui.widgets.rows import Column, Row

if TYPE_CHECKING:
    from arena_tui.screens.base import ArenaScreen


def check_columns(screen: ArenaScreen) -> list[Column]:
    """Return the columns of a table of checks."""

    def verdict(value: Any, row: Row) -> Text:
        if not row.get("success"):
            return Text("✗", style=colour(screen.app, "error"))
        if row.get("warnings"):
            return Text("!", style=colour(screen.app, "warning"))
        return Text("✓", style=colour(screen.app, "success"))

    return [
        Column("success", "", 1, show=verdict),
        Column("check", "check", 30),
        Column("note", "what it found"),
    ]


def algorithm_columns(screen: ArenaScreen) -> list[Column]:
    """Return the columns of a table of algorithms."""

    def mark(value: Any, row: Row) -> Text:
        return Text("✓", style=colour(screen.app, "success")) if value else Text("·", style="dim")

    return [
        Column("fits", "", 1, show=mark),
        Column("algorithm", "algorithm", 14),
        Column("why", "why it does not fit"),
    ]


def check_rows(checks: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Return rows of checks: check, success, warnings, and what was found in one line."""
    return [
        {
            "check": str(item.get("check")),
            "success": bool(item.get("success")),
            "warnings": list(item.get("warnings") or ()),
            "note": note_of(item),
        }
        for item in checks
    ]


def note_of(item: Mapping[str, Any]) -> str:
    """Return what a check found, in one line."""
    found = [str(item["error"])] if item.get("error") else []
    found += [str(warning) for warning in item.get("warnings") or ()]
    return "; ".join(" ".join(text.split()) for text in found)
