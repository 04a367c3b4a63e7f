"""Training several agents by whole rollouts, for IPPO.

AgileRL estimates the advantages itself, from whether each step began a new episode. What an
episode's limit cut off is added to the last reward as its estimated worth, as it is for PPO.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from . import observations
from .stage import Stage
from .tasks import TrainTask
from .team import TeamStep, as_infos

FIELDS = ("states", "actions", "log_probs", "rewards", "dones", "values")


def train(
    agent: Any,
    stage: Stage,
    task: TrainTask,
    watch: Callable[[int], bool],
    *,
    dormancy: bool,
) -> int:
    """Train agents for at least the steps of a task, in whole rollouts of their `learn_step`.

    A rollout that a stop interrupts is dropped and not counted: nothing was learned from it.

    Args:
        agent: An IPPO agent, in training mode.
        stage: Where it acts.
        task: Its steps.
        watch: Called with the steps so far at every step; true means stop at once.
        dormancy: Whether to keep the last gradients for parameter mutations.

    Returns:
        Steps learned from; one is a step of all agents.
    """
    copies, steps = stage.vector.count, 0
    while steps < task.steps:
        length = max(2, -(-int(agent.learn_step) // copies))
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
) -> tuple[dict[str, Any], ...] | None:
    """Return a rollout as IPPO's `learn` takes it, or None if stopped."""
    ids, copies = list(agent.agent_ids), stage.vector.count
    taken: dict[str, dict[str, list[Any]]] = {f: {a: [] for a in ids} for f in FIELDS}
    began = np.zeros(copies)
    for t in range(length):
        if watch(t * copies):
            return None
        obs = stage.obs
        actions, log_probs, _, values = agent.get_action(obs, infos=as_infos(stage.mask))
        step = stage.act({a: _for_environment(agent, a, actions[a]) for a in ids})
        assert isinstance(step, TeamStep)
        rewards = _with_hidden_futures(agent, step)
        for index, a in enumerate(ids):
            row = (obs[a], actions[a], log_probs[a], rewards[:, index], began, values[a])
            for name, value in zip(FIELDS, row, strict=True):
                taken[name][a].append(value)
        began = (step.terminated | step.truncated).astype(np.float64)
    after = dict.fromkeys(ids, began)
    return (*(taken[name] for name in FIELDS), stage.obs, after)


def _with_hidden_futures(agent: Any, step: TeamStep) -> Any:
    """Return the rewards, (copies, agents), with the worth of futures that a limit hid."""
    rewards = np.array(step.rewards)
    rows = np.flatnonzero(step.truncated)
    if rows.size:
        values = agent.get_action(observations.take(step.next_obs, rows))[3]
        for index, a in enumerate(agent.agent_ids):
            goes_on = ~step.dones[rows, index]
            worth = agent.gamma * np.asarray(values[a]).reshape(-1)
            rewards[rows, index] += np.where(goes_on, worth, 0.0)
    return rewards


def _for_environment(agent: Any, agent_id: str, action: Any) -> Any:
    """Return a sampled action as the environment takes it: a squashed one scaled to the bounds."""
    actor = network_of(agent, agent_id)
    if getattr(actor, "squash_output", False):
        return np.asarray(actor.scale_action(torch.as_tensor(action)).numpy())
    return action


def network_of(agent: Any, agent_id: str) -> Any:
    """Return the actor of one agent; agents that are alike share one."""
    actors = agent.actors
    return actors[agent_id] if agent_id in actors else actors[agent.get_group_id(agent_id)]
