"""Which algorithms fit an environment: yes, or why not, for every one of the manifest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from gymnasium import spaces

from arena_sdk.local.training.catalogue import ALGORITHMS
from arena_sdk.local.validation.fitting import fitting_algorithms
from arena_sdk.local.validation.space_trees import space_of
from arena_sdk.local.validation.spaces import space_tree
from arena_sdk.manifest.algorithms import NAMES
from tests.local.validation.sources import Report, walk

SEEN = spaces.Box(-1.0, 1.0, (3,), np.float32)


def found(observation: spaces.Space, action: spaces.Space, **kind: bool) -> dict[str, str]:
    """Return why each algorithm does not fit; "" where it does."""
    trees = {"observation": space_tree(observation), "action": space_tree(action)}
    rows = fitting_algorithms(trees, **kind)
    assert sorted(row["algorithm"] for row in rows) == sorted(NAMES)
    assert all(row["fits"] == (row["why"] == "") for row in rows)
    assert [row["fits"] for row in rows] == sorted((row["fits"] for row in rows), reverse=True)
    return {row["algorithm"]: row["why"] for row in rows}


def test_every_algorithm_of_the_manifest_is_answered_for_discrete_actions() -> None:
    why = found(SEEN, spaces.Discrete(4))
    assert why["DQN"] == why["PPO"] == ""
    assert why["DDPG"] == "DDPG cannot train on actions of Discrete(4); it can on Box."
    assert why["IPPO"] == "IPPO trains several agents; the environment has one."
    assert why["CQN"] == (
        "CQN learns from recorded steps (env_type: offline), not from steps taken here."
    )
    assert why["SFT"] == "SFT trains a language model on a dataset, not in an environment."
    assert why["GRPO"] == "GRPO trains a language model, which needs an environment of text."


def test_continuous_actions_are_for_others() -> None:
    why = found(SEEN, spaces.Box(-1.0, 1.0, (2,), np.float32))
    assert why["DDPG"] == why["TD3"] == why["PPO"] == ""
    assert why["DQN"] == (
        "DQN cannot train on actions of Box(-1.0, 1.0, (2,), float32); it can on Discrete."
    )


def test_nesting_is_named_with_its_remedy_and_every_obstacle_at_once() -> None:
    nested = spaces.Dict({"arm": spaces.Dict({"at": SEEN}), "goal": SEEN})
    why = found(nested, spaces.Box(-1.0, 1.0, (2,), np.float32))
    flatten = (
        "cannot train on observations of a Dict nested inside of a Dict, at 'arm': AgileRL reads"
        " one level only; flatten it, as with gymnasium.wrappers.FlattenObservation."
    )
    assert why["PPO"] == f"PPO {flatten}"
    assert why["DQN"] == (
        f"DQN {flatten} DQN cannot train on actions of Box(-1.0, 1.0, (2,), float32); it can on"
        " Discrete."
    )
    assert "" not in why.values()


def test_text_to_see_is_for_none_of_them() -> None:
    why = found(spaces.Dict({"said": spaces.Text(5), "at": SEEN}), spaces.Discrete(2))
    assert why["PPO"].startswith("PPO cannot train on observations of Text(")
    assert "" not in why.values()


def test_an_environment_of_text_is_for_language_models() -> None:
    rows = fitting_algorithms({}, language_based=True)
    why = {row["algorithm"]: row["why"] for row in rows}
    assert why["PPO"] == "PPO needs observations and actions of numbers; here they are text."
    assert why["GRPO"] == ("GRPO trains a language model, which this Arena, one machine, does not.")


def test_an_environment_of_several_agents_is_not_for_one() -> None:
    both = spaces.Dict({"a": SEEN, "b": SEEN})
    moves = spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Discrete(3)})
    why = found(both, moves, multi_agent=True)
    assert why["DQN"] == "DQN trains one agent; the environment has several."
    fits = "" if "IPPO" in ALGORITHMS else "IPPO cannot be trained on this Arena."
    assert why["IPPO"] == fits


def test_unknown_spaces_fit_nothing_yet() -> None:
    assert fitting_algorithms({}) == []


def test_a_validation_reports_them(check: Callable[..., Report]) -> None:
    rows = check(walk())["algorithms"]
    assert {"algorithm": "DQN", "fits": True, "why": ""} in rows
    assert len(rows) == len(NAMES)


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(-np.inf, np.inf, (3,)),
        spaces.Box(0, 255, (8, 8, 3), np.uint8),
        spaces.Box(np.array([-1.0, -2.0]), np.array([1.0, np.inf]), dtype=np.float64),
        spaces.Box(-(2**62), 2**62 + 1, (2,), np.int64),
        spaces.Box(0.0, 1.0, ()),
        spaces.Discrete(4, start=2),
        spaces.MultiDiscrete([3, 2]),
        spaces.MultiBinary((2, 3)),
        spaces.Text(5),
        spaces.Dict({"b": spaces.Discrete(2), "a": spaces.Tuple((spaces.Discrete(2),))}),
        spaces.OneOf([spaces.Discrete(2), SEEN]),
        spaces.Sequence(spaces.Discrete(2)),
        spaces.Graph(SEEN, None),
        spaces.Graph(SEEN, spaces.Discrete(2)),
    ],
    ids=str,
)
def test_a_space_comes_back_from_its_description(space: spaces.Space) -> None:
    assert space_of(space_tree(space)) == space


def test_a_space_of_an_unknown_kind_keeps_its_name() -> None:
    assert type(space_of({"type": "Quaternion"})).__name__ == "Quaternion"
