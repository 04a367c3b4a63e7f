"""What members learn from: advantages, bootstrapping, and nothing that did not happen."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from arena_sdk.local.training import off_policy, on_policy
from arena_sdk.local.training.replay import Replay
from arena_sdk.local.training.spec import read_manifest
from arena_sdk.local.training.stage import Stage
from arena_sdk.local.training.tasks import TrainTask
from arena_sdk.local.training.vectorize import ActionAdapter, InProcessVector
from arena_sdk.local.validation.loading import make_env

from .support import custom, dqn

COPIES = 2


def stage_of(name: str, **config: Any) -> Stage:
    copies = InProcessVector(partial(make_env, custom(name, **config)), COPIES)
    return Stage(copies, ActionAdapter(spaces.Discrete(2)), seed=0)


class Valuer:
    """Stands where a PPO agent would: values every observation by its second number."""

    gamma, gae_lambda, learn_step = 0.9, 0.8, 8
    actor = None

    def get_action(self, obs: Any, action_mask: Any = None) -> Any:
        count = len(obs)
        values = obs[:, 1].astype(np.float32)
        return np.zeros(count, np.int64), np.zeros(count), np.zeros(count), values


class Learner:
    """Stands where a DQN agent would: counts what it is asked to learn."""

    batch_size, learn_step, steps = 4, 8, 0

    def __init__(self) -> None:
        self.learned = 0
        self.epsilons: list[float] = []

    def get_action(self, obs: Any, epsilon: float, action_mask: Any = None) -> Any:
        self.epsilons.append(epsilon)
        return np.zeros(len(obs), np.int64)

    def learn(self, batch: Any) -> None:
        self.learned += 1


def brute_force(rewards: Any, values: Any, ended: Any, gamma: float, lam: float) -> Any:
    """Advantages by their definition: the discounted sum of later errors in the same episode."""
    length = len(rewards)
    errors = [
        rewards[t] + gamma * values[t + 1] * (not ended[t]) - values[t] for t in range(length)
    ]
    result = []
    for t in range(length):
        total, weight = 0.0, 1.0
        for k in range(t, length):
            total += weight * errors[k]
            if ended[k]:
                break
            weight *= gamma * lam
        result.append(total)
    return result


def test_advantages_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(4)
    rewards = rng.normal(size=(30, 3)).astype(np.float32)
    values = rng.normal(size=(31, 3)).astype(np.float32)
    ended = rng.random((30, 3)) < 0.2
    found = on_policy.estimate_advantages(rewards, values, ended, 0.95, 0.9)
    for copy in range(3):
        expected = brute_force(rewards[:, copy], values[:, copy], ended[:, copy], 0.95, 0.9)
        assert np.allclose(found[:, copy], expected, atol=1e-4)


@pytest.mark.parametrize("end", ["terminated", "truncated"])
def test_only_a_cut_off_future_counts(end: str) -> None:
    """The last step returns its reward, and the worth of a future where there is one."""
    stage = stage_of("Corridor", length=3, end=end)
    batch = on_policy.collect(Valuer(), stage, 6, lambda _steps: False)
    assert batch is not None
    seen, returns = batch["observations"].numpy(), batch["returns"].numpy()
    last = seen[:, 1] == 2
    future = 0.9 * 3.0 if end == "truncated" else 0.0
    assert np.allclose(returns[last], 1.0 + future)


def test_a_stopped_rollout_is_not_counted() -> None:
    stage = stage_of("Corridor", length=2)
    stage.enter(1)
    task = TrainTask(slot=0, member=1, agent=None, steps=100, epsilon=0, seed=0)
    steps = on_policy.train(Valuer(), stage, task, lambda made: made >= 4, dormancy=False)
    assert steps == 0
    assert stage.scores == []


@pytest.mark.parametrize("end", ["terminated", "truncated"])
def test_every_stored_transition_happened(end: str) -> None:
    stage, agent = stage_of("Corridor", length=4, end=end), Learner()
    stage.enter(0)
    spec = read_manifest({"manifest": dqn()})
    replay = Replay(1000, stage.vector._space, spaces.Discrete(2))  # type: ignore[attr-defined]
    task = TrainTask(slot=0, member=0, agent=None, steps=80, epsilon=1.0, seed=0)
    rng = np.random.default_rng(0)
    steps, epsilon = off_policy.train(
        agent, stage, replay, spec, task, rng, lambda _made: False, dormancy=False
    )
    obs, successor, _, _, done = replay.recent(1000)
    assert steps == len(obs) == 80
    assert np.array_equal(successor, obs + np.array([0, 1]))
    assert np.array_equal(done[:, 0] == 1, (obs[:, 1] == 3) & (end == "terminated"))
    assert stage.scores == [4.0] * 20
    assert epsilon == pytest.approx(0.999**40)


def test_learning_keeps_its_rate_whatever_the_number_of_copies() -> None:
    stage, agent = stage_of("Corridor"), Learner()
    agent.learn_step = 5  # no multiple of the copies
    spec = read_manifest({"manifest": dqn()})
    replay = Replay(1000, stage.vector._space, spaces.Discrete(2))  # type: ignore[attr-defined]
    task = TrainTask(slot=0, member=0, agent=None, steps=1000, epsilon=1.0, seed=0)
    rng = np.random.default_rng(0)
    off_policy.train(agent, stage, replay, spec, task, rng, lambda _made: False, dormancy=False)
    assert agent.learned == pytest.approx(1000 / 5, abs=2)


def test_learning_waits_for_its_delay() -> None:
    stage, agent = stage_of("Corridor"), Learner()
    spec = read_manifest({"manifest": dqn(learning_delay=500)})
    replay = Replay(1000, stage.vector._space, spaces.Discrete(2))  # type: ignore[attr-defined]
    rng = np.random.default_rng(0)
    for steps, learned in ((500, 0), (200, 25)):
        task = TrainTask(slot=0, member=0, agent=None, steps=steps, epsilon=1.0, seed=0)
        off_policy.train(agent, stage, replay, spec, task, rng, lambda _m: False, dormancy=False)
        assert agent.learned == pytest.approx(learned, abs=1)


def test_a_successor_does_not_claim_the_episodes_that_it_found() -> None:
    stage = stage_of("Corridor", length=4)
    stage.enter(0)
    for _ in range(2):
        stage.act(np.zeros(COPIES, np.int64))
    stage.enter(1)
    for _ in range(6):
        stage.act(np.zeros(COPIES, np.int64))
    assert stage.inherited == [4.0] * COPIES
    assert stage.scores == [4.0] * COPIES
