"""Batches of observations as arrays, whatever the observation space.

A batch is one array for a plain space, a dict of batches for a Dict space and a tuple of batches
for a Tuple space; the first axis is the environment copy. Storage uses the same shapes with a
flat list of arrays, so that nothing else needs to know about nesting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

Array = npt.NDArray[Any]
Batch = Any
"""An array, a dict of batches or a tuple of batches."""


def stack(space: spaces.Space[Any], items: Sequence[Any]) -> Batch:
    """Return one observation of each environment copy as a batch.

    Args:
        space: The space of one observation.
        items: One observation a copy.
    """
    if isinstance(space, spaces.Dict):
        return {key: stack(sub, [item[key] for item in items]) for key, sub in space.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(stack(sub, [item[i] for item in items]) for i, sub in enumerate(space))
    return np.asarray(np.stack([np.asarray(item) for item in items]), dtype=space.dtype)


def replace_rows(batch: Batch, rows: Array, items: Batch) -> Batch:
    """Return a copy of a batch in which the given rows are those of another batch."""
    if isinstance(batch, dict):
        return {key: replace_rows(batch[key], rows, items[key]) for key in batch}
    if isinstance(batch, tuple):
        return tuple(replace_rows(b, rows, i) for b, i in zip(batch, items, strict=True))
    copy = batch.copy()
    copy[rows] = items
    return copy


def take(batch: Batch, rows: Any) -> Batch:
    """Return the given rows (an index array or a slice) of a batch."""
    return map_leaves(batch, lambda leaf: leaf[rows])


def map_leaves(batch: Batch, function: Callable[[Array], Any]) -> Any:
    """Return a structure of the same shape with the function applied to every array."""
    if isinstance(batch, dict):
        return {key: map_leaves(value, function) for key, value in batch.items()}
    if isinstance(batch, tuple):
        return tuple(map_leaves(value, function) for value in batch)
    return function(batch)


def leaves(batch: Batch) -> list[Array]:
    """Return the arrays of a batch in a fixed order."""
    if isinstance(batch, dict):
        return [leaf for key in batch for leaf in leaves(batch[key])]
    if isinstance(batch, tuple):
        return [leaf for item in batch for leaf in leaves(item)]
    return [batch]


def unflatten(like: Batch, flat: Sequence[Any]) -> Any:
    """Return arrays in the order of `leaves` put back into the structure of `like`."""
    iterator = iter(flat)
    return map_leaves(like, lambda _leaf: next(iterator))


def as_agent_input(batch: Batch) -> Batch:
    """Return a batch keyed as AgileRL's replay keys it: Tuple parts by `tuple_obs_<i>`."""
    if isinstance(batch, tuple):
        return {f"tuple_obs_{i}": as_agent_input(item) for i, item in enumerate(batch)}
    if isinstance(batch, dict):
        return {key: as_agent_input(value) for key, value in batch.items()}
    return batch


def first_of(space: spaces.Space[Any]) -> Batch:
    """Return a batch of one made of zeros or the space's own sample: only its shape matters."""
    return stack(space, [space.sample()])
