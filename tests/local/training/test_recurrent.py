"""Agents with a memory: it lasts for an episode, comes back from requests, and is learned with."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from arena_sdk.local.serving.codec import BadRequest, decode_hidden, encode_array
from arena_sdk.local.serving.policy import RecurrentPolicy, make_policy
from arena_sdk.local.training import observations, on_policy_recurrent
from arena_sdk.local.training.agents import dump, restore
from arena_sdk.local.training.catalogue import space_problem
from arena_sdk.local.training.spec import build_agent, read_manifest
from arena_sdk.local.training.stage import Stage
from arena_sdk.local.training.tasks import TrainTask
from arena_sdk.local.training.vectorize import ActionAdapter, InProcessVector
from arena_sdk.local.validation.loading import make_env

from .support import custom
from .test_catalogue import ACTIONS, OBSERVATIONS, VECTOR

COPIES = 2
READ = [name for name in OBSERVATIONS if name not in ("dict", "tuple")]


def agent_of(observation: Any, action: Any, name: str = "Recurrent PPO", **more: Any) -> Any:
    algorithm = {"name": name, "learn_step": 32, "batch_size": 4, **more}
    manifest = {"algorithm": algorithm, "environment": {"num_envs": COPIES}}
    agent = build_agent(read_manifest({"manifest": manifest}), observation, action, 0)
    agent.set_training_mode(True)
    return agent


def corridor(end: str, length: int = 3) -> Stage:
    vector = InProcessVector(partial(make_env, custom("Corridor", length=length, end=end)), COPIES)
    stage = Stage(vector, ActionAdapter(spaces.Discrete(2)), seed=0)
    stage.enter(0)
    return stage


def first_task(agent: Any, steps: int) -> TrainTask:
    return TrainTask(0, 0, dump(agent), steps, 1.0, 0)


@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("end", ["terminated", "truncated"])
def test_memory_and_advantages_end_with_their_episode(end: str, share: bool) -> None:
    stage = corridor(end)
    agent = agent_of(
        spaces.Box(-1, 1e6, (2,), np.float32), spaces.Discrete(2), share_encoders=share
    )
    agent.hidden_state = agent.get_initial_hidden_state(COPIES)
    assert on_policy_recurrent.collect(agent, stage, lambda _s: False)
    stored = agent.rollout_buffer.buffer
    t = stored["observations"][:16, 0, 1]
    for key in agent.hidden_state:
        held = stored["hidden_states"][key][:16, 0]
        blank = held.reshape(16, -1).abs().sum(dim=1) == 0
        assert blank.tolist() == (t == 0).tolist()
    returns, last = stored["returns"][:16, 0], t == 2
    if end == "terminated":
        assert returns[last].tolist() == pytest.approx([1.0] * int(last.sum()), abs=1e-5)
    else:
        assert not np.allclose(returns[last].numpy(), 1.0, atol=1e-5)


def test_a_stopped_rollout_is_not_counted() -> None:
    agent = agent_of(spaces.Box(-1, 1e6, (2,), np.float32), spaces.Discrete(2))
    stage, task = corridor("terminated"), first_task(agent, 100)
    steps = on_policy_recurrent.train(agent, stage, task, lambda made: made >= 4, dormancy=False)
    assert (steps, stage.scores) == (0, [])


@pytest.mark.parametrize("seen", READ)
def test_every_allowed_observation_is_read_with_a_memory(seen: str) -> None:
    observation = OBSERVATIONS[seen]
    assert space_problem("Recurrent PPO", observation, ACTIONS["Discrete"]) is None
    served(agent_of(observation, ACTIONS["Discrete"]), observation, ACTIONS["Discrete"])


@pytest.mark.parametrize("kind", ACTIONS)
def test_every_action_is_chosen_with_a_memory(kind: str) -> None:
    served(agent_of(VECTOR, ACTIONS[kind], "PPO", recurrent=True), VECTOR, ACTIONS[kind])


def served(agent: Any, observation: Any, action: Any) -> None:
    """Act as a deployment does: the memory of one call changes the next, a row at a time."""
    policy = make_policy(restore(dump(agent)))
    assert isinstance(policy, RecurrentPolicy)
    adapt = ActionAdapter(action)
    obs = observations.stack(observation, [observation.sample() for _ in range(3)])
    blank = policy.blank(3)
    chosen, after = policy.act(obs, None, blank)
    assert all(action.contains(one) for one in adapt(chosen))
    assert {key: part.shape for key, part in after.items()} == {
        key: part.shape for key, part in blank.items()
    }
    assert any(part.any() for part in after.values())
    alone, alone_after = policy.act(observations.take(obs, slice(1, 2)), None, policy.blank(1))
    assert np.allclose(alone, chosen[1:2], atol=1e-5)
    for key, part in alone_after.items():
        assert np.allclose(part, after[key][:, 1:2], atol=1e-5)
    policy.begin()
    assert np.array_equal(policy(obs, None), chosen)
    sent = {key: encode_array(part) for key, part in after.items()}
    back = decode_hidden(sent, blank)
    assert all(np.array_equal(back[key], after[key]) for key in blank)


def test_what_is_no_memory_is_refused_by_name() -> None:
    blank = {"h": np.zeros((1, 2, 4), np.float32)}
    assert decode_hidden(None, blank) is blank
    for bad, words in (
        ({"other": [0.0]}, "a JSON object with the keys h"),
        ([1.0], "a JSON object with the keys h"),
        ({"h": [[[1.0]]]}, r"hidden_state.h has shape \(1, 1, 1\); expected \(1, 2, 4\)"),
    ):
        with pytest.raises(BadRequest, match=words):
            decode_hidden(bad, blank)
