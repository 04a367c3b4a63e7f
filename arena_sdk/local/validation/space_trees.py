"""Spaces from their descriptions as JSON, the way back of `spaces.space_tree`."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces


def space_of(tree: dict[str, Any]) -> spaces.Space[Any]:
    """Return a space of the kind, shape, dtype and bounds that a description has.

    A Box of many elements has its least and greatest bound everywhere.

    Args:
        tree: As `space_tree` returns it.
    """
    maker = MAKERS.get(tree["type"])
    if maker is None:
        # A class of that name, since kinds of spaces are told by it.
        unknown: spaces.Space[Any] = type(str(tree["type"]), (spaces.Space,), {})()
        return unknown
    made: spaces.Space[Any] = maker(tree)
    return made


def _box(tree: dict[str, Any]) -> spaces.Space[Any]:
    dtype, shape = np.dtype(tree["dtype"]), tuple(tree["shape"])
    low, high = (np.broadcast_to(_numbers(tree[key], dtype), shape) for key in ("low", "high"))
    return spaces.Box(low, high, shape, dtype.type)


def _numbers(bound: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """Return bounds as an array; infinity is a string, and integers have none."""
    return (
        np.asarray(bound).astype(float).astype(dtype)
        if dtype.kind == "f"
        else np.array(bound, dtype)
    )


def _parts(tree: dict[str, Any]) -> list[spaces.Space[Any]]:
    return [space_of(part) for part in tree["spaces"]]


MAKERS: dict[str, Any] = {
    "Box": _box,
    "Discrete": lambda tree: spaces.Discrete(tree["n"], start=tree["start"]),
    "MultiDiscrete": lambda tree: spaces.MultiDiscrete(tree["nvec"]),
    "MultiBinary": lambda tree: spaces.MultiBinary(tree["shape"]),
    "Text": lambda tree: spaces.Text(tree["max_length"], min_length=tree["min_length"]),
    "Dict": lambda tree: spaces.Dict({key: space_of(part) for key, part in tree["spaces"].items()}),
    "Tuple": lambda tree: spaces.Tuple(_parts(tree)),
    "OneOf": lambda tree: spaces.OneOf(_parts(tree)),
    "Sequence": lambda tree: spaces.Sequence(space_of(tree["space"])),
    "Graph": lambda tree: spaces.Graph(
        space_of(tree["node_space"]),
        None if tree["edge_space"] is None else space_of(tree["edge_space"]),
    ),
}
