"""How an experiment is shown in one row: state, progress, speed, time left, fitness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from arena_tui import format
from arena_tui.plotstyle import sparkline
from arena_tui.screens.listing import colour, state_text
from arena_tui.stores.experiments import ACTIVE
from arena_tui.widgets.rows import Column, Row

if TYPE_CHECKING:
    from arena_tui.screens.base import ArenaScreen


DROP = (
    "num_nodes",
    "created_at",
    "project",
    "steps_per_second",
    "algorithm",
    "environment",
    "left",
    "fitness_history",
)
"""Columns that go where there is little room, the first to go first."""


def time_left(row: Row) -> float | None:
    """Return the seconds until a run has its steps, at the present speed of all its members."""
    speed, maximum, steps = row.get("steps_per_second"), row.get("max_steps"), row.get("steps")
    if row.get("state") != "running" or not speed or not maximum or steps is None:
        return None
    members = row.get("pop_size") or 1
    return max(0.0, float(maximum) - float(steps)) * members / float(speed)


def experiment_columns(screen: ArenaScreen) -> list[Column]:
    """Return the columns of a table of experiments."""

    def state(value: Any, row: Row) -> Text:
        return state_text(screen.app, str(value or ""))

    def progress(value: Any, row: Row) -> Text:
        share = format.percent(row.get("steps"), row.get("max_steps"))
        bar = format.bar(share, 8)
        label = f" {share * 100:3.0f}%" if share is not None else "    –"
        name = "success" if row.get("state") in ACTIVE else "secondary"
        return Text.assemble((bar, colour(screen.app, name)), label)

    def fitness(value: Any, row: Row) -> str:
        return format.number(value)

    def spark(value: Any, row: Row) -> Text:
        line = sparkline(value, 10, screen.arena.plot_style)
        return Text(line, style=colour(screen.app, "accent"))

    def left(value: Any, row: Row) -> str:
        return format.duration(time_left(row)) if row.get("state") == "running" else ""

    columns = [
        Column("name", "name", None),
        Column("state", "state", 13, show=state),
        Column("progress", "progress", 13, show=progress),
        Column("best_fitness", "best", 8, "right", show=fitness),
        Column("fitness_history", "fitness", 10, show=spark),
        Column("left", "left", 6, "right", show=left),
        Column("steps_per_second", "steps/s", 7, "right", show=lambda v, row: format.count(v)),
    ]
    return [
        *columns[:2],
        Column("algorithm", "algo", 6),
        Column("environment", "environment", 16),
        *columns[2:],
        Column("project", "project", 14),
        Column("num_nodes", "nodes", 5, "right"),
        Column(
            "created_at",
            "age",
            4,
            "right",
            show=lambda value, row: format.age(value),
            sort=lambda value: -(format.moment(value) or 0.0),
        ),
    ]
