"""Spaces as JSON, and what exactly is wrong with a value that should be in one.

`gymnasium.Space.contains` answers yes or no. A person who has to mend an environment needs the
key, the index, the value and the bound, so the walk here goes down to the first leaf at fault.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

MAX_BOUNDS = 16
"""A Box with more elements than this is described by its least and greatest bound."""


@dataclass(frozen=True)
class Misfit:
    """Why a value is not in a space.

    Attributes:
        path: Where in a nested space, as in `['camera'][2]`; empty at the top.
        problem: What is wrong there, without a subject, as in `is float64 but …`.
        fix: What to do about it; a sentence.
    """

    path: str
    problem: str
    fix: str

    def sentence(self, what: str, when: str = "") -> str:
        """Return it as sentences about `what`, such as "The observation", at some time."""
        return f"{what}{self.path}{when} {self.problem}. {self.fix}".rstrip()


def space_tree(space: Any) -> dict[str, Any]:
    """Describe a space as JSON: its type and what defines it, nested spaces below `spaces`.

    Infinite bounds are the strings "Infinity" and "-Infinity".
    """
    if isinstance(space, spaces.Box):
        return {
            "type": "Box",
            "shape": list(space.shape),
            "dtype": str(space.dtype),
            **_bounds(space),
        }
    if isinstance(space, spaces.Discrete):
        return {"type": "Discrete", "n": int(space.n), "start": int(space.start)}
    if isinstance(space, spaces.MultiDiscrete):
        return {"type": "MultiDiscrete", "nvec": space.nvec.tolist(), "shape": list(space.shape)}
    if isinstance(space, spaces.MultiBinary):
        return {"type": "MultiBinary", "shape": list(space.shape)}
    if isinstance(space, spaces.Text):
        return {"type": "Text", "min_length": space.min_length, "max_length": space.max_length}
    if isinstance(space, spaces.Dict):
        inner = {str(key): space_tree(part) for key, part in space.spaces.items()}
        return {"type": "Dict", "spaces": inner}
    if isinstance(space, spaces.Tuple | spaces.OneOf):
        return {
            "type": type(space).__name__,
            "spaces": [space_tree(part) for part in space.spaces],
        }
    if isinstance(space, spaces.Sequence):
        return {"type": "Sequence", "space": space_tree(space.feature_space)}
    if isinstance(space, spaces.Graph):
        edges = None if space.edge_space is None else space_tree(space.edge_space)
        return {"type": "Graph", "node_space": space_tree(space.node_space), "edge_space": edges}
    return {"type": type(space).__name__}


def _bounds(space: spaces.Box) -> dict[str, Any]:
    if space.low.size == 0:
        return {"low": [], "high": []}
    if space.low.size <= MAX_BOUNDS:
        same = np.all(space.low == space.low.flat[0]) and np.all(space.high == space.high.flat[0])
        if not same:
            return {"low": _finite(space.low.tolist()), "high": _finite(space.high.tolist())}
    return {"low": _finite(space.low.min().item()), "high": _finite(space.high.max().item())}


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def find_misfit(value: Any, space: Any, path: str = "") -> Misfit | None:
    """Return the first thing that is wrong with a value of a space, or None when it fits."""
    if isinstance(value, spaces.Space):
        return Misfit(path, "is a space, not a value of one", "Return what is seen, as numbers.")
    if isinstance(space, spaces.Dict):
        return _in_dict(value, space, path)
    if isinstance(space, spaces.Tuple):
        return _in_tuple(value, space, path)
    if isinstance(space, spaces.Box):
        return _in_box(value, space, path)
    if isinstance(space, spaces.Discrete):
        return _in_discrete(value, space, path)
    if isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        return _in_multi(value, space, path)
    if isinstance(space, spaces.Text):
        return _in_text(value, space, path)
    if isinstance(space, spaces.Sequence):
        return _in_sequence(value, space, path)
    return _in_other(value, space, path)


def find_oddity(value: Any, space: Any, path: str = "") -> str | None:
    """Return what is unusual about a value that does fit its space, or None."""
    if isinstance(space, spaces.Dict):
        parts = ((value[key], part, f"{path}[{key!r}]") for key, part in space.spaces.items())
    elif isinstance(space, spaces.Tuple):
        parts = (
            (value[index], part, f"{path}[{index}]") for index, part in enumerate(space.spaces)
        )
    elif isinstance(space, spaces.Box):
        if not isinstance(value, np.ndarray | np.generic):
            return (
                f"{path} is a {type(value).__name__}, not a NumPy array."
                f" Return np.asarray(…, dtype=np.{space.dtype})."
            )
        if value.dtype != space.dtype:
            return (
                f"{path} is {value.dtype} where its space declares {space.dtype}."
                f" Return it .astype(np.{space.dtype})."
            )
        return None
    else:
        return None
    return next(filter(None, (find_oddity(*part) for part in parts)), None)


def _in_dict(value: Any, space: spaces.Dict, path: str) -> Misfit | None:
    if not isinstance(value, Mapping):
        return Misfit(path, f"is {_kind(value)}, not a dict", "Its space is a Dict.")
    missing = [key for key in space.spaces if key not in value]
    extra = [key for key in value if key not in space.spaces]
    if missing:
        fix = "Return every key that the Dict space declares."
        return Misfit(path, f"lacks the key {missing[0]!r}", fix)
    if extra:
        fix = "Add the key to the Dict space, or leave it out."
        return Misfit(path, f"has the key {extra[0]!r}, which its space does not declare", fix)
    found = (
        find_misfit(value[key], part, f"{path}[{key!r}]") for key, part in space.spaces.items()
    )
    return next(filter(None, found), None)


def _in_tuple(value: Any, space: spaces.Tuple, path: str) -> Misfit | None:
    sequence = isinstance(value, tuple | list) or (isinstance(value, np.ndarray) and value.ndim)
    if not sequence:
        return Misfit(path, f"is {_kind(value)}, not a tuple", "Its space is a Tuple.")
    if len(value) != len(space.spaces):
        problem = f"has {len(value)} parts where its Tuple space has {len(space.spaces)}"
        return Misfit(path, problem, "Return one part for each space.")
    found = (
        find_misfit(part, inner, f"{path}[{index}]")
        for index, (part, inner) in enumerate(zip(value, space.spaces, strict=True))
    )
    return next(filter(None, found), None)


def _in_box(value: Any, space: spaces.Box, path: str) -> Misfit | None:
    try:
        array = np.asarray(value) if not isinstance(value, np.ndarray) else value
    except ValueError:
        return Misfit(path, "is a ragged list, not an array", f"Its space has shape {space.shape}.")
    if array.dtype.kind not in "biuf":
        fix = f"Return np.asarray(…, dtype=np.{space.dtype})."
        return Misfit(path, f"is {_kind(value)}, not a numeric array", fix)
    if array.shape != space.shape:
        problem = f"has shape {array.shape} where its space has {space.shape}"
        return Misfit(path, problem, "Make the two agree.")
    if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
        index = np.argwhere(~np.isfinite(array))[0]
        problem = f"has {array[tuple(index)]} at {_index(index)}"
        return Misfit(path, problem, "Find where it comes from: a division by zero, a logarithm?")
    # Gymnasium casts plain lists and scalars, and judges the dtype of arrays only.
    if isinstance(value, np.ndarray) and not np.can_cast(array.dtype, space.dtype):
        fix = f"Return it .astype(np.{space.dtype}), or declare dtype=np.{array.dtype}."
        return Misfit(path, f"is {array.dtype} where its space declares {space.dtype}", fix)
    if not isinstance(value, np.ndarray):
        array = array.astype(space.dtype)
    return _out_of_bounds(array, space, path)


def _out_of_bounds(array: np.ndarray, space: spaces.Box, path: str) -> Misfit | None:
    for bad, side, bound in (
        (array < space.low, "below", space.low),
        (array > space.high, "above", space.high),
    ):
        if np.any(bad):
            index = tuple(np.argwhere(bad)[0])
            problem = (
                f"at {_index(index)} is {_number(array[index])},"
                f" {side} its bound {_number(bound[index])}"
            )
            return Misfit(path, problem, "Clip the value or widen the space.")
    return None


def _in_discrete(value: Any, space: spaces.Discrete, path: str) -> Misfit | None:
    integral = isinstance(value, int | np.integer) or (
        isinstance(value, np.ndarray) and value.shape == () and value.dtype.kind in "iu"
    )
    if not integral or isinstance(value, np.bool_):
        return Misfit(path, f"is {_kind(value)}, not an integer", f"Its space is {space}.")
    if not int(space.start) <= int(value) < int(space.start) + int(space.n):
        last = int(space.start) + int(space.n) - 1
        return Misfit(
            path, f"is {int(value)}, outside {int(space.start)} to {last}", f"Its space is {space}."
        )
    if not space.contains(value):
        return _in_other(value, space, path)
    return None


def _in_multi(
    value: Any, space: spaces.MultiDiscrete | spaces.MultiBinary, path: str
) -> Misfit | None:
    if not isinstance(value, np.ndarray | list | tuple):
        return Misfit(path, f"is {_kind(value)}, not an array", f"Its space is {space}.")
    try:
        array = np.asarray(value)
    except ValueError:
        problem = "is a ragged list, not an array"
        return Misfit(path, problem, f"Its space has shape {space.shape}.")
    if array.shape != space.shape:
        problem = f"has shape {array.shape} where its space has {space.shape}"
        return Misfit(path, problem, "Make the two agree.")
    if array.dtype.kind not in "biu":
        fix = f"Return it .astype(np.{space.dtype})."
        return Misfit(path, f"is {array.dtype}, not integers", fix)
    binary = isinstance(space, spaces.MultiBinary)
    low = np.zeros(space.shape, int) if binary else np.broadcast_to(space.start, space.shape)
    count = np.full(space.shape, 2) if binary else space.nvec
    bad = (array < low) | (array >= low + count)
    if np.any(bad):
        index = tuple(np.argwhere(bad)[0])
        last = int(low[index] + count[index]) - 1
        problem = f"at {_index(index)} is {array[index]}, outside {int(low[index])} to {last}"
        return Misfit(path, problem, f"Its space is {space}.")
    return None if space.contains(value) else _in_other(value, space, path)


def _in_text(value: Any, space: spaces.Text, path: str) -> Misfit | None:
    if not isinstance(value, str):
        return Misfit(path, f"is {_kind(value)}, not a str", "Its space is Text.")
    if not space.min_length <= len(value) <= space.max_length:
        problem = f"has {len(value)} characters, outside {space.min_length} to {space.max_length}"
        return Misfit(path, problem, "Change the limits of the Text space.")
    strange = next((c for c in value if c not in space.character_set), None)
    if strange is not None:
        problem = f"has the character {strange!a}, which its charset lacks"
        return Misfit(path, problem, "Give the Text space the charset that it needs.")
    return None


def _in_sequence(value: Any, space: spaces.Sequence, path: str) -> Misfit | None:
    if not space.stack and isinstance(value, tuple):
        found = (
            find_misfit(item, space.feature_space, f"{path}[{index}]")
            for index, item in enumerate(value)
        )
        return next(filter(None, found), None)
    return _in_other(value, space, path)


def _in_other(value: Any, space: Any, path: str) -> Misfit | None:
    try:
        if space.contains(value):
            return None
    except Exception as error:
        return Misfit(path, f"cannot be judged by its space ({error})", "Look at the space.")
    return Misfit(path, f"is {_kind(value)} that is not in its space", f"Its space is {space}.")


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    name = type(value).__name__
    return "None" if value is None else f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _index(index: Any) -> str:
    numbers = [int(part) for part in index]
    if not numbers:
        return "its only element"
    return f"index {numbers[0]}" if len(numbers) == 1 else f"index {tuple(numbers)}"


def _number(value: Any) -> str:
    number = value.item()
    return f"{number:.9g}" if isinstance(number, float) else str(number)
