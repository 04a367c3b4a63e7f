"""Training by whole rollouts: collect, estimate advantages, learn; for PPO."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from tensordict import TensorDict

from . import observations
from .observations import Batch
from .stage import Stage
from .tasks import TrainTask

Floats = npt.NDArray[np.float32]


def train(
    agent: Any,
    stage: Stage,
    task: TrainTask,
    watch: Callable[[int], bool],
    *,
    dormancy: bool,
) -> int:
    """Train an agent for at least the steps of a task, in whole rollouts of its `learn_step`.

    A rollout that a stop interrupts is dropped and not counted: nothing was learned from it.

    Args:
        agent: A PPO agent, in training mode.
        stage: Where it acts.
        task: Its steps.
        watch: Called with the steps so far at every step; true means stop at once.
        dormancy: Whether to keep the last gradients for parameter mutations.

    Returns:
        Steps learned from.
    """
    copies, steps = stage.vector.count, 0
    while steps < task.steps:
        length = -(-int(agent.learn_step) // copies)
        counted = len(stage.scores), len(stage.inherited)
        experiences = collect(agent, stage, length, partial(_watch_from, watch, steps))
        if experiences is None:
            del stage.scores[counted[0] :], stage.inherited[counted[1] :]
            break
        steps += length * copies
        if dormancy and steps >= task.steps:
            agent.init_training_step(capture_grama=True)
        agent.learn(experiences)
    return steps


def _watch_from(watch: Callable[[int], bool], base: int, steps: int) -> bool:
    return watch(base + steps)


def collect(
    agent: Any, stage: Stage, length: int, watch: Callable[[int], bool]
) -> TensorDict | None:
    """Return a rollout with advantages and returns as PPO's `learn` takes it; None if stopped."""
    copies = stage.vector.count
    rewards = np.zeros((length, copies), dtype=np.float32)
    values = np.zeros((length + 1, copies), dtype=np.float32)
    log_probs = np.zeros((length, copies), dtype=np.float32)
    ended = np.zeros((length, copies), dtype=np.bool_)
    seen: list[Batch] = []
    actions: list[npt.NDArray[Any]] = []
    masks: list[Any] = []
    for t in range(length):
        if watch(t * copies):
            return None
        seen.append(stage.obs)
        masks.append(stage.mask)
        action, log_prob, _, value = agent.get_action(stage.obs, action_mask=stage.mask)
        step = stage.act(for_environment(agent, action))
        actions.append(action.reshape(copies, -1))
        log_probs[t], values[t] = log_prob.reshape(-1), value.reshape(-1)
        rewards[t] = step.reward
        ended[t] = step.terminated | step.truncated
        if step.truncated.any():
            # The episode had a future that the limit hid: its estimated worth stands for it.
            rows = np.flatnonzero(step.truncated)
            rewards[t, rows] += agent.gamma * _value(agent, observations.take(step.next_obs, rows))
    values[length] = _value(agent, stage.obs)
    advantages = estimate_advantages(rewards, values, ended, agent.gamma, agent.gae_lambda)
    return _experiences(seen, actions, masks, log_probs, values[:-1], advantages)


def estimate_advantages(
    rewards: Floats,
    values: Floats,
    ended: npt.NDArray[np.bool_],
    gamma: float,
    gae_lambda: float,
) -> Floats:
    """Return generalized advantage estimates (Schulman et al., 2016, arXiv:1506.02438).

    Args:
        rewards: (steps, copies), the worth of a cut-off future included.
        values: (steps + 1, copies); the last row is that of the observation after the rollout.
        ended: (steps, copies); whether the step was the last of its episode.
        gamma: Discount.
        gae_lambda: Trade of bias (0) against variance (1).

    Returns:
        float32, (steps, copies).
    """
    advantages = np.zeros_like(rewards)
    running = np.zeros(rewards.shape[1], dtype=np.float32)
    for t in reversed(range(len(rewards))):
        goes_on = 1.0 - ended[t].astype(np.float32)
        delta = rewards[t] + gamma * values[t + 1] * goes_on - values[t]
        running = delta + gamma * gae_lambda * goes_on * running
        advantages[t] = running
    return advantages


def for_environment(agent: Any, action: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a sampled action as the environment takes it: a squashed one scaled to the bounds."""
    if getattr(agent.actor, "squash_output", False):
        return np.asarray(agent.actor.scale_action(torch.from_numpy(action)).numpy())
    return action


def _value(agent: Any, obs: Batch) -> Floats:
    """Return the critic's estimates, (rows,)."""
    return np.asarray(agent.get_action(obs)[3], dtype=np.float32).reshape(-1)


def _experiences(
    seen: list[Batch],
    actions: list[npt.NDArray[Any]],
    masks: list[Any],
    log_probs: Floats,
    values: Floats,
    advantages: Floats,
) -> TensorDict:
    """Return the rollout flattened over steps and copies."""
    flat = [
        torch.from_numpy(np.concatenate(column))
        for column in zip(*(observations.leaves(batch) for batch in seen), strict=True)
    ]
    obs = observations.as_agent_input(observations.unflatten(seen[0], flat))
    count = log_probs.size
    content: dict[str, Any] = {
        "observations": TensorDict(obs, batch_size=[count]) if isinstance(obs, dict) else obs,
        "actions": torch.from_numpy(np.concatenate(actions).astype(np.float32)),
        "log_probs": torch.from_numpy(log_probs.reshape(-1)),
        "values": torch.from_numpy(values.reshape(-1)),
        "advantages": torch.from_numpy(advantages.reshape(-1)),
        "returns": torch.from_numpy((advantages + values).reshape(-1)),
    }
    if all(mask is not None for mask in masks):
        content["action_masks"] = torch.from_numpy(np.concatenate(masks).astype(np.bool_))
    return TensorDict(content, batch_size=[count])
