"""Training by replayed experience: act, store, learn; for DQN, Rainbow DQN, DDPG and TD3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .exploring import Explorer, make_explorer
from .learning import make_learner
from .replay import Replay
from .spec import RunSpec
from .stage import Stage
from .tasks import TrainTask

DORMANCY_WINDOW = 4
"""Learning steps before the end during which gradients are watched; the last one's are kept."""


def train(
    agent: Any,
    stage: Stage,
    replay: Replay,
    spec: RunSpec,
    task: TrainTask,
    rng: np.random.Generator,
    watch: Callable[[int], bool],
    *,
    dormancy: bool,
) -> tuple[int, float]:
    """Train an agent for the steps of a task.

    Args:
        agent: An agent of the spec's algorithm, in training mode.
        stage: Where it acts.
        replay: Where its experience goes and what it learns from.
        spec: The run.
        task: Its steps, and the exploration to begin with.
        rng: Draws what is replayed.
        watch: Called with the steps so far at every step; true means stop at once.
        dormancy: Whether to keep the last gradients for parameter mutations.

    Returns:
        Steps made, and the exploration arrived at.
    """
    copies, steps, owed = stage.vector.count, 0, 0
    explorer: Explorer = make_explorer(agent, spec, task.epsilon)
    watching, after = False, None
    with make_learner(agent, replay, spec, rng) as learn:
        while steps < task.steps and not watch(steps):
            obs = stage.obs
            stored, action = explorer.act(obs, stage.mask)
            step = stage.act(action)
            explorer.note(step)
            after = replay.add(obs, stored, step, after)
            steps += copies
            owed += copies
            left = task.steps - steps
            if dormancy and not watching and left <= DORMANCY_WINDOW * agent.learn_step:
                agent.init_training_step(capture_grama=True)
                watching = True
            if not _ready(agent, replay, spec):
                owed = 0
            # One learning step for every `learn_step` environment steps, of however many copies.
            while owed >= agent.learn_step:
                learn(steps)
                owed -= agent.learn_step
    return steps, explorer.epsilon


def _ready(agent: Any, replay: Replay, spec: RunSpec) -> bool:
    held = len(replay)
    enough = min(int(agent.batch_size), replay.capacity)
    delay = min(spec.learning_delay, replay.capacity - 1)
    return held >= enough and held > delay
