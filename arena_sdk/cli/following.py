"""`arena experiments watch`, `logs` and `wait`: what goes on with a run until its end."""

from __future__ import annotations

import math
import time
from typing import Any

import click

from arena_sdk._outage import Outage
from arena_sdk.cli.commands import Command
from arena_sdk.cli.context import Globals, pass_globals
from arena_sdk.cli.exits import NETWORK, Failure
from arena_sdk.cli.lookup import experiment, state_of
from arena_sdk.cli.names import name_argument
from arena_sdk.cli.output import Sink, echo, end_if_unread, note, with_sink
from arena_sdk.errors import ArenaError

POLL_SECONDS = 1.0
END_STATES = ("completed", "failed", "stopped", "interrupted")
STATES = ("queued", "running", "stopping", *END_STATES)


def refuse_nan(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Refuse `nan`, which lies in no range and passes every check of one."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is no number of seconds.", ctx, param)
    return value


@click.command(cls=Command)
@name_argument("name", "experiment", picked=True)
@with_sink
@pass_globals
def watch(flags: Globals, sink: Sink, name: str) -> None:
    """Follow a run to its end; exit 1 when it fails.

    A chart on a terminal, a line a generation elsewhere; `-o ndjson` prints every record as it
    comes, the other formats all of them at the end.

    Example: arena experiments watch lunar-lander-dqn -o ndjson
    """
    from arena_sdk.cli.watch import watch as follow
    from arena_sdk.cli.watch import watch_silently

    with flags.client() as client:
        if sink.format == "table" and not sink.columns:
            end = follow(client, name, quiet=sink.quiet)
        else:
            end = watch_silently(client, name, sink)
    steps = end.get("total_steps")
    note(f"{name} {state_of(end)}" + (f" after {steps:,} steps." if steps is not None else "."))


@click.command(cls=Command)
@name_argument("name", "experiment", picked=True)
@click.option("-f", "--follow", is_flag=True, help="Go on until the run ends.")
@click.option("-n", "--lines", type=click.IntRange(min=1), help="Only the last N lines.")
@with_sink
@pass_globals
def logs(flags: Globals, sink: Sink, name: str, follow: bool, lines: int | None) -> None:
    """Print what a run wrote.

    Example: arena experiments logs lunar-lander-dqn -f
    """
    if follow and sink.format not in ("table", "ndjson"):
        raise click.UsageError(
            f"What goes on cannot be one document: -f goes with -o ndjson, not -o {sink.format}."
        )
    shown = _Lines(sink)
    with flags.client() as client:
        after = 0
        kept: list[str] = []
        while True:
            page = client.experiment_logs(name, after=after)
            if lines is None:
                shown.take(page["lines"])
            else:
                kept = (kept + page["lines"])[-lines:]
            after = page["next"]
            if page["lines"]:
                continue
            shown.take(kept)
            kept, lines = [], None
            if page["ended"] or not follow:
                shown.finish()
                return
            end_if_unread()
            time.sleep(POLL_SECONDS)


class _Lines:
    """Prints the lines of a log, each as it comes where the format allows it."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._kept: list[dict[str, str]] = []

    def take(self, lines: list[str]) -> None:
        """Print lines, or keep them for a format that prints all at once."""
        from arena_sdk.text import safe_text

        rows = [{"line": line} for line in lines]
        if self._sink.format == "table":
            for line in lines:
                echo(safe_text(line, newlines=True))
        elif self._sink.format == "ndjson":
            self._sink.rows(rows, ("line",))
        else:
            self._kept += rows

    def finish(self) -> None:
        """Print what was kept."""
        if self._sink.format not in ("table", "ndjson"):
            self._sink.rows(self._kept, ("line",))


class _Asking:
    """Asks for one run again and again; a service that goes away is given time to come back."""

    def __init__(self, flags: Globals, name: str) -> None:
        self._flags = flags
        self._name = name
        self._outage = Outage()
        self._client = flags.client()

    def __enter__(self) -> _Asking:
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()

    def row(self, deadline: float | None) -> dict[str, Any]:
        """Return the run as it is now, however long the service was away within its bounds.

        Args:
            deadline: When to wait no longer, by `time.monotonic`.
        """
        lost = False
        while True:
            try:
                found = experiment(self._client, self._name)
            except ArenaError as error:
                pause = self._outage.wait_after(error)
                if deadline is not None and time.monotonic() + pause > deadline:
                    raise
                if not lost:
                    note("The connection is lost; trying to get it back…")
                lost = True
                time.sleep(pause)
                self._refind()
                continue
            if self._outage.over():
                note("Connected again.")
            return found

    def _refind(self) -> None:
        """Go on with the Arena of this machine where it is now, when it was found in its files."""
        from arena_sdk._local_server import local_info_path, local_server

        server = local_server()
        if server is None or self._client.settings.url_origin != str(local_info_path()):
            return
        if server.url != self._client.base_url:
            self._client.close()
            self._client = self._flags.client()


@click.command(cls=Command)
@name_argument("name", "experiment", picked=True)
@click.option(
    "--until",
    type=click.Choice(STATES),
    default="completed",
    show_default=True,
    help="The state to wait for.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, max=1e9),
    callback=refuse_nan,
    help="Seconds to wait; without end when left out.",
)
@pass_globals
def wait(flags: Globals, name: str, until: str, timeout: float | None) -> None:
    """Wait until a run is in a state; exit 1 when it ends in another, 5 at the time-out.

    Example: arena experiments wait lunar-lander-dqn --until completed --timeout 3600
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    with _Asking(flags, name) as asking:
        while True:
            row = asking.row(deadline)
            state = state_of(row)
            if state == until:
                return
            if state in END_STATES:
                reason = f": {row['error']}" if row.get("error") else ""
                raise Failure(f"{name} is {state}, not {until}{reason}")
            left = math.inf if deadline is None else deadline - time.monotonic()
            if left <= 0:
                still = f"still {state}" if state else "in no state that the service tells"
                raise Failure(f"{name} is {still} after {timeout:g} s.", NETWORK)
            time.sleep(min(POLL_SECONDS, left))
