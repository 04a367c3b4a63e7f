"""The tables of a run: members of its population, and checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena_tui import format
from arena_tui.widgets.rows import Column, Row

if TYPE_CHECKING:
    from arena_tui.stores.columns import RunColumns
    from arena_tui.stores.run import Run

_LINEAGE_SHOWN = 6
MEMBER_DROP = ("steps_per_second", "steps", "lineage", "mutation")
CHECKPOINT_DROP = ("generation", "member", "training_score", "size_mb")


def _figure(value: Any, row: Row) -> str:
    return format.number(value)


def member_columns() -> list[Column]:
    """Return the columns of a table of members."""
    return [
        Column("member", "member", 6, "right"),
        Column("fitness", "fitness", 9, "right", show=_figure),
        Column("score", "score", 9, "right", show=_figure),
        Column("steps", "steps", 7, "right", show=lambda value, row: format.count(value)),
        Column("steps_per_second", "steps/s", 7, "right", show=lambda v, row: format.count(v)),
        Column("mutation", "last mutation", 16),
        Column("lineage", "lineage", 16),
        Column("values", "hyperparameters"),
    ]


def member_rows(run: Run) -> list[Row]:
    """Return a row for every member of the last generation, the fittest first."""
    rows = []
    for member in run.population:
        values = member.get("hyperparameters") or {}
        losses = member.get("losses") or {}
        rows.append(
            {
                **member,
                "member": int(member["member"]),
                "mutation": member.get("mutation") or "none",
                "lineage": lineage(run.columns, int(member["member"])),
                "values": "  ".join(
                    f"{name} {format.number(value)}" for name, value in {**values, **losses}.items()
                ),
            }
        )
    return sorted(rows, key=lambda row: -_number(row.get("fitness")))


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else float("-inf")


def lineage(columns: RunColumns, member: int) -> str:
    """Return the ancestors of a member, the oldest first: `0›4›9`."""
    line = [member]
    while (rows := columns.members.get(line[-1])) is not None:
        if rows.parent is None or rows.parent in line:
            break
        line.append(rows.parent)
    shown = [str(item) for item in line[:_LINEAGE_SHOWN]]
    if len(line) > _LINEAGE_SHOWN:
        shown.append("…")
    return "›".join(reversed(shown))


def checkpoint_columns() -> list[Column]:
    """Return the columns of a table of checkpoints."""
    return [
        Column("name", "checkpoint", 16),
        Column("steps", "steps", 10, "right", show=_figure),
        Column("generation", "gen", 5, "right"),
        Column("member", "member", 6, "right"),
        Column("evaluation_score", "evaluation", 10, "right", show=_figure),
        Column("training_score", "training", 10, "right", show=_figure),
        Column("size_mb", "MB", 7, "right", show=_figure),
        Column("best", "", 8),
    ]


def checkpoint_rows(checkpoints: list[dict[str, Any]]) -> list[Row]:
    """Return a row a checkpoint, the newest first, the fittest marked."""
    named = [{"name": f"step_{row.get('steps')}", **row} for row in checkpoints]
    scores = [row["evaluation_score"] for row in named if _has_score(row)]
    best = max(scores, default=None)
    return [
        {**row, "best": "★ best" if _has_score(row) and row["evaluation_score"] == best else ""}
        for row in sorted(named, key=lambda row: -(row.get("steps") or 0))
    ]


def _has_score(row: dict[str, Any]) -> bool:
    return isinstance(row.get("evaluation_score"), int | float)
