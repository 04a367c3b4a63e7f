"""Training of contextual bandits, NeuralUCB and NeuralTS.

Zhou et al., "Neural Contextual Bandits with UCB-based Exploration", 2020, arXiv:1911.04462, and
Zhang et al., "Neural Thompson Sampling", 2021, arXiv:2010.00827.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .replay import Replay
from .stage import Stage
from .tasks import TrainTask
from .vectorize import Step


def train(
    agent: Any,
    stage: Stage,
    replay: Replay,
    task: TrainTask,
    rng: np.random.Generator,
    watch: Callable[[int], bool],
    *,
    dormancy: bool,
) -> int:
    """Train a bandit for the steps of a task.

    Args:
        agent: A NeuralUCB or NeuralTS agent, in training mode.
        stage: Where it acts.
        replay: Holds the contexts that were chosen and what they paid.
        task: Its steps.
        rng: Draws what is replayed.
        watch: Called with the steps so far at every step; true means stop at once.
        dormancy: Whether to keep the last gradients for parameter mutations.

    Returns:
        Steps made.
    """
    copies, steps = stage.vector.count, 0
    if dormancy:
        agent.init_training_step(capture_grama=True)
    while steps < task.steps and not watch(steps):
        contexts = stage.obs
        arms = np.array([agent.get_action(one) for one in contexts])
        step = stage.act(arms)
        chosen = contexts[np.arange(copies), arms]
        kept = Step(chosen, chosen, step.reward, step.terminated, step.truncated, None)
        replay.add(chosen, arms, kept)
        steps += copies
        if len(replay) < min(int(agent.batch_size), replay.capacity):
            continue
        # AgileRL's bandits learn `learn_step` times for every row.
        for _ in range(agent.learn_step * copies):
            agent.learn(replay.sample(agent.batch_size, rng).select("obs", "reward"))
    return steps
