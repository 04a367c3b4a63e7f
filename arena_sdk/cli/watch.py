"""Following a run: one line a generation where output is kept, a redrawn chart on a terminal."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arena_sdk.cli import exits
from arena_sdk.cli.lookup import experiment, state_of
from arena_sdk.cli.output import Sink, echo, end_if_unread, note
from arena_sdk.cli.plot import HEIGHT, can_plot, line_chart
from arena_sdk.text import safe_text

if TYPE_CHECKING:
    from arena_sdk import ArenaClient

STATES_THAT_FAILED = frozenset({"failed", "interrupted"})


def _number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


@dataclass
class Generation:
    """What the members of one generation reported."""

    number: int
    members: dict[int, dict[str, Any]] = field(default_factory=dict)

    def values(self, key: str) -> list[float]:
        """Return the finite values of one metric over the members."""
        found = [member.get(key) for member in self.members.values()]
        return [float(value) for value in found if isinstance(value, int | float)]

    @property
    def best(self) -> float | None:
        """The best fitness, or None when no member has one."""
        return max(self.values("fitness"), default=None)

    @property
    def mean(self) -> float | None:
        """The mean fitness, or None when no member has one."""
        fitness = self.values("fitness")
        return sum(fitness) / len(fitness) if fitness else None

    @property
    def steps(self) -> int:
        """Environment steps of the member that has the most."""
        return int(max(self.values("steps"), default=0))

    @property
    def total_steps(self) -> int:
        """Environment steps of all members together, through all generations."""
        return int(max(self.values("total_steps"), default=0))

    @property
    def speed(self) -> float | None:
        """Mean environment steps a second of one member."""
        speeds = self.values("steps_per_second")
        return sum(speeds) / len(speeds) if speeds else None


class Watcher:
    """Shows a run's records as they come."""

    def __init__(self, name: str, max_steps: int | None, *, chart: bool) -> None:
        self.name = name
        self.max_steps = max_steps
        self.chart = chart
        self.generations: dict[int, Generation] = {}
        self.state = ""
        self.error: str | None = None
        self._drawn_lines = 0
        self._told = 0
        self._lost = False

    def take(self, record: dict[str, Any]) -> None:
        """Take one record of the run."""
        data = record.get("data", {})
        if record["kind"] == "metrics":
            self._add_member(data)
        elif record["kind"] == "state":
            self.state = str(data.get("state", ""))
            self.error = data.get("error")
            if self.state == "queued" and data.get("reason"):
                note(safe_text(str(data["reason"])))
        elif record["kind"] == "warning" and not self.chart:
            note(f"warning: {data.get('message', '')}")

    def connection(self, state: str) -> None:
        """Say when the service is gone, and when it is back."""
        if state == "reconnecting" and not self._lost:
            note("The connection is lost; trying to get it back…")
            self._drawn_lines = 0  # the next picture goes below what was just said
        elif state != "reconnecting" and self._lost:
            note("Connected again.")
            self._drawn_lines = 0
        self._lost = state == "reconnecting"

    def finish(self) -> None:
        """Show the last generation."""
        self._tell_complete(len(self.generations))
        if self.chart:
            self._redraw()

    def _add_member(self, data: dict[str, Any]) -> None:
        number = int(data.get("generation") or len(self.generations) + 1)
        if number not in self.generations:
            self._tell_complete(len(self.generations))
            self.generations[number] = Generation(number)
        self.generations[number].members[int(data.get("member") or 0)] = data
        if self.chart:
            self._redraw()

    def _tell_complete(self, count: int) -> None:
        """Print the generations that are complete and have not been told."""
        for generation in list(self.generations.values())[self._told : count]:
            if not self.chart:
                echo(self._line(generation))
                end_if_unread()
        self._told = max(self._told, count)

    def _line(self, generation: Generation) -> str:
        budget = f"/{self.max_steps:,}" if self.max_steps else ""
        mutations = ", ".join(
            sorted({str(m["mutation"]) for m in generation.members.values() if m.get("mutation")})
        )
        return (
            f"generation {generation.number}  steps {generation.steps:,}{budget}"
            f"  total {generation.total_steps:,}  best {_number(generation.best)}"
            f"  mean {_number(generation.mean)}  {_number(generation.speed, 0)} steps/s"
            + (f"  mutations: {safe_text(mutations)}" if mutations else "")
        )

    def _redraw(self) -> None:
        done = list(self.generations.values())
        if not done:
            return
        lines = line_chart(
            f"{safe_text(self.name)} · fitness",
            "environment steps of one member",
            {
                "best": [(g.steps, g.best) for g in done if g.best is not None],
                "mean": [(g.steps, g.mean) for g in done if g.mean is not None],
            },
        ).splitlines()
        lines.append(self._line(done[-1])[: shutil.get_terminal_size().columns - 1])
        if self._drawn_lines:
            echo(f"\x1b[{self._drawn_lines}A\x1b[J", nl=False)
        echo("\n".join(lines))
        end_if_unread()
        self._drawn_lines = len(lines)


def watch(
    client: ArenaClient, name: str, *, chart: bool | None = None, quiet: bool = False
) -> dict[str, Any]:
    """Follow a run to its end.

    Args:
        client: An open client.
        name: The experiment.
        chart: Draw a chart; None means on a terminal that is large enough.
        quiet: Show nothing.

    Returns:
        The experiment as it ended.

    Raises:
        Failure: The run failed or was interrupted.
    """
    row = experiment(client, name)
    if chart is None:
        chart = can_plot() and shutil.get_terminal_size().lines > HEIGHT + 2
    watcher = Watcher(name, row.get("max_steps"), chart=chart)
    for record in client.watch_experiment(name, on_connection=watcher.connection):
        if not quiet:
            watcher.take(record)
    if not quiet:
        watcher.finish()
    return _ended(client, name, watcher.error)


def watch_silently(client: ArenaClient, name: str, sink: Sink) -> dict[str, Any]:
    """Follow a run to its end and print its records as data; see `watch`.

    NDJSON comes record by record, the other formats at the end. A record is one flat row: `seq`,
    `kind`, `time` and its own data.
    """
    experiment(client, name)
    kept: list[dict[str, Any]] = []
    teller = Watcher(name, None, chart=False)
    for record in client.watch_experiment(name, on_connection=teller.connection):
        row = {key: record.get(key) for key in ("seq", "kind", "time")} | record.get("data", {})
        if sink.format == "ndjson":
            sink.rows([row], sink.columns)  # a record lacks what others have
            end_if_unread()
        else:
            kept.append(row)
    if sink.format != "ndjson":
        sink.rows(kept, ("seq", "kind", "generation", "member", "steps", "fitness", "state"))
    return _ended(client, name, None)


def _ended(client: ArenaClient, name: str, error: str | None) -> dict[str, Any]:
    """Return an experiment that has ended; raise when it ended badly."""
    row = experiment(client, name)
    state = state_of(row)
    if state in STATES_THAT_FAILED:
        reason = row.get("error") or error or "no reason was given."
        if state == "interrupted":
            reason = (
                "the Arena ended while it ran; it goes on from its last checkpoint with"
                f" `arena experiments resume {name} --max-steps N`."
            )
        raise exits.Failure(f"{name} {state}: {reason}")
    return row
