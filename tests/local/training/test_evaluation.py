"""Evaluation: the deterministic policy's mean return, and never without an end."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from gymnasium import spaces

from arena_sdk.local.training.evaluation import evaluate, step_limit
from arena_sdk.local.training.seeds import seed_everything
from arena_sdk.local.training.spec import build_agent, read_manifest
from arena_sdk.local.training.vectorize import ActionAdapter, InProcessVector
from arena_sdk.local.validation.loading import make_env

from .support import custom, dqn, registered

SPEC = read_manifest({"manifest": dqn()})


def evaluated(reference: dict[str, Any], limit: int, **settings: Any) -> Any:
    copies = InProcessVector(partial(make_env, reference), 3)
    env = make_env(reference)
    agent = build_agent(SPEC, env.observation_space, env.action_space, 0)
    adapter = ActionAdapter(spaces.Discrete(2))
    options = {"loops": 2, "seed": 5, "stopped": lambda: False, **settings}
    return evaluate(agent, copies, adapter, limit=limit, **options)


def figures_of(played: Any) -> tuple[float, int, int]:
    return played.fitness, len(played.returns), played.cut_off


def test_the_mean_return_of_whole_episodes() -> None:
    played = evaluated(custom("Corridor", length=9), limit=100)
    assert figures_of(played) == (9.0, 6, 0)
    assert played.statistics() == {
        "evaluation_std": 0.0,
        "evaluation_min": 9.0,
        "evaluation_max": 9.0,
        "evaluation_length": 9.0,
        "evaluation_episodes": 6.0,
    }


def test_an_endless_environment_is_cut_off_and_counted() -> None:
    assert figures_of(evaluated(custom("Endless"), limit=25)) == (25.0, 6, 6)


def test_a_stop_ends_it_without_a_figure() -> None:
    assert evaluated(custom("Endless"), limit=10**9, stopped=lambda: True) is None


def test_the_same_seed_gives_the_same_figure() -> None:
    figures = []
    for seed in (5, 5, 500):
        seed_everything(1)  # the same agent each time
        played = evaluated(registered("CartPole-v1"), limit=500, loops=4, seed=seed)
        figures.append(played.returns)
    assert figures[0] == figures[1]
    assert figures[0] != figures[2]


@pytest.mark.parametrize(
    ("training", "declared", "limit"),
    [({"eval_steps": 7}, 500, 7), ({}, 500, 501), ({}, None, 1000)],
)
def test_the_limit_comes_from_manifest_then_environment(
    training: dict[str, Any], declared: int | None, limit: int
) -> None:
    assert step_limit(read_manifest({"manifest": dqn(**training)}), declared) == limit
