"""Copies of an environment: no step that is not one, true successors, ends told apart."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from arena_sdk.local.training.vectorize import (
    ActionAdapter,
    InProcessVector,
    ProcessVector,
    Vector,
    choose,
    make_vector,
)
from arena_sdk.local.validation.loading import make_env

from .support import custom


def vector(kind: str, name: str, copies: int = 2, **config: Any) -> Vector:
    return make_vector(partial(make_env, custom(name, **config)), copies, kind)


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_step_leads_to_its_true_successor(kind: str) -> None:
    copies = vector(kind, "Corridor", length=3)
    try:
        obs, _ = copies.reset(seed=1)
        for t in range(12):
            step = copies.step(np.array([0, 1]))
            assert np.array_equal(step.next_obs[:, 0], obs[:, 0]), "crossed into another episode"
            assert np.array_equal(step.next_obs[:, 1], obs[:, 1] + 1)
            ends = (t + 1) % 3 == 0
            assert step.terminated.tolist() == [ends, ends]
            expected = np.zeros(2) if ends else step.next_obs[:, 1]
            assert np.array_equal(step.obs[:, 1], expected)
            obs = step.obs
    finally:
        copies.close()


def test_a_cut_off_episode_is_truncated_and_not_terminated(kind: str) -> None:
    copies = vector(kind, "Corridor", length=2, end="truncated")
    try:
        copies.reset(seed=1)
        copies.step(np.zeros(2, dtype=np.int64))
        step = copies.step(np.zeros(2, dtype=np.int64))
    finally:
        copies.close()
    assert step.truncated.all()
    assert not step.terminated.any()


def test_dict_observations_keep_their_parts_and_types(kind: str) -> None:
    copies = vector(kind, "Parts")
    try:
        obs, _ = copies.reset(seed=3)
        for _ in range(11):
            step = copies.step(np.array([1, 2]))
    finally:
        copies.close()
    assert obs["place"].shape == (2, 3)
    assert step.obs["view"].shape == (2, 12, 12, 3)
    assert step.next_obs["view"].dtype == np.uint8


def test_action_masks_are_those_of_the_next_observation(kind: str) -> None:
    copies = vector(kind, "Masked", length=2)
    try:
        _, mask = copies.reset(seed=0)
        assert mask.tolist() == [[0, 1], [0, 1]]
        for _ in range(5):
            mask = copies.step(np.array([1, 1])).mask
            assert mask.tolist() == [[0, 1], [0, 1]]
    finally:
        copies.close()


def test_cheap_steps_stay_in_the_process_and_costly_ones_leave_it() -> None:
    assert choose(10.0, 8) == "sync"
    assert choose(10_000.0, 8) == "async"
    assert choose(10_000.0, 1) == "sync"
    assert choose(10_000.0, 8, forced_sync=True) == "sync"
    assert isinstance(vector("sync", "Corridor"), InProcessVector)


def test_processes_are_gone_after_close() -> None:
    copies = vector("async", "Corridor")
    assert isinstance(copies, ProcessVector)
    processes = copies._env.processes
    copies.close()
    assert not any(process.is_alive() for process in processes)


@pytest.mark.parametrize(
    ("space", "actions", "expected"),
    [
        (spaces.Discrete(2, start=3), np.array([0, 1]), [3, 4]),
        (spaces.Box(-1, 1, (1,), np.float32), np.array([[2.0], [-3.0]]), [[1.0], [-1.0]]),
        (spaces.Box(-1, 1, (2, 2), np.float32), np.zeros((1, 4)), [[[0, 0], [0, 0]]]),
        (spaces.MultiDiscrete([2, 3]), np.array([[1, 2]]), [[1, 2]]),
    ],
)
def test_actions_become_the_environments_own(
    space: spaces.Space[Any], actions: np.ndarray, expected: list[Any]
) -> None:
    adapted = ActionAdapter(space)(actions)
    assert adapted.tolist() == expected
    assert all(space.contains(action) for action in adapted)
