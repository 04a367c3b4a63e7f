"""Whether two results of an environment are the same, and where they first differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

TOLERANCE = 1e-5


@dataclass(frozen=True)
class Difference:
    """Where two values differ.

    Attributes:
        path: Where in a nested value, as in `['camera'][2]`.
        first: The one, cut to a few characters.
        second: The other.
        slight: True when they are the same within 1e-5.
    """

    path: str
    first: str
    second: str
    slight: bool = False


def find_difference(first: Any, second: Any, path: str = "") -> Difference | None:
    """Return the first place where two values differ, or None."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        if list(first) != list(second) and set(first) != set(second):
            return Difference(
                path, f"keys {sorted(map(str, first))}", f"{sorted(map(str, second))}"
            )
        pairs = ((first[key], second[key], f"{path}[{key!r}]") for key in first)
        return _first(pairs)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        if len(first) != len(second):
            return Difference(path, f"{len(first)} parts", f"{len(second)} parts")
        pairs = (
            (one, two, f"{path}[{i}]")
            for i, (one, two) in enumerate(zip(first, second, strict=True))
        )
        return _first(pairs)
    if isinstance(first, np.ndarray | np.generic) or isinstance(second, np.ndarray | np.generic):
        return _between_arrays(np.asarray(first), np.asarray(second), path)
    return _between_scalars(first, second, path)


def _first(pairs: Any) -> Difference | None:
    """Return the first difference that is not slight, else the first slight one."""
    slight = None
    for one, two, path in pairs:
        found = find_difference(one, two, path)
        if found is not None and not found.slight:
            return found
        slight = slight or found
    return slight


def _between_arrays(first: np.ndarray, second: np.ndarray, path: str) -> Difference | None:
    if first.shape != second.shape or first.dtype != second.dtype:
        return Difference(
            path, f"{first.dtype} of shape {first.shape}", f"{second.dtype} of shape {second.shape}"
        )
    if first.dtype.kind == "O":
        return _first(
            (one, two, f"{path}[{i}]")
            for i, (one, two) in enumerate(zip(first.flat, second.flat, strict=True))
        )
    floats = first.dtype.kind in "fc"
    if np.array_equal(first, second, equal_nan=floats):
        return None
    unequal = first != second
    if floats:
        unequal &= ~(np.isnan(first) & np.isnan(second))
    index = tuple(np.argwhere(unequal)[0])
    slight = floats and np.allclose(first, second, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    place = f"[{', '.join(str(int(i)) for i in index)}]" if index else ""
    return Difference(
        f"{path}{place}", f"{first[index].item()!r}", f"{second[index].item()!r}", bool(slight)
    )


def _between_scalars(first: Any, second: Any, path: str) -> Difference | None:
    try:
        same = bool(first == second)
    except Exception:
        return None  # what cannot be compared is not held against anyone
    if same or first is second or (first != first and second != second):
        return None
    if type(first) is type(second) and getattr(type(first), "__eq__", None) is object.__eq__:
        return None  # two objects without a notion of being equal
    slight = (
        isinstance(first, float)
        and isinstance(second, float)
        and abs(first - second) <= TOLERANCE * (1 + abs(second))
    )
    return Difference(path, _cut(first), _cut(second), slight)


def _cut(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
