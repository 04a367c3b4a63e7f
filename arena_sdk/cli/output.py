"""The one output sink: data to stdout in the format asked for, everything else to stderr."""

from __future__ import annotations

import csv
import functools
import io
import json
import math
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Concatenate, ParamSpec, TypeVar

import click

from arena_sdk.text import safe_text

FORMATS = ("table", "json", "ndjson", "csv", "yaml")
GAP = "  "

Params = ParamSpec("Params")
Result = TypeVar("Result")
Row = Mapping[str, Any]


def echo(text: str = "", *, nl: bool = True, err: bool = False) -> None:
    """Write text to stdout or stderr, in the encoding that it has.

    Left to choose the stream, click writes UTF-8 where the locale says ASCII.
    """
    stream = sys.stderr if err else sys.stdout
    try:
        click.echo(text, file=stream, nl=nl)
    except BrokenPipeError:
        write_nowhere(stream)


def write_nowhere(stream: IO[str]) -> None:
    """Go on without the reader of a stream that has gone.

    What a command finds out still is its exit code: a pipe that was closed makes no yes of a no.
    Python would flush the closed pipe once more on the way out and print a traceback.
    """
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, stream.fileno())
    os.close(devnull)
    if stream is sys.stdout:
        _unread.append(True)


_unread: list[bool] = []


def end_if_unread() -> None:
    """End a command that goes on and on once nobody reads what it prints.

    Raises:
        BrokenPipeError: The reader of stdout has gone.
    """
    if _unread:
        raise BrokenPipeError


def note(message: str) -> None:
    """Say something about the work on stderr."""
    echo(safe_text(message, newlines=True), err=True)


def on_terminal() -> bool:
    """Tell whether stdout is a terminal, where pictures and colours make sense."""
    return sys.stdout.isatty()


def shows_unicode() -> bool:
    """Tell whether stdout takes every character; where not, JSON and YAML escape them."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def styled(text: str, stream: IO[str], **style: Any) -> str:
    """Return text in a colour or weight, where the stream is a terminal that should show it.

    Args:
        text: Harmless already.
        stream: Where it will be written.
        **style: As for `click.style`.
    """
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return click.style(text, **style)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e5 else f"{value:,.0f}"
    if isinstance(value, Mapping | list | tuple) or hasattr(value, "model_dump"):
        return safe_text(json.dumps(plain(value), ensure_ascii=False))
    return safe_text(value)


def plain(value: Any) -> Any:
    """Return the value as what JSON and YAML can write, losing nothing."""
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return plain(dump(mode="json"))
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)


def as_row(value: Any) -> dict[str, Any]:
    """Return an answer of the service, in whatever form the client gives it, as a row."""
    row: dict[str, Any] = plain(value)
    return row


def cells_wide(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1
        for character in text
    )


def _padded(text: str, width: int, *, right: bool) -> str:
    space = " " * (width - cells_wide(text))
    return space + text if right else text + space


def table_lines(
    rows: Sequence[Row], columns: Sequence[str], headings: Sequence[str] | None = None
) -> list[str]:
    """Lay rows out in columns two spaces apart; numbers to the right, nothing truncated.

    Args:
        rows: One mapping a line.
        columns: The keys to show.
        headings: What stands above them; the keys in capitals when None.
    """
    above = [safe_text(text) for text in headings or [column.upper() for column in columns]]
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    widths = [
        max([cells_wide(heading), *(cells_wide(line[index]) for line in cells)])
        for index, heading in enumerate(above)
    ]
    numeric = [
        all(
            isinstance(row.get(column), int | float) and not isinstance(row.get(column), bool)
            for row in rows
            if row.get(column) is not None
        )
        and any(row.get(column) is not None for row in rows)
        for column in columns
    ]

    def line(texts: Sequence[str]) -> str:
        return GAP.join(
            _padded(text, width, right=right)
            for text, width, right in zip(texts, widths, numeric, strict=True)
        ).rstrip()

    return [line(above), *(line(texts) for texts in cells)]


def spread(thing: Row, path: str = "") -> dict[str, Any]:
    """Return a thing with what is nested in it by dotted paths, for people to read."""
    found: dict[str, Any] = {}
    for key, value in thing.items():
        where = f"{path}{key}"
        if isinstance(value, Mapping) and value:
            found |= spread(value, f"{where}.")
        elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            found |= {f"{where}[{index}]": item for index, item in enumerate(value)}
        else:
            found[where] = value
    return found


def record_lines(row: Row, keys: Sequence[str]) -> list[str]:
    """Lay one row out with a key and its value a line."""
    width = max((len(key) for key in keys), default=0)
    return [f"{safe_text(key).ljust(width)}{GAP}{_cell(row.get(key))}".rstrip() for key in keys]


@dataclass
class Sink:
    """Writes a command's data to stdout."""

    format: str = "table"
    columns: tuple[str, ...] = ()
    quiet: bool = False
    done: bool = False
    """Whether the work is done by the time that there is something to print. An unknown column is
    no reason then to fail: the answer is printed whole, and a warning with it."""

    def rows(
        self,
        rows: Iterable[Row],
        columns: Sequence[str],
        *,
        empty: str = "",
        headings: Sequence[str] | None = None,
    ) -> None:
        """Print a list of things.

        Args:
            rows: One mapping a thing; machine formats print all of its keys.
            columns: The keys that a table shows, unless `--columns` says otherwise.
            empty: What to say on stderr when a table would be empty.
            headings: What stands above the columns of a table; the keys in capitals when None.
        """
        rows = list(rows)
        chosen = self._chosen(rows, columns)
        if self.format == "json":
            self._json([self._pick(row) for row in rows])
        elif self.format == "ndjson":
            for row in rows:
                self._json_line(self._pick(row))
        elif self.format == "yaml":
            self._yaml([self._pick(row) for row in rows])
        elif self.format == "csv":
            self._csv(rows, chosen)
        elif self.quiet:
            for row in rows:
                echo(_cell(row.get(chosen[0])))
        elif rows:
            self._table(rows, chosen, None if self.columns else headings)
        elif empty:
            note(empty)

    def one(self, thing: Row, columns: Sequence[str] = ()) -> None:
        """Print one thing: a line a key in a table, a document in the machine formats.

        Args:
            thing: The thing; machine formats print all of its keys.
            columns: The keys that a table shows, unless `--columns` says otherwise; all when empty.
        """
        chosen = self._chosen([thing], columns or list(thing))
        if self.format == "json":
            self._json(self._pick(thing))
        elif self.format == "ndjson":
            self._json_line(self._pick(thing))
        elif self.format == "yaml":
            self._yaml(self._pick(thing))
        elif self.format == "csv":
            self._csv([thing], self._chosen([thing], list(thing)))
        elif self.quiet:
            for key in chosen[:1]:
                echo(_cell(thing.get(key)))
        elif chosen:
            shown = spread({key: thing[key] for key in chosen if key in thing})
            echo("\n".join(record_lines(shown, list(shown))))

    def value(self, value: Any) -> None:
        """Print a single value, bare in a table."""
        if self.format in ("json", "ndjson"):
            self._json_line(value)
        elif self.format == "yaml":
            self._yaml(value)
        else:
            echo(_cell(value))

    def _table(
        self, rows: Sequence[Row], columns: Sequence[str], headings: Sequence[str] | None
    ) -> None:
        """Print a table; on a terminal too narrow for it, each row as a block of its own."""
        lines = table_lines(rows, columns, headings)
        if on_terminal():
            if max(map(cells_wide, lines)) > shutil.get_terminal_size().columns:
                blocks = ["\n".join(record_lines(row, columns)) for row in rows]
                echo("\n\n".join(blocks))
                return
            lines[0] = styled(lines[0], sys.stdout, bold=True)
        echo("\n".join(lines))

    def _chosen(self, rows: Sequence[Row], columns: Sequence[str]) -> Sequence[str]:
        if not self.columns:
            return columns
        known = {key for row in rows for key in row} | set(columns)
        for column in self.columns:
            if column not in known and rows:
                problem = (
                    f"There is no column {column!r}; there are:"
                    f" {safe_text(', '.join(sorted(known)))}."
                )
                if not self.done:
                    raise click.UsageError(problem)
                note(f"warning: {problem}")
                self.columns = ()
                return columns
        return self.columns

    def _pick(self, row: Row) -> Row:
        return {key: row.get(key) for key in self.columns} if self.columns else row

    def _json(self, value: Any) -> None:
        echo(json.dumps(plain(value), ensure_ascii=not shows_unicode(), indent=2))

    def _json_line(self, value: Any) -> None:
        echo(json.dumps(plain(value), ensure_ascii=not shows_unicode()))

    def _yaml(self, value: Any) -> None:
        import yaml

        text = yaml.safe_dump(plain(value), allow_unicode=shows_unicode(), sort_keys=False)
        echo(text.removesuffix("...\n"), nl=False)

    def _csv(self, rows: Sequence[Row], columns: Sequence[str]) -> None:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            values = [plain(row.get(key)) for key in columns]
            writer.writerow(
                json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
                for value in values
            )
        echo(buffer.getvalue(), nl=False)


def with_sink(
    command: Callable[Concatenate[Sink, Params], Result],
    *,
    default: str = "table",
    done: bool = False,
) -> Callable[..., Result]:
    """Add `-o/--output`, `--columns` and `--quiet` to a command and hand it the sink first.

    Args:
        command: Takes the sink.
        default: The format when none is asked for.
        done: Whether the command has done its work by the time that it prints.
    """

    @click.option(
        "-o",
        "--output",
        "output_format",
        type=click.Choice(FORMATS),
        default=default,
        show_default=True,
        help="How to print the data.",
    )
    @click.option("--columns", default="", help="Comma-separated keys to print, in this order.")
    @click.option("-q", "--quiet", is_flag=True, help="Only the first column, no heading.")
    @functools.wraps(command)
    def wrapped(*args: Any, output_format: str, columns: str, quiet: bool, **kwargs: Any) -> Result:
        picked = tuple(name.strip() for name in columns.split(",") if name.strip())
        return command(Sink(output_format, picked, quiet, done), *args, **kwargs)

    return wrapped


def with_json_sink(command: Callable[Concatenate[Sink, Params], Result]) -> Callable[..., Result]:
    """Do as `with_sink` does, with JSON as what is printed unless something else is asked for."""
    return with_sink(command, default="json")


def with_closing_sink(
    command: Callable[Concatenate[Sink, Params], Result],
) -> Callable[..., Result]:
    """Do as `with_sink` does, for a command that prints what it has changed or found out."""
    return with_sink(command, done=True)
