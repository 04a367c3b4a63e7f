"""Metrics of a run as NumPy columns that only grow at their end.

A row is what one member reported in one generation. Members are keyed by their own id, never by
their place in a list, because selection moves them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

AXES = ("steps", "total_steps", "generation", "time")
"""What a row has a place on."""
RELATIVE = {"relative_steps": "steps", "relative_time": "time"}
"""What is counted from a run's first report, and which column that is of."""

_NOT_METRICS = frozenset({"member", "parent", "mutation", "generation", "steps", "total_steps"})


class Column:
    """Floats in an array that doubles when it is full."""

    __slots__ = ("_length", "_values")

    def __init__(self, length: int = 0) -> None:
        """Make a column of `length` gaps (NaN)."""
        self._values: NDArray[np.float64] = np.full(max(16, length), np.nan)
        self._length = length

    def __len__(self) -> int:
        return self._length

    def append(self, value: float) -> None:
        """Add one value at the end."""
        if self._length == len(self._values):
            grown = np.full(2 * len(self._values), np.nan)
            grown[: self._length] = self._values
            self._values = grown
        self._values[self._length] = value
        self._length += 1

    def truncate(self, length: int) -> None:
        """Drop what is beyond `length` values."""
        self._length = min(length, self._length)

    @property
    def values(self) -> NDArray[np.float64]:
        """The values, shape (length,), float64; a view, not to be written to."""
        return self._values[: self._length]


def as_float(value: Any) -> float:
    """Return a JSON number, or one of the words for what JSON cannot hold, as a float."""
    if isinstance(value, bool) or value is None:
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def flatten(data: dict[str, Any]) -> dict[str, float]:
    """Return the metrics of one member's report by name, losses and hyperparameters among them."""
    metrics: dict[str, float] = {}
    for name, value in data.items():
        if name in _NOT_METRICS:
            continue
        if isinstance(value, dict):
            metrics.update({str(key): as_float(item) for key, item in value.items()})
        elif isinstance(value, int | float) or value is None or value in _WORDS:
            metrics[name] = as_float(value)
    return metrics


_WORDS = ("NaN", "Infinity", "-Infinity")


class MemberRows:
    """All that one member reported, as columns of one length."""

    def __init__(self, member: int) -> None:
        self.member = member
        self.columns: dict[str, Column] = {name: Column() for name in AXES}
        self.parent: int | None = None
        self.mutations: list[tuple[int, str]] = []
        self.last: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self.columns["generation"])

    @property
    def generation(self) -> int:
        """The last generation that it reported, 0 before the first."""
        done = self.columns["generation"].values
        return int(done[-1]) if len(done) else 0

    def add(self, data: dict[str, Any], when: float) -> None:
        """Add a report, which must be of a later generation than those before."""
        generation = as_float(data.get("generation"))
        row = len(self)
        self.columns["generation"].append(generation)
        self.columns["steps"].append(as_float(data.get("steps")))
        self.columns["total_steps"].append(as_float(data.get("total_steps")))
        self.columns["time"].append(when)
        metrics = flatten(data)
        for name in metrics:
            if name not in self.columns:
                self.columns[name] = Column(row)
        for name, column in self.columns.items():
            if name not in AXES:
                column.append(metrics.get(name, float("nan")))
        if isinstance(data.get("parent"), int):
            self.parent = data["parent"]
        if data.get("mutation"):
            self.mutations.append((int(generation), str(data["mutation"])))
        self.last = data

    def drop_from(self, generation: float) -> bool:
        """Drop what was reported of this generation and of later ones; tells if there was any."""
        done = self.columns["generation"].values
        if not len(done) or done[-1] < generation:
            return False
        keep = int(np.searchsorted(done, generation))
        for column in self.columns.values():
            column.truncate(keep)
        self.mutations = [item for item in self.mutations if item[0] < generation]
        return True


class RunColumns:
    """The metrics of one run.

    Attributes:
        members: Rows by member id, in order of first report.
        metric_names: Names of metrics in order of first report.
        version: Grows with every change that is more than rows at the end.
    """

    def __init__(self) -> None:
        self.members: dict[int, MemberRows] = {}
        self.metric_names: list[str] = []
        self.version = 0
        self._reached = 0

    def add(self, data: dict[str, Any], when: float) -> None:
        """Add what one member reported in one generation.

        Generations come in order. One that comes before the last, or twice of a member, is of a run
        that was resumed: what was reported of it and of later ones is superseded, also that of
        members that are not born this time.
        """
        member, generation = int(data["member"]), as_float(data.get("generation"))
        rows = self.members.get(member)
        again = rows is not None and len(rows) > 0 and rows.generation >= generation
        if again or generation < self.generation:
            self.rewind(generation - 1)
        rows = self.members.get(member)
        if rows is None:
            rows = self.members[member] = MemberRows(member)
        rows.add(data, when)
        self._reached = max(self._reached, rows.generation)
        known = set(self.metric_names)
        self.metric_names.extend(name for name in rows.columns if name not in known | set(AXES))

    def rewind(self, generation: float) -> None:
        """Go back to the end of a generation, from which a run is trained on."""
        dropped = [rows.drop_from(generation + 1) for rows in self.members.values()]
        if any(dropped):
            self.members = {member: rows for member, rows in self.members.items() if len(rows)}
            self._reached = max((rows.generation for rows in self.members.values()), default=0)
            self.version += 1

    def series(self, metric: str, axis: str) -> Iterable[tuple[int, Any, Any]]:
        """Yield (member id, x values, y values) of one metric, float64 arrays of one shape."""
        for member, rows in self.members.items():
            if metric in rows.columns:
                yield member, self.places(rows, axis), rows.columns[metric].values

    def places(self, rows: MemberRows, axis: str) -> NDArray[np.float64]:
        """Return where a member's rows are along an axis, one of `AXES` or of `RELATIVE`."""
        name = RELATIVE.get(axis)
        if name is None:
            return rows.columns[axis].values
        return rows.columns[name].values - self.origin(name)

    def origin(self, name: str) -> float:
        """Return the place of the run's first report; NaN before that."""
        first = [float(rows.columns[name].values[0]) for rows in self.members.values() if len(rows)]
        known = [value for value in first if value == value]
        return min(known, default=float("nan"))

    def line(
        self, member: int, metric: str, axis: str
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return x and y of a member and of its ancestors before it, float64 of one shape."""
        xs: list[NDArray[np.float64]] = []
        ys: list[NDArray[np.float64]] = []
        born = np.inf
        seen: set[int] = set()
        at: int | None = member
        while at is not None and at not in seen and (rows := self.members.get(at)) is not None:
            seen.add(at)
            generation = rows.columns["generation"].values
            keep = generation < born
            if metric in rows.columns:
                xs.insert(0, self.places(rows, axis)[keep])
                ys.insert(0, rows.columns[metric].values[keep])
            if len(generation):
                born = min(born, float(generation[0]))
            at = rows.parent
        return (np.concatenate(xs), np.concatenate(ys)) if xs else (np.empty(0), np.empty(0))

    def gather(self, name: str) -> NDArray[np.float64]:
        """Return one column of all members, one after the other, NaN where a member has none."""
        parts = [
            self.places(rows, name)
            if name in rows.columns or name in RELATIVE
            else np.full(len(rows), np.nan)
            for rows in self.members.values()
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(map(len, self.members.values()))

    @property
    def generation(self) -> int:
        """The last generation that any member reported, 0 before the first."""
        return self._reached

    @property
    def living(self) -> list[MemberRows]:
        """The members that reported in the last generation, by their ids."""
        last = self.generation
        living = [rows for rows in self.members.values() if rows.generation == last]
        return sorted(living, key=lambda rows: rows.member)


@dataclass(frozen=True)
class Spread:
    """One metric over the generations, of all members together; float64 arrays of one shape.

    Attributes:
        x: Place on the x axis: the furthest member's in each generation.
        best: The value of the member that was fittest.
        mean: Mean over the members that have one.
        low: Least value.
        high: Greatest value.
    """

    x: NDArray[np.float64]
    best: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def spread(columns: RunColumns, metric: str, axis: str) -> Spread:
    """Return how one metric was spread over the members in each generation."""
    generation = columns.gather("generation")
    slots, slot = np.unique(generation[np.isfinite(generation)], return_inverse=True)
    count = len(slots)
    value = columns.gather(metric)[np.isfinite(generation)]
    place = columns.gather(axis)[np.isfinite(generation)]
    fitness = columns.gather("fitness")[np.isfinite(generation)]
    known = np.isfinite(value)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, slot[known], value[known])
    np.maximum.at(high, slot[known], value[known])
    members = np.bincount(slot[known], minlength=count)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(slot[known], value[known], minlength=count) / members
    x = np.full(count, -np.inf)
    np.fmax.at(x, slot, place)
    # Sorted by fitness, the last one written to a slot is the fittest of its generation.
    order = np.argsort(np.where(np.isfinite(fitness), fitness, -np.inf), kind="stable")
    best = np.full(count, np.nan)
    best[slot[order]] = value[order]
    none = members == 0
    low[none] = high[none] = np.nan
    return Spread(x, best, mean, low, high)
