"""Served policies are deterministic and do what the trained networks prefer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from arena_sdk.local.serving.policy import UnsupportedAgent, make_policy

NET = {
    "latent_dim": 16,
    "encoder_config": {"hidden_size": [16]},
    "head_config": {"hidden_size": [16]},
}
OBSERVATIONS = spaces.Box(-1, 1, (4,), np.float32)


def agent(algorithm: str, action_space: spaces.Space[Any], observation_space: Any = OBSERVATIONS):
    from agilerl.algorithms import DQN, PPO

    net = NET
    if isinstance(observation_space, spaces.Dict | spaces.Tuple):
        net = {"latent_dim": 16, "head_config": {"hidden_size": [16]}}
    kind = {"DQN": DQN, "PPO": PPO}[algorithm]
    return kind(observation_space, action_space, net_config=net)


def batch(n: int = 64) -> np.ndarray:
    return np.random.default_rng(3).uniform(-1, 1, (n, 4)).astype(np.float32)


@pytest.mark.parametrize(
    ("algorithm", "space"),
    [
        ("DQN", spaces.Discrete(5)),
        ("PPO", spaces.Discrete(5)),
        ("PPO", spaces.Box(-2, 2, (3,), np.float32)),
        ("PPO", spaces.MultiDiscrete([3, 4])),
        ("PPO", spaces.MultiBinary(3)),
    ],
    ids=str,
)
def test_same_observation_same_action(algorithm: str, space: spaces.Space[Any]) -> None:
    policy = make_policy(agent(algorithm, space))
    seen = batch()
    first = policy(seen, None)
    assert first.shape == (64, *(space.shape or ()))
    assert all(space.contains(action.astype(space.dtype)) for action in first)
    for _ in range(20):
        np.testing.assert_array_equal(policy(seen, None), first)


@pytest.mark.parametrize("algorithm", ["DQN", "PPO"])
def test_a_batch_is_answered_as_its_rows_are(algorithm: str) -> None:
    policy = make_policy(agent(algorithm, spaces.Discrete(5)))
    seen = batch()
    rows = [policy(row[None], None)[0] for row in seen]
    np.testing.assert_array_equal(policy(seen, None), rows)


def test_ppo_prefers_its_most_likely_action() -> None:
    """The mode is what most samples of the agent's own exploring policy are."""
    trained = agent("PPO", spaces.Discrete(3))
    seen = batch(4)
    chosen = make_policy(trained)(seen, None)
    counts = np.zeros((4, 3))
    for _ in range(600):
        sampled = trained.get_action(seen)[0]
        counts[np.arange(4), sampled] += 1
    top = np.sort(counts, axis=1)
    clear = top[:, -1] - top[:, -2] > 60
    np.testing.assert_array_equal(chosen[clear], counts.argmax(axis=1)[clear])


def test_ppo_gives_the_mean_of_its_gaussian() -> None:
    trained = agent("PPO", spaces.Box(-5, 5, (2,), np.float32))
    seen = batch(2)
    chosen = make_policy(trained)(seen, None)
    samples = np.stack([trained.get_action(seen)[0] for _ in range(2000)])
    np.testing.assert_allclose(samples.mean(axis=0), chosen, atol=0.15)


@pytest.mark.parametrize("algorithm", ["DQN", "PPO"])
def test_a_mask_is_obeyed(algorithm: str) -> None:
    policy = make_policy(agent(algorithm, spaces.Discrete(5)))
    mask = np.zeros((64, 5), np.float32)
    mask[:, 3] = 1
    assert set(policy(batch(), mask)) == {3}


@pytest.mark.parametrize("algorithm", ["DQN", "PPO"])
def test_nested_observations(algorithm: str) -> None:
    space = spaces.Dict({"where": OBSERVATIONS, "what": spaces.Discrete(3)})
    policy = make_policy(agent(algorithm, spaces.Discrete(2), space))
    for size in (1, 5):
        seen = {"where": batch(size), "what": np.arange(size) % 3}
        first = policy(seen, None)
        assert first.shape == (size,)
        np.testing.assert_array_equal(policy(seen, None), first)


def test_other_algorithms_are_refused_by_name() -> None:
    class Other:
        algo = "TD3"

        def set_training_mode(self, training: bool) -> None: ...

    with pytest.raises(UnsupportedAgent, match="TD3"):
        make_policy(Other())
