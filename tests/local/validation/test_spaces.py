"""Spaces: described as JSON, and values judged as Gymnasium judges them, only with a reason."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_sdk.local.validation.compare import find_difference
from arena_sdk.local.validation.spaces import find_misfit, space_tree

dtypes = st.sampled_from([np.float32, np.float64, np.uint8, np.int64])
boxes = st.builds(
    lambda shape, dtype: spaces.Box(0, 9, tuple(shape), dtype),
    st.lists(st.integers(1, 3), max_size=3),
    dtypes,
)
leaves = st.one_of(
    boxes,
    st.builds(
        lambda count, start: spaces.Discrete(count, start=start),
        st.integers(1, 9),
        st.integers(-3, 3),
    ),
    st.builds(spaces.MultiDiscrete, st.lists(st.integers(1, 5), min_size=1, max_size=3)),
    st.builds(spaces.MultiBinary, st.integers(1, 5)),
    st.builds(spaces.Text, st.integers(1, 8)),
)  # fmt: skip
any_space = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(spaces.Tuple),
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1).map(spaces.Dict),
        inner.map(spaces.Sequence),
    ),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(any_space, st.integers(0, 1000))
def test_what_a_space_samples_fits_it(space: Any, seed: int) -> None:
    space.seed(seed)
    assert find_misfit(space.sample(), space) is None


@settings(max_examples=200, deadline=None)
@given(any_space, any_space, st.integers(0, 1000))
def test_it_agrees_with_gymnasium_on_what_is_not_in_a_space(
    space: Any, other: Any, seed: int
) -> None:
    other.seed(seed)
    value = other.sample()
    assert (find_misfit(value, space) is None) == contains(space, value)


def contains(space: Any, value: Any) -> bool:
    try:
        return bool(space.contains(value))
    except (TypeError, ValueError):  # it takes lengths of scalars and arrays of ragged lists
        return False


@settings(max_examples=100, deadline=None)
@given(any_space)
def test_every_space_is_described_as_json(space: Any) -> None:
    tree = space_tree(space)
    assert tree["type"] == type(space).__name__
    assert json.loads(json.dumps(tree, allow_nan=False)) == tree


def test_the_path_leads_to_the_leaf_at_fault() -> None:
    space = spaces.Dict(
        {"robot": spaces.Tuple((spaces.Discrete(3), spaces.Box(-1.0, 1.0, (2, 2), np.float32)))}
    )
    value = {"robot": (0, np.array([[0.0, 0.0], [0.0, -3.5]], np.float32))}
    misfit = find_misfit(value, space)
    assert misfit is not None
    assert misfit.sentence("The observation", " at step 3") == (
        "The observation['robot'][1] at step 3 at index (1, 1) is -3.5, below its bound -1. Clip"
        " the value or widen the space."
    )


@pytest.mark.parametrize(
    ("space", "tree"),
    [
        (
            spaces.Box(np.array([-1, 0], np.float32), np.array([1, np.inf], np.float32)),
            {
                "type": "Box",
                "shape": [2],
                "dtype": "float32",
                "low": [-1.0, 0.0],
                "high": [1.0, "Infinity"],
            },
        ),
        (
            spaces.Box(0, 255, (84, 84, 3), np.uint8),
            {"type": "Box", "shape": [84, 84, 3], "dtype": "uint8", "low": 0, "high": 255},
        ),
        (spaces.Discrete(3, start=-1), {"type": "Discrete", "n": 3, "start": -1}),
    ],
)
def test_descriptions(space: Any, tree: dict[str, Any]) -> None:
    assert space_tree(space) == tree


@pytest.mark.parametrize(
    ("first", "second", "path"),
    [
        ({"a": 1}, {"b": 1}, ""),
        ({"a": [1, 2]}, {"a": [1, 3]}, "['a'][1]"),
        (np.zeros((2, 2)), np.eye(2), "[0, 0]"),
        (np.zeros(2), np.zeros(3), ""),
        (1.0, "1.0", ""),
    ],
)
def test_a_difference_says_where(first: Any, second: Any, path: str) -> None:
    found = find_difference(first, second)
    assert found is not None
    assert (found.path, found.slight) == (path, False)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.array([np.nan, 1.0]), np.array([np.nan, 1.0])),
        (float("nan"), float("nan")),
        ({"b": 2, "a": 1}, {"a": 1, "b": 2}),
        (object(), object()),
    ],
)
def test_what_is_the_same_is_no_difference(first: Any, second: Any) -> None:
    assert find_difference(first, second) is None


def test_rounding_is_slight() -> None:
    found = find_difference(np.float32([1.0]), np.float32([1.0000001]))
    assert found is not None
    assert found.slight
