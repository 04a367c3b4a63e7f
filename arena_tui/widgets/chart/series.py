"""What a chart holds: series with their looks, and marks on the x axis."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from arena_tui.theme import SeriesStyle
from arena_tui.widgets.chart.columns import Buffer, Column, Floats
from arena_tui.widgets.chart.smoothing import Smoother


@dataclass(frozen=True)
class Mark:
    """Something that happened, marked on the x axis.

    Attributes:
        x: Where.
        label: What, shown when the crosshair is there.
    """

    x: float
    label: str = ""


@dataclass(frozen=True)
class Guide:
    """A level line.

    Attributes:
        y: Value at which it stands.
        label: What it means.
    """

    y: float
    label: str = ""


def as_floats(values: ArrayLike) -> Floats:
    """Return numbers as floats, shape (n,); None becomes NaN."""
    try:
        return np.atleast_1d(np.asarray(values, np.float64)).ravel()
    except (TypeError, ValueError, OverflowError):
        return np.array([_as_float(value) for value in values], np.float64)  # type: ignore[union-attr]


def _as_float(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def keep_latest(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the points of one line: where x goes back, what was there before is replaced.

    That is what a resumed run does: it does some steps again, and the later ones count. Points
    whose x is no number are dropped. The x returned ascend strictly.
    """
    length = min(len(x), len(y))
    x, y = x[:length], y[:length]
    good = np.isfinite(x)
    if not good.all():
        x, y = x[good], y[good]
    if len(x) < 2 or bool((x[1:] > x[:-1]).all()):
        return x, y
    least_after = np.minimum.accumulate(x[::-1])[::-1]
    keep = np.append(x[:-1] < least_after[1:], True)
    return x[keep], y[keep]


def log_values(values: Floats) -> Floats:
    """Return log10 of values; what has none (zero, below, NaN) is NaN, a gap."""
    result = np.full(len(values), np.nan)
    good = values > 0
    result[good] = np.log10(values[good])
    return result


class Track:
    """What is drawn of a series under one scale and smoothing, kept up as points come."""

    def __init__(self, log: bool, weight: float) -> None:
        self.column = Column()
        self._log = log
        self._smoother = Smoother(weight)

    def extend(self, values: Floats) -> None:
        """Take the values beyond those already taken."""
        new = values[len(self.column) :]
        if len(new):
            self.column.append(self._smoother.push(log_values(new) if self._log else new))


@dataclass
class Series:
    """One line of a chart.

    Attributes:
        label: Its name in the legend.
        style: How it looks.
    """

    label: str
    style: SeriesStyle
    _x: Buffer = field(default_factory=Buffer)
    _y: Column = field(default_factory=Column)
    _tracks: dict[tuple[bool, float], Track] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._x)

    @property
    def x(self) -> Floats:
        """Places of the points, ascending strictly, shape (n,)."""
        return self._x.values

    @property
    def y(self) -> Floats:
        """Their values as they came, gaps as NaN, shape (n,)."""
        return self._y.values

    def replace(self, x: ArrayLike, y: ArrayLike) -> bool:
        """Take these points for all there are; False when they are the same as before.

        What continues the points there are is appended, which costs only as much as is new.
        """
        new_x, new_y = keep_latest(as_floats(x), as_floats(y))
        same = len(self) <= len(new_x) and self._starts_with(new_x, new_y)
        if not same:
            self._cut(0)
        old = len(self)
        self._add(new_x[old:], new_y[old:])
        return not same or len(self) > old

    def _starts_with(self, x: Floats, y: Floats) -> bool:
        count = len(self)
        y = np.where(np.isfinite(y[:count]), y[:count], np.nan)
        return bool(np.array_equal(self.x, x[:count])) and bool(
            np.array_equal(self.y, y, equal_nan=True)
        )

    def append(self, x: ArrayLike, y: ArrayLike) -> bool:
        """Add points; steps that are done again replace what was there. False for no points."""
        new_x, new_y = keep_latest(as_floats(x), as_floats(y))
        if not len(new_x):
            return False
        self._cut(int(np.searchsorted(self.x, new_x[0])))
        self._add(new_x, new_y)
        return True

    def _cut(self, length: int) -> None:
        if length < len(self):
            self._x.truncate(length)
            self._y.truncate(length)
            # A smoother cannot go back, so what was derived is derived again when it is needed.
            self._tracks.clear()

    def _add(self, x: Floats, y: Floats) -> None:
        self._x.append(x)
        self._y.append(y)

    def track(self, log: bool, weight: float) -> Column:
        """Return what is drawn under a scale and a smoothing, as long as the series."""
        if not log and weight == 0:
            return self._y
        key = (log, weight)
        if key not in self._tracks:
            # One raw and one smoothed track are all that are in use at once.
            for old in [old for old in self._tracks if old[0] != log or old[1] not in (0, weight)]:
                del self._tracks[old]
            self._tracks[key] = Track(log, weight)
        track = self._tracks[key]
        track.extend(self.y)
        return track.column

    def value_near(self, x: float) -> tuple[float, float] | None:
        """Return the point whose place is nearest to x, as (x, y); None without points."""
        if not len(self):
            return None
        at = int(np.searchsorted(self.x, x))
        if at == len(self) or (at > 0 and x - self.x[at - 1] <= self.x[at] - x):
            at -= 1
        return float(self.x[at]), float(self.y[at])

    def last(self) -> tuple[float, float] | None:
        """Return the last point, as (x, y); None without points."""
        return (float(self.x[-1]), float(self.y[-1])) if len(self) else None


class Band:
    """What lies between two lines over the same places.

    Attributes:
        label: Its name in the legend.
        style: How it looks.
    """

    def __init__(self, label: str, style: SeriesStyle) -> None:
        self.label, self.style = label, style
        self.low, self.high = Series(label, style), Series(label, style)

    def __len__(self) -> int:
        return len(self.low)

    def replace(self, x: ArrayLike, low: ArrayLike, high: ArrayLike) -> bool:
        """Take these points for all there are; False when they are the same as before."""
        changed = self.low.replace(x, low)
        return self.high.replace(x, high) or changed


def to_csv(series: Iterable[Series], x_name: str, y_name: str) -> str:
    """Return all points of some series as CSV with a header; gaps are empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["series", x_name, y_name])
    for line in series:
        for x, y in zip(line.x.tolist(), line.y.tolist(), strict=True):
            writer.writerow([line.label, repr(x), "" if math.isnan(y) else repr(y)])
    return out.getvalue()
