"""Append-only columns of floats that know the extrema of any of their ranges at once.

A pyramid of minima and maxima stands over the values: each level has one entry for sixteen of the
level below, so the extrema of a range of any length are found by looking at some dozens of entries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FACTOR = 16
"""Entries of a level that one entry of the level above stands for."""

_OFFSETS = np.arange(FACTOR)[:, None]

_AT_ONCE = 512
"""Entries a range, on average, that are read rather than going up a level."""


class Buffer:
    """Floats in an array that doubles when it is full."""

    __slots__ = ("_array", "_length")

    def __init__(self) -> None:
        self._array: Floats = np.empty(FACTOR)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> Floats:
        """The values, shape (length,); a view."""
        return self._array[: self._length]

    def append(self, values: Floats) -> None:
        """Add values at the end."""
        length = self._length + len(values)
        if length > len(self._array):
            grown = np.empty(max(length, 2 * len(self._array)))
            grown[: self._length] = self.values
            self._array = grown
        self._array[self._length : length] = values
        self._length = length

    def truncate(self, length: int) -> None:
        """Drop what is beyond `length` values."""
        self._length = min(self._length, length)


def _blocks(values: Floats) -> Floats:
    """Return values as rows of `FACTOR`, the last filled up with NaN."""
    missing = -len(values) % FACTOR
    if missing:
        values = np.concatenate([values, np.full(missing, np.nan)])
    return values.reshape(-1, FACTOR)


class Column:
    """Floats with a pyramid of extrema; NaN and infinity are both kept as NaN, a gap."""

    def __init__(self) -> None:
        self._values = Buffer()
        self._gaps = Buffer()
        self._lows: list[Buffer] = []
        self._highs: list[Buffer] = []

    def __len__(self) -> int:
        return len(self._values)

    @property
    def values(self) -> Floats:
        """The values, shape (length,), float64; a view."""
        return self._values.values

    @property
    def gaps(self) -> Floats:
        """Indices of the gaps, ascending."""
        return self._gaps.values

    def append(self, values: Floats) -> None:
        """Add values at the end, shape (n,)."""
        start = len(self)
        bad = ~np.isfinite(values)
        if bad.any():
            values = np.where(bad, np.nan, values)
            self._gaps.append((np.flatnonzero(bad) + start).astype(np.float64))
        self._values.append(values)
        self._raise(start)

    def truncate(self, length: int) -> None:
        """Drop what is beyond `length` values."""
        if length >= len(self):
            return
        self._values.truncate(length)
        self._gaps.truncate(int(np.searchsorted(self.gaps, length)))
        self._raise(length)

    def _raise(self, changed: int) -> None:
        """Bring the pyramid up to date from the value at `changed` on."""
        below_low = below_high = self._values
        level = 0
        while len(below_low) > 2 * FACTOR:
            if level == len(self._lows):
                self._lows.append(Buffer())
                self._highs.append(Buffer())
            changed = min(changed // FACTOR, len(self._lows[level]))
            start = changed * FACTOR
            low, high = self._lows[level], self._highs[level]
            low.truncate(changed)
            low.append(np.fmin.reduce(_blocks(below_low.values[start:]), axis=1))
            high.truncate(changed)
            high.append(np.fmax.reduce(_blocks(below_high.values[start:]), axis=1))
            below_low, below_high = low, high
            level += 1
        del self._lows[level:], self._highs[level:]

    def gap_counts(self, starts: Ints, ends: Ints) -> Ints:
        """Return how many gaps are in each range [start, end), shape (n,)."""
        if not len(self._gaps):
            return np.zeros(len(starts), np.int64)
        return np.searchsorted(self.gaps, ends) - np.searchsorted(self.gaps, starts)

    def extrema(self, starts: Ints, ends: Ints) -> tuple[Floats, Floats]:
        """Return minimum and maximum of each range [start, end), both of shape (n,).

        NaN stands for a range that is empty or has nothing but gaps. The cost does not depend on
        the lengths of the ranges.
        """
        lows = np.full(len(starts), np.nan)
        highs = np.full(len(starts), np.nan)
        lanes = np.flatnonzero(ends > starts)
        start, end = starts[lanes], ends[lanes]
        level = 0
        # What is left to read is read at once; until it is little enough, the ragged ends of each
        # range are read here and the rest one level up.
        while (
            len(lanes) and level < len(self._lows) and (end - start).sum() > _AT_ONCE * len(lanes)
        ):
            inner_start, inner_end = -(-start // FACTOR) * FACTOR, end // FACTOR * FACTOR
            short = inner_start >= inner_end
            head_end = np.where(short, np.minimum(start + FACTOR, end), inner_start)
            tail = np.where(short, head_end, inner_end)
            low, high = self._ragged(level, start, head_end, tail, end)
            lows[lanes] = np.fmin(lows[lanes], low)
            highs[lanes] = np.fmax(highs[lanes], high)
            lanes, level = lanes[~short], level + 1
            start, end = inner_start[~short] // FACTOR, inner_end[~short] // FACTOR
        if len(lanes):
            low_at, high_at = self._level(level)
            low, high = (
                _reduced(np.fmin, low_at, start, end),
                _reduced(np.fmax, high_at, start, end),
            )
            lows[lanes] = np.fmin(lows[lanes], low)
            highs[lanes] = np.fmax(highs[lanes], high)
        return lows, highs

    def extent(self, start: int, end: int) -> tuple[float, float] | None:
        """Return minimum and maximum of one range [start, end), None without a finite value."""
        lows: list[float] = []
        highs: list[float] = []
        level = 0
        while start < end:
            low_at, high_at = self._level(level)
            inner_start, inner_end = -(-start // FACTOR) * FACTOR, end // FACTOR * FACTOR
            if level == len(self._lows) or inner_start >= inner_end:
                pieces = [slice(start, end)]
                start = end
            else:
                pieces = [slice(start, inner_start), slice(inner_end, end)]
                start, end, level = inner_start // FACTOR, inner_end // FACTOR, level + 1
            for piece in pieces:
                if piece.start < piece.stop:
                    lows.append(float(np.fmin.reduce(low_at[piece])))
                    highs.append(float(np.fmax.reduce(high_at[piece])))
        finite = [value for value in lows if value == value]
        if not finite:
            return None
        return min(finite), max(value for value in highs if value == value)

    def _ragged(
        self, level: int, start: Ints, head_end: Ints, tail: Ints, end: Ints
    ) -> tuple[Floats, Floats]:
        """Return extrema of [start, head_end) and [tail, end) together, each up to FACTOR long."""
        low_at, high_at = self._level(level)
        index = np.concatenate([start + _OFFSETS, tail + _OFFSETS])
        outside = np.concatenate([index[:FACTOR] >= head_end, index[FACTOR:] >= end])
        np.minimum(index, len(low_at) - 1, out=index)
        low = low_at[index]
        low[outside] = np.nan
        high = low
        if level:
            high = high_at[index]
            high[outside] = np.nan
        return np.fmin.reduce(low, axis=0), np.fmax.reduce(high, axis=0)

    def _level(self, level: int) -> tuple[Floats, Floats]:
        if level == 0:
            return self.values, self.values
        return self._lows[level - 1].values, self._highs[level - 1].values

    def count_outside(self, start: int, end: int, low: float, high: float) -> tuple[int, int]:
        """Return how many values of [start, end) are below `low` and how many above `high`.

        Only blocks whose extrema leave the limits are looked into.
        """
        if not self._lows:
            return _outside(self.values[start:end], low, high)
        first, last = -(-start // FACTOR), end // FACTOR
        if first >= last:
            return _outside(self.values[start:end], low, high)
        below, above = _outside(self.values[start : first * FACTOR], low, high)
        lows = self._lows[0].values[first:last]
        highs = self._highs[0].values[first:last]
        suspect = np.flatnonzero((lows < low) | (highs > high)) + first
        inside = self.values[suspect * FACTOR + _OFFSETS]
        tail = self.values[last * FACTOR : end]
        for values in (inside, tail):
            more_below, more_above = _outside(values, low, high)
            below, above = below + more_below, above + more_above
        return below, above


def _reduced(extreme: np.ufunc, values: Floats, starts: Ints, ends: Ints) -> Floats:
    """Return an extreme of each range [start, end), none of them empty."""
    first, last = int(starts.min()), int(ends.max())
    bounds = np.stack([starts, ends], axis=1).ravel() - first
    # reduceat takes no bound at the very end of its values, so they reach one further.
    within = values[first : last + 1]
    if len(within) == last - first:
        if last - first not in bounds[:-1]:
            bounds = bounds[:-1]
        else:
            within = np.append(within, np.nan)
    result: Floats = extreme.reduceat(within, bounds)[::2]
    return result


def _outside(values: Floats, low: float, high: float) -> tuple[int, int]:
    return int(np.count_nonzero(values < low)), int(np.count_nonzero(values > high))
