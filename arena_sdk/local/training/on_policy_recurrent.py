"""Training by whole rollouts with a hidden state, for recurrent PPO.

AgileRL learns from its own rollout buffer, cut into sequences that begin with the hidden state that
was held there. What is put in here are our own advantages: AgileRL's estimate takes the end of an
episode for that of the step before, and leaves out the future that a limit hid.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .observations import Batch
from .on_policy import estimate_advantages, for_environment
from .stage import Stage
from .tasks import TrainTask

Hidden = dict[str, torch.Tensor]
"""By network: (layers, copies, size)."""


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
        agent: A recurrent PPO agent, in training mode.
        stage: Where it acts.
        task: Its steps.
        watch: Called with the steps so far at every step; true means stop at once.
        dormancy: Whether to keep the last gradients for parameter mutations.

    Returns:
        Steps learned from.
    """
    copies, steps = stage.vector.count, 0
    if task.agent is not None:  # it comes from elsewhere and remembers nothing of these episodes
        agent.hidden_state = agent.get_initial_hidden_state(copies)
        agent.create_rollout_buffer()
    while steps < task.steps:
        counted = len(stage.scores), len(stage.inherited)
        if not collect(agent, stage, partial(_watch_from, watch, steps)):
            del stage.scores[counted[0] :], stage.inherited[counted[1] :]
            break
        steps += agent.rollout_buffer.capacity * copies
        if dormancy and steps >= task.steps:
            agent.init_training_step(capture_grama=True)
        agent.learn()
    return steps


def _watch_from(watch: Callable[[int], bool], base: int, steps: int) -> bool:
    return watch(base + steps)


def collect(agent: Any, stage: Stage, watch: Callable[[int], bool]) -> bool:
    """Fill the agent's rollout buffer; return whether that was finished."""
    buffer, copies = agent.rollout_buffer, stage.vector.count
    length = buffer.capacity
    buffer.reset()
    rewards = np.zeros((length, copies), dtype=np.float32)
    values = np.zeros((length + 1, copies), dtype=np.float32)
    ended = np.zeros((length, copies), dtype=np.bool_)
    for t in range(length):
        if watch(t * copies):
            return False
        obs, mask, held = stage.obs, stage.mask, agent.hidden_state
        action, log_prob, _, value, after = agent.get_action(
            obs, action_mask=mask, hidden_state=held
        )
        step = stage.act(for_environment(agent, action))
        rewards[t], values[t] = step.reward, value.reshape(-1)
        ended[t] = step.terminated | step.truncated
        cut = np.flatnonzero(step.truncated)
        if cut.size:
            worth = _values(agent, step.next_obs, after)[cut]
            rewards[t, cut] += agent.gamma * worth
        buffer.add(
            obs=obs,
            action=action,
            reward=rewards[t],
            done=ended[t],
            value=values[t],
            log_prob=log_prob.reshape(-1),
            next_obs=step.next_obs,
            hidden_state=held,
            action_mask=mask,
        )
        agent.hidden_state = _forgotten(agent, after, ended[t])
    values[length] = _values(agent, stage.obs, agent.hidden_state)
    advantages = estimate_advantages(rewards, values, ended, agent.gamma, agent.gae_lambda)
    buffer.buffer["advantages"][:length] = torch.from_numpy(advantages)
    buffer.buffer["returns"][:length] = torch.from_numpy(advantages + values[:length])
    return True


def _values(agent: Any, obs: Batch, hidden: Hidden) -> npt.NDArray[np.float32]:
    """Return the critic's estimates, (copies,)."""
    value = agent.get_action(obs, hidden_state=hidden)[3]
    return np.asarray(value, dtype=np.float32).reshape(-1)


def _forgotten(agent: Any, hidden: Hidden, ended: npt.NDArray[np.bool_]) -> Hidden:
    """Return hidden states with those of ended episodes as at the beginning of one."""
    if not ended.any():
        return hidden
    rows = torch.from_numpy(np.flatnonzero(ended))
    blank = agent.get_initial_hidden_state(len(ended))
    forgotten = {}
    for key, state in hidden.items():
        forgotten[key] = state.clone()
        forgotten[key][:, rows] = blank[key][:, rows]
    return forgotten
