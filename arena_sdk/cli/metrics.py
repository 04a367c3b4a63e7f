"""`arena experiments metrics`: a run's metrics as a file, as rows, as a chart."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena_sdk._files import write_whole
from arena_sdk.cli.commands import Command
from arena_sdk.cli.context import Globals, pass_globals
from arena_sdk.cli.exits import USAGE, Failure
from arena_sdk.cli.names import complete, name_argument
from arena_sdk.cli.output import FORMATS, Sink, echo, note
from arena_sdk.cli.progress import ProgressBar

if TYPE_CHECKING:
    from arena_sdk import ArenaClient

MOST_ROWS = 50_000
"""How many rows a download asks for, as the published client does."""
X_KEYS = ("steps", "step", "total_steps", "generation")
Points = list[tuple[float, float]]


def read_rows(text: str) -> list[dict[str, Any]]:
    """Read a CSV of metrics: numbers as numbers, empty fields as None."""
    return [
        {key: _value(field) for key, field in row.items() if key is not None}
        for row in csv.DictReader(io.StringIO(text))
    ]


def _value(field: str | None) -> Any:
    if not field:
        return None
    for kind in (int, float):
        try:
            return kind(field)
        except ValueError:
            continue
    return field


def fetch(
    client: ArenaClient, name: str, *, rows: int, metrics: Iterable[str] = ()
) -> tuple[str, list[dict[str, Any]]]:
    """Return the first rows of a run's metrics, as CSV and read; say when there may be more."""
    body, _, _ = client.preview_experiment_metrics_csv(
        name, preview_rows=rows, metrics=list(metrics) or None
    )
    text = body.decode("utf-8", errors="replace")
    found = read_rows(text)
    if rows >= MOST_ROWS:
        _say_when_capped(len(found))
    return text, found


def _say_when_capped(count: int) -> None:
    if count >= MOST_ROWS:
        note(f"warning: only the first {count:,} rows came, the most the service sends at once.")


def curve(rows: list[dict[str, Any]], metric: str) -> tuple[Points, Points]:
    """Return the best and the mean of a metric over the members, by the steps of one member."""
    by_x: dict[float, list[float]] = {}
    for number, row in enumerate(rows, 1):
        value = row.get(metric)
        if isinstance(value, int | float):
            x = next((row[key] for key in X_KEYS if isinstance(row.get(key), int | float)), number)
            by_x.setdefault(float(x), []).append(float(value))
    best = [(x, max(values)) for x, values in sorted(by_x.items())]
    mean = [(x, sum(values) / len(values)) for x, values in sorted(by_x.items())]
    return best, mean


def _plot(rows: list[dict[str, Any]], name: str, metrics: list[str]) -> None:
    from arena_sdk.cli.plot import line_chart
    from arena_sdk.text import safe_text

    for metric in metrics or ["fitness"]:
        best, mean = curve(rows, metric)
        if not best:
            known = sorted({key for row in rows for key in row})
            have = f"there are: {', '.join(known)}" if known else "there are none yet"
            raise Failure(f"{name} has no numbers for {metric!r}; {have}.")
        series = {"best": best, "mean": mean} if best != mean else {metric: best}
        title = f"{safe_text(name)} · {safe_text(metric)}"
        echo(line_chart(title, "environment steps of one member", series))


def _target(given: str | None, name: str, *, force: bool) -> Path:
    """Return the file to write; a path that cannot be written to is a mistake of usage."""
    path = Path(given or f"{name}_metrics.csv").expanduser()
    if path.is_dir():
        path = path / f"{name}_metrics.csv"
    if path.exists() and not force:
        raise Failure(
            f"{path} exists already: --force overwrites it, --output-file - prints the rows.", USAGE
        )
    folder = path.absolute().parent
    if not folder.is_dir():
        raise Failure(f"{path} cannot be written: there is no folder {folder}.", USAGE)
    if not os.access(folder, os.W_OK):
        raise Failure(f"{path} cannot be written: the folder {folder} is read-only.", USAGE)
    return path


def _download(
    client: ArenaClient, sink: Sink, name: str, path: Path, metrics: list[str], preview: int
) -> None:
    bar = ProgressBar("Downloading", quiet=sink.quiet)
    try:
        content, _, _ = client.preview_experiment_metrics_csv(
            name, preview_rows=MOST_ROWS, metrics=metrics or None, on_progress=bar
        )
    finally:
        bar.clear()
    count = content.count(b"\n", 0, len(content) - 1)  # of lines below the heading
    if not count:
        note(f"{name} has no metrics yet; no file was written.")
        return
    write_whole(path, path.name, content)
    _say_when_capped(count)
    if preview and not sink.quiet:
        _, rows = fetch(client, name, rows=preview, metrics=metrics)
        _print(sink, rows)
    note(f"Wrote {path}")


def _print(sink: Sink, rows: list[dict[str, Any]]) -> None:
    """Print rows; people read the time of one by the clock of this machine."""
    if sink.format == "table":
        rows = [row | {"time": _clock(row["time"])} if "time" in row else row for row in rows]
    sink.rows(rows, list(rows[0]) if rows else [])


def _clock(value: Any) -> Any:
    """Return a time in seconds since 1970 as date and time here; anything else as it is."""
    if not isinstance(value, int | float):
        return value
    try:
        return datetime.fromtimestamp(value).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return value


@click.command(cls=Command)
@name_argument("name", "experiment", picked=True)
@click.option(
    "--metric",
    "metrics_",
    multiple=True,
    shell_complete=complete("metric"),
    help="Only this metric; may be repeated.",
)
@click.option(
    "--output-file",
    type=click.Path(allow_dash=True),
    help="Where to; `-` is stdout.  [default: NAME_metrics.csv]",
)
@click.option(
    "--preview-rows",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Rows to show of what was written.",
)
@click.option("--force", is_flag=True, help="Overwrite the file.")
@click.option("--names", is_flag=True, help="Only list the metrics that there are.")
@click.option("--plot", is_flag=True, help="Only draw them; fitness when no metric is named.")
@click.option(
    "-o",
    "--output",
    "output_format",
    type=click.Choice(FORMATS),
    help="Print all rows in this format instead of writing a file.",
)
@click.option("--columns", default="", help="Comma-separated columns to print, in this order.")
@click.option("-q", "--quiet", is_flag=True, help="No preview.")
@pass_globals
def metrics(
    flags: Globals,
    name: str,
    metrics_: tuple[str, ...],
    output_file: str | None,
    preview_rows: int,
    force: bool,
    names: bool,
    plot: bool,
    output_format: str | None,
    columns: str,
    quiet: bool,
) -> None:
    """Write a run's metrics to a CSV file, one row a member and generation, and preview them.

    With --names, --plot, -o or `--output-file -` they go to stdout and no file is written.

    Example: arena experiments metrics lunar-lander-dqn --output-file metrics.csv
    """
    wanted = list(metrics_)
    picked = tuple(column.strip() for column in columns.split(",") if column.strip())
    sink = Sink(output_format or "table", picked, quiet)
    shown = names or plot or output_format or output_file == "-"
    target = None if shown else _target(output_file, name, force=force)
    with flags.client() as client:
        if target is not None:
            _download(client, sink, name, target, wanted, preview_rows)
        elif names:
            found = client.list_experiment_metric_names(name)
            sink.rows([{"metric": metric} for metric in found], ("metric",))
        else:
            text, rows = fetch(client, name, rows=MOST_ROWS, metrics=wanted)
            if plot:
                _plot(rows, name, wanted)
            elif output_format or picked:
                _print(sink, rows)
            else:
                echo(text, nl=False)
