"""Action masks that would break training fail a validation; sound ones are obeyed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from arena_sdk.local.validation.actions import Actions
from arena_sdk.local.validation.masks import judge_mask
from arena_sdk.local.validation.problems import CheckFailed
from tests.local.validation.sources import PAIR, Report, failures, walk

FOUR, GRID = spaces.Discrete(4), spaces.MultiDiscrete([2, 3, 4])
TABLE = spaces.MultiDiscrete(np.array([[2, 3], [2, 2]]))


@pytest.mark.parametrize(
    ("space", "mask", "words"),
    [
        (FOUR, np.ones(3, np.int8), r"has shape \(3,\) where there are 4 actions"),
        (FOUR, np.ones((1, 4), np.int8), r"has shape \(1, 4\)"),
        (FOUR, np.array(["a"] * 4), "is of <U1"),
        (FOUR, np.array([0.0, -1e9, 0.0, 0.0]), "other numbers than 1"),
        (FOUR, np.zeros(4, np.int8), "forbids every action"),
        (FOUR, [[1], [1, 0]], "unequal length"),
        (GRID, np.ones(7, np.int8), r"has shape \(7,\) where MultiDiscrete\(.* has 9 choices"),
        (GRID, [1, 0, 0, 0, 0, 1, 1, 1, 1], "forbids every choice of part 1"),
        (TABLE, np.ones((2, 2), np.int8), "has 9 choices"),
    ],
)
def test_a_mask_that_breaks_training_is_a_finding(space: Any, mask: Any, words: str) -> None:
    with pytest.raises(CheckFailed, match=words) as caught:
        judge_mask(space, {"action_mask": mask}, "step 1")
    assert caught.value.message.startswith('info["action_mask"] at step 1 ')


@pytest.mark.parametrize(
    ("space", "mask"),
    [
        (FOUR, [True, False, False, False]),
        (FOUR, np.array([0.0, 1.0, 0.0, 1.0])),
        (FOUR, None),
        (GRID, np.array([1, 0, 0, 1, 0, 1, 1, 1, 1], np.int8)),
        (TABLE, np.ones(9, bool)),
        (spaces.Box(0.0, 1.0, (2,)), "of no meaning"),
    ],
)
def test_a_sound_mask_is_none(space: Any, mask: Any) -> None:
    judge_mask(space, {"action_mask": mask}, "step 1")


def test_after_the_end_no_action_needs_to_be_legal() -> None:
    judge_mask(FOUR, {"action_mask": np.zeros(4)}, "step 1", ended=True)


def test_random_actions_obey_the_masks_of_many_parts() -> None:
    class Held:
        action_space = GRID

    actions, mask = Actions(Held(), 0), np.array([0, 1, 0, 0, 1, 1, 0, 0, 0])
    assert {tuple(actions.next({"action_mask": mask})) for _ in range(50)} == {(1, 2, 0)}


def test_masks_of_reset_and_of_step_are_looked_at(check: Callable[..., Report]) -> None:
    short = '{"action_mask": np.ones(7, np.int8)}'
    found = failures(
        check(
            walk(
                actions="spaces.MultiDiscrete([3, 3, 3])",
                start="5",
                reset_return=f"        return self.look(), {short}\n",
                step_return=f"        return self.look(), -0.1, False, self.steps >= 9, {short}\n",
                step_head="    def step(self, action):\n        action = int(action[0])\n",
            )
        )
    )
    assert set(found) == {"Reset", "Step"}
    assert 'info["action_mask"] at reset(seed=0) has shape (7,)' in found["Reset"]
    assert "at step 1 of the episode with seed 0 has shape (7,)" in found["Step"]


def test_masks_of_every_agent_are_looked_at(check: Callable[..., Report]) -> None:
    pytest.importorskip("pettingzoo")
    old = "done, never, {agent: {} for agent in agents}"
    assert old in PAIR
    masked = '{agent: {"action_mask": np.zeros(2, np.int8)} for agent in agents}'
    found = failures(check(PAIR.replace(old, f"done, never, {masked}"), multi_agent=True))
    assert found["Step"] == (
        'a\'s info["action_mask"] at step 1 of the episode with seed 0 forbids every action.'
        " Leave one legal, or end the episode."
    )


def test_after_a_failure_no_algorithm_is_said_to_fit(check: Callable[..., Report]) -> None:
    report = check(walk(step_return="        return self.look(), 'x', False, True, {}\n"))
    assert (report["validated"], report["algorithms"]) == (False, [])
    assert report["spaces"]
