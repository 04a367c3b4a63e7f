"""A run's metrics as names and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy.orm import Session

from arena_sdk.local.store import experiments as store
from arena_sdk.local.store.models import Record

from .refusals import not_found

FIXED_COLUMNS = ("generation", "member", "parent", "mutation", "steps", "total_steps", "time")
"""What every row of the CSV begins with; the metrics that were asked for follow."""

PLAIN_METRICS = ("fitness", "score", "episodes", "steps_per_second")

GROUPS = (
    ("losses", "loss_"),
    ("hyperparameters", "hyperparameter_"),
    ("load", "load_"),
    ("evaluation", "evaluation_"),
)
"""Where a record has metrics under names of their own, and what is put before one that is taken."""

OpenSession = Callable[[], AbstractContextManager[Session]]


def metric_names(session: Session, experiment_id: int) -> list[str]:
    """Return the names of all metrics of a run, in the order of the CSV's columns."""
    return list(_paths(session, experiment_id))


def _paths(session: Session, experiment_id: int) -> dict[str, tuple[str, ...]]:
    """Return where in a record each metric is. A hyperparameter never hides a loss."""
    paths: dict[str, tuple[str, ...]] = {name: (name,) for name in PLAIN_METRICS}
    for group, prefix in GROUPS:
        for name in store.named_metrics(session, experiment_id, group):
            free = name not in paths and name not in FIXED_COLUMNS
            paths[name if free else prefix + name] = (group, name)
    return paths


def check_metrics(names: list[str], known: list[str], experiment_name: str) -> list[str]:
    """Return the metrics to give: those asked for, or all when none was.

    Raises:
        ApiError: 404 naming the ones that the run does not have, and those it has.
    """
    unknown = [name for name in names if name not in known]
    if unknown:
        listed = ", ".join(repr(name) for name in unknown)
        raise not_found(
            f"Experiment {experiment_name!r} has no metric named {listed}; it has"
            f" {', '.join(known)}.",
            "UNKNOWN_METRIC",
        )
    return list(dict.fromkeys(names)) or known


def csv_lines(
    open_session: OpenSession, experiment_id: int, metrics: list[str], rows: int
) -> Iterator[str]:
    """Yield the CSV, header first, a line at a time; rows are read as they are sent.

    Generations that a resumed run did again are given once, as they were done last.

    Args:
        open_session: Opens a read transaction, held until the last line.
        experiment_id: Whose metrics.
        metrics: Names from `metric_names`.
        rows: The most rows to give.
    """
    with open_session() as session:
        paths = _paths(session, experiment_id)
        rewinds = _rewinds(session, experiment_id)
        yield _line([*FIXED_COLUMNS, *metrics])
        given = 0
        for record in store.metric_records(session, experiment_id):
            if given >= rows:
                return
            if _superseded(record, rewinds):
                continue
            given += 1
            yield _line(_row(record, [paths[name] for name in metrics]))


def _rewinds(session: Session, experiment_id: int) -> list[tuple[int, int]]:
    """Return (sequence number, generation gone back to) of every resume."""
    return [
        (record.seq, int(record.data["generation"]))
        for record in store.state_records(session, experiment_id)
        if "generation" in record.data
    ]


def _superseded(record: Record, rewinds: list[tuple[int, int]]) -> bool:
    generation = record.data["generation"]
    return any(record.seq < seq and generation > kept for seq, kept in rewinds)


def _row(record: Record, paths: list[tuple[str, ...]]) -> list[Any]:
    data = {**record.data, "time": f"{record.time:.3f}"}
    return [data.get(column) for column in FIXED_COLUMNS] + [_dig(data, path) for path in paths]


def _dig(data: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        data = (data or {}).get(key)
    return data


def _line(cells: list[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(["" if c is None else c for c in cells])
    return buffer.getvalue()
