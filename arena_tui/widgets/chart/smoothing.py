"""Exponential smoothing that is not biased to the first value.

The mean of everything so far, weighted by `weight ** age`: the division by the sum of the weights
is what removes the bias (as in Kingma and Ba, "Adam", 2015, section 3).
"""

from __future__ import annotations

import math

import numpy as np

from arena_tui.widgets.chart.columns import Floats

# Powers of the weight go down to this within one block, well inside what a float can hold.
_SMALLEST = 1e-100
# Below this the past counts for less than a float can tell apart from nothing.
_NO_WEIGHT = 1e-12


class Smoother:
    """Smooths values as they come; what came before is remembered in three numbers."""

    def __init__(self, weight: float) -> None:
        """Start afresh.

        Args:
            weight: How much of the past stays, from 0 (nothing is smoothed) to below 1.
        """
        if not 0 <= weight < 1:
            raise ValueError(f"The smoothing weight is {weight}; it must be from 0 to below 1.")
        self.weight = weight
        self._mean = 0.0
        self._largest = 0.0
        self._count = 0

    def push(self, values: Floats) -> Floats:
        """Return the smoothed values, shape (n,); gaps stay gaps and change nothing else."""
        if self.weight < _NO_WEIGHT:
            return np.array(values, np.float64)
        result = np.full(len(values), np.nan)
        good = np.isfinite(values)
        numbers = np.asarray(values[good], np.float64)
        if len(numbers):
            result[good] = self._push_finite(numbers)
        return result

    def _push_finite(self, values: Floats) -> Floats:
        # No mean can be beyond the largest value seen; dividing by it keeps all sums small.
        self._largest = max(float(np.abs(values).max()), self._largest)
        scale = self._largest or 1.0
        means = self._recur(values / scale, self._mean / scale)
        counts = self._count + np.arange(1, len(values) + 1)
        self._count += len(values)
        self._mean = float(means[-1]) * scale
        unbiased = means / -np.expm1(counts * math.log(self.weight))
        result: Floats = np.clip(unbiased, -1.0, 1.0) * scale
        return result

    def _recur(self, values: Floats, start: float) -> Floats:
        """Return m[k] = w m[k-1] + (1 - w) v[k], in blocks, so that no Python loop sees a value."""
        weight = self.weight
        size = max(1, min(len(values), int(math.log(_SMALLEST) / math.log(weight))))
        padded = np.zeros(-(-len(values) // size) * size)
        padded[: len(values)] = values
        powers = weight ** np.arange(1, size + 1)
        sums = np.cumsum(padded.reshape(-1, size) / powers, axis=1) * (powers * (1 - weight))
        carried = np.empty(len(sums))
        carry = start
        for block, last in enumerate(sums[:, -1].tolist()):
            carried[block] = carry
            carry = last + powers[-1] * carry
        sums += carried[:, None] * powers
        result: Floats = sums.reshape(-1)[: len(values)]
        return result


def smooth(values: Floats, weight: float) -> Floats:
    """Return the whole of a series smoothed, shape (n,)."""
    return Smoother(weight).push(values)
