"""Points to columns of dots: every column keeps its minimum and maximum, so no spike is lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena_tui.widgets.chart.columns import Column, Floats, Ints

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Buckets:
    """What falls into each column of dots; all arrays have shape (columns,).

    Attributes:
        low, high: Extrema, NaN where nothing finite falls.
        first, last: First and last value, NaN where that is a gap or nothing falls.
        filled: Whether any point falls, gap or not.
        single: Whether exactly one finite point falls.
        gap: Whether a gap falls.
        start, end: Indices of the first point in view and after the last one.
        before, after: The nearest points out of view as (column, value), when the line goes on to
            them.
    """

    low: Floats
    high: Floats
    first: Floats
    last: Floats
    filled: Bools
    single: Bools
    gap: Bools
    start: int
    end: int
    before: tuple[float, float] | None
    after: tuple[float, float] | None

    @property
    def extent(self) -> tuple[float, float] | None:
        """The least and the greatest value in view, None without any."""
        if not np.isfinite(self.low).any():
            return None
        return float(np.nanmin(self.low)), float(np.nanmax(self.high))


def decimate(x: Floats, column: Column, left: float, right: float, columns: int) -> Buckets:
    """Sort points into columns of dots.

    Args:
        x: Places of the points, ascending, shape (n,).
        column: Their values, n of them.
        left: Where the view begins.
        right: Where it ends; what is exactly there falls into the last column.
        columns: How many columns of dots there are.
    """
    edges = left + (right - left) * (np.arange(columns + 1) / columns)
    bounds: Ints = np.searchsorted(x, edges, side="left").astype(np.int64)
    bounds[0] = np.searchsorted(x, left, side="left")
    bounds[-1] = np.searchsorted(x, right, side="right")
    np.maximum.accumulate(bounds, out=bounds)
    starts, ends = bounds[:-1], bounds[1:]
    filled = ends > starts
    low, high = column.extrema(starts, ends)
    gaps = column.gap_counts(starts, ends)
    values = column.values
    first, last = np.full(columns, np.nan), np.full(columns, np.nan)
    first[filled] = values[starts[filled]]
    last[filled] = values[ends[filled] - 1]
    start, end = int(bounds[0]), int(bounds[-1])
    scale = columns / (right - left)

    def outside(at: int) -> tuple[float, float] | None:
        if not 0 <= at < len(x) or not np.isfinite(values[at]):
            return None
        return (float(x[at]) - left) * scale - 0.5, float(values[at])

    return Buckets(
        low=low,
        high=high,
        first=first,
        last=last,
        filled=filled,
        single=(ends - starts - gaps) == 1,
        gap=gaps > 0,
        start=start,
        end=end,
        before=outside(start - 1),
        after=outside(end),
    )


def links(buckets: Buckets) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the lines between columns as (x from, y from, x to, y to), each of shape (m,).

    A line joins the last value of a column to the first of the next one that has points, unless
    either is a gap; then the line is broken there.
    """
    at = np.flatnonzero(buckets.filled)
    from_x, from_y = at.astype(np.float64), buckets.last[at]
    to_x, to_y = from_x, buckets.first[at]
    if buckets.before is not None:
        from_x, from_y = np.append(buckets.before[0], from_x), np.append(buckets.before[1], from_y)
    elif len(to_x):
        to_x, to_y = to_x[1:], to_y[1:]
    if buckets.after is not None:
        to_x, to_y = np.append(to_x, buckets.after[0]), np.append(to_y, buckets.after[1])
    elif len(from_x):
        from_x, from_y = from_x[:-1], from_y[:-1]
    good = np.isfinite(from_y) & np.isfinite(to_y)
    return from_x[good], from_y[good], to_x[good], to_y[good]
