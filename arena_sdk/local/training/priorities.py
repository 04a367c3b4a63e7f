"""Which transitions to replay more often: proportional priorities in a sum tree.

Schaul et al., "Prioritized Experience Replay", 2016, arXiv:1511.05952. All operations work on whole
batches of rows, a level of the tree at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Zeros = Callable[[tuple[int, ...], np.dtype[Any]], Array]


class Priorities:
    """The priority of every row of a ring buffer, each a node in a binary tree of sums.

    Args:
        rows: Rows of the buffer.
        alpha: How much priorities count: 0 not at all, 1 in full.
        zeros: Makes the arrays, in shared memory where the buffer is.
    """

    def __init__(self, rows: int, alpha: float, zeros: Zeros) -> None:
        self.alpha = alpha
        self._size = 1 << max(1, (rows - 1).bit_length())
        self._sums = zeros((2 * self._size,), np.dtype(np.float64))
        self._highest = zeros((1,), np.dtype(np.float64))

    def add(self, rows: Array) -> None:
        """Give new rows the highest priority there was, so that each is replayed soon."""
        highest = float(self._highest[0]) or 1.0
        self._store(rows, np.full(len(rows), highest))

    def update(self, rows: Array, priorities: Array) -> None:
        """Set the priorities of rows (positive, before `alpha`)."""
        scaled = np.maximum(np.asarray(priorities, dtype=np.float64), 1e-12) ** self.alpha
        scaled = np.where(np.isfinite(scaled), scaled, 1.0)
        self._highest[0] = max(float(self._highest[0]), float(scaled.max()))
        self._store(rows, scaled)

    def draw(self, count: int, held: int, rng: np.random.Generator) -> Array:
        """Return rows drawn in proportion to their priorities, with replacement.

        Args:
            count: How many; one from each of as many equal parts of the total.
            held: Rows that the buffer holds.
            rng: Draws them.
        """
        mass = (np.arange(count) + rng.random(count)) / count * self._sums[1]
        nodes = np.ones(count, dtype=np.int64)
        while nodes[0] < self._size:
            left = 2 * nodes
            below = self._sums[left]
            right = mass >= below
            mass = np.where(right, mass - below, mass)
            nodes = left + right
        return np.minimum(nodes - self._size, held - 1)

    def weights(self, rows: Array, held: int, beta: float) -> Array:
        """Return the importance weights of drawn rows, the largest of them 1; float32."""
        share = self._sums[self._size + rows] / self._sums[1]
        weights = np.maximum(held * share, 1e-12) ** -beta
        return np.asarray(weights / weights.max(), dtype=np.float32)

    def _store(self, rows: Array, values: Array) -> None:
        nodes = self._size + np.asarray(rows, dtype=np.int64)
        self._sums[nodes] = values
        while nodes[0] > 1:
            nodes = np.unique(nodes >> 1)
            self._sums[nodes] = self._sums[2 * nodes] + self._sums[2 * nodes + 1]
