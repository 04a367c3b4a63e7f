"""`arena experiments compare`: runs side by side, with the settings in which they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from arena_sdk.cli.commands import Command
from arena_sdk.cli.context import Globals, pass_globals
from arena_sdk.cli.lookup import experiment, state_of
from arena_sdk.cli.names import complete
from arena_sdk.cli.output import Sink, echo, with_sink

if TYPE_CHECKING:
    from arena_sdk import ArenaClient

FACTS = (
    "algorithm", "environment", "pop_size", "generation", "steps", "max_steps", "total_steps",
    "best_fitness", "mean_fitness", "steps_per_second",
)  # fmt: skip


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the settings of a manifest by their dotted paths."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def _seconds(row: Mapping[str, Any]) -> float | None:
    """Return how long a run took, or None while it goes on or where the service does not say."""
    try:
        started, ended = (
            datetime.fromisoformat(str(row[key]).replace("Z", "+00:00"))
            for key in ("started_at", "ended_at")
        )
    except (KeyError, ValueError):
        return None
    return (ended - started).total_seconds()


def _row(client: ArenaClient, name: str, metric: str | None) -> tuple[dict[str, Any], list[Any]]:
    """Return what is compared of one run, and the points of its curve."""
    from arena_sdk.cli.metrics import MOST_ROWS, curve, fetch

    found = experiment(client, name)
    row = {"name": name, "state": state_of(found), **{key: found.get(key) for key in FACTS}}
    row["seconds"] = _seconds(found)
    points: list[Any] = []
    if metric is not None:
        _, rows = fetch(client, name, rows=MOST_ROWS)
        points, _ = curve(rows, metric)
        row[f"{metric} (last best)"] = points[-1][1] if points else None
        row[f"{metric} (highest)"] = max((y for _, y in points), default=None)
    return {**row, "settings": dict(_flat(found.get("manifest") or {}))}, points


def _differing(rows: list[dict[str, Any]]) -> list[str]:
    """Return the settings that are not the same in all runs."""
    paths = dict.fromkeys(path for row in rows for path in row["settings"])
    return [
        path
        for path in paths
        if any(row["settings"].get(path) != rows[0]["settings"].get(path) for row in rows)
    ]


@click.command(cls=Command)
@click.argument("names", nargs=-1, required=True, shell_complete=complete("experiment"))
@click.option("--metric", help="Compare this metric too, over the whole of each run.")
@click.option("--plot", is_flag=True, help="Draw the metric, fitness when none is named.")
@with_sink
@pass_globals
def compare(
    flags: Globals, sink: Sink, names: tuple[str, ...], metric: str | None, plot: bool
) -> None:
    """Put runs side by side, with the settings in which they differ.

    A table has a column a run; the other formats have a row a run.

    Example: arena experiments compare lunar-lander-dqn lunar-lander-ppo --plot
    """
    if len(names) > 1 and len(set(names)) == 1:
        raise click.UsageError(f"{names[0]!r} and {names[1]!r} are the same experiment: name two.")
    if len(names) < 2:
        raise click.UsageError("Name two experiments or more.")
    measured = metric or ("fitness" if plot else None)
    with flags.client() as client:
        found = [_row(client, name, measured) for name in dict.fromkeys(names)]
    rows = [row for row, _ in found]
    differing = _differing(rows)
    flat = [
        {key: value for key, value in row.items() if key != "settings"}
        | {path: row["settings"].get(path) for path in differing}
        for row in rows
    ]
    if plot:
        from arena_sdk.cli.plot import line_chart

        series = {row["name"]: points for row, points in found if points}
        echo(line_chart(f"{measured} · best member", "environment steps", series))
    elif sink.format == "table" and not sink.columns and not sink.quiet:
        turned = [
            {"": key, **{row["name"]: row.get(key) for row in flat}}
            for key in flat[0]
            if key != "name" and any(row.get(key) is not None for row in flat)
        ]
        called = [row["name"] for row in flat]
        sink.rows(turned, ("", *called), headings=("", *called))
    else:
        sink.rows(flat, list(flat[0]))
