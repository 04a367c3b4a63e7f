"""Learning from recorded steps alone, for CQN: from an HDF5 file or a Minari dataset.

Kumar et al., "Conservative Q-Learning for Offline Reinforcement Learning", 2020, arXiv:2006.04779.
The environment is only for evaluation. A step of training is one learning step.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from .errors import TrainingError
from .replay import Replay
from .tasks import TrainTask
from .vectorize import Step

Array = npt.NDArray[Any]

CHUNK = 4096
"""Transitions that are put into the buffer at a time."""
REQUIRED = ("observations", "actions", "rewards", "terminals")
CUT_OFF = ("timeouts", "truncations")


def load(
    dataset: dict[str, Any], observation_space: spaces.Space[Any], action_space: spaces.Space[Any]
) -> Replay:
    """Return a buffer that holds the recorded transitions.

    Args:
        dataset: `{"path": an HDF5 file}` with the arrays observations, actions, rewards and
            terminals, and optionally next_observations and timeouts, one row a step; or
            `{"minari": an id, "remote": whether it may be downloaded}`.
        observation_space: Of the environment; the recorded observations have to be of it.
        action_space: Likewise.

    Raises:
        TrainingError: There is no such dataset, or it is not of this environment.
    """
    steps = _read_minari(dataset) if dataset.get("minari") else _read_hdf5(Path(dataset["path"]))
    observations, actions, rewards, terminals, successors = steps
    name = dataset.get("minari") or dataset["path"]
    if not isinstance(observation_space, spaces.Box) or observations.shape[1:] != (
        observation_space.shape
    ):
        raise TrainingError(
            f"The dataset {name} holds observations of shape {observations.shape[1:]}, which are "
            f"not of the environment's {observation_space}.",
            "BAD_DATASET",
        )
    start = int(getattr(action_space, "start", 0))
    actions = actions.reshape(len(actions), -1) - start
    if actions.shape[1] != 1 or not _are_choices(actions, action_space):
        raise TrainingError(
            f"The dataset {name} holds actions that are not of the environment's {action_space}.",
            "BAD_DATASET",
        )
    replay = Replay(len(rewards), observation_space, action_space)
    never = np.zeros(CHUNK, dtype=np.bool_)
    for at in range(0, len(rewards), CHUNK):
        rows = slice(at, at + CHUNK)
        count = len(rewards[rows])
        step = Step(
            successors[rows],
            successors[rows],
            rewards[rows].astype(np.float64).reshape(-1),
            terminals[rows].astype(np.bool_).reshape(-1),
            never[:count],
            None,
        )
        replay.add(observations[rows], actions[rows], step)
    return replay


def train(
    agent: Any,
    replay: Replay,
    task: TrainTask,
    rng: np.random.Generator,
    watch: Callable[[int], bool],
    *,
    dormancy: bool,
) -> int:
    """Make the learning steps of a task.

    Args:
        agent: A CQN agent, in training mode.
        replay: The recorded transitions.
        task: How many learning steps.
        rng: Draws what is learned from.
        watch: Called with the steps so far at every step; true means stop at once.
        dormancy: Whether to keep the last gradients for parameter mutations.

    Returns:
        Learning steps made.
    """
    if dormancy:
        agent.init_training_step(capture_grama=True)
    steps = 0
    while steps < task.steps and not watch(steps):
        agent.learn(replay.sample(agent.batch_size, rng))
        steps += 1
    return steps


def _are_choices(actions: Array, space: spaces.Space[Any]) -> bool:
    if not isinstance(space, spaces.Discrete):
        return False
    whole = bool(np.all(actions == np.floor(actions)))
    return whole and bool(np.all((actions >= 0) & (actions < space.n)))


def _read_hdf5(path: Path) -> tuple[Array, Array, Array, Array, Array]:
    import h5py

    try:
        with h5py.File(path, "r") as file:
            arrays = {key: np.asarray(file[key]) for key in file if hasattr(file[key], "shape")}
    except OSError as problem:
        reason = str(problem).splitlines()[0].rstrip(".")
        raise TrainingError(
            f"environment.dataset_path {path} cannot be read as HDF5: {reason}.", "BAD_DATASET"
        ) from None
    if missing := [key for key in REQUIRED if key not in arrays]:
        raise TrainingError(
            f"environment.dataset_path {path} holds no {missing[0]!r}; it needs the arrays "
            f"{', '.join(REQUIRED)}, one row a step.",
            "BAD_DATASET",
        )
    lengths = {key: len(arrays[key]) for key in REQUIRED}
    if len(set(lengths.values())) != 1 or lengths["rewards"] < 2:
        told = ", ".join(f"{key} {length:,}" for key, length in lengths.items())
        raise TrainingError(
            f"environment.dataset_path {path} holds arrays of unequal lengths or fewer than two "
            f"steps: {told}.",
            "BAD_DATASET",
        )
    return _with_successors(arrays)


def _with_successors(arrays: dict[str, Array]) -> tuple[Array, Array, Array, Array, Array]:
    """Return observation, action, reward, terminal and next observation of every true step.

    Without recorded successors the next row's observation is one, but not where an episode was cut
    off, nor of the last row, unless they ended in a terminal state (whose successor is not used).
    """
    seen, actions, rewards, ends = (arrays[key] for key in REQUIRED)
    if "next_observations" in arrays:
        return seen, actions, rewards, ends, arrays["next_observations"]
    terminals = ends.astype(np.bool_).reshape(-1)
    cut = np.zeros(len(seen), dtype=np.bool_)
    for key in CUT_OFF:
        if key in arrays:
            cut |= arrays[key].astype(np.bool_).reshape(-1)
    cut[-1] = True
    kept = terminals | ~cut
    successors = np.concatenate([seen[1:], seen[-1:]])
    return seen[kept], actions[kept], rewards[kept], terminals[kept], successors[kept]


def _read_minari(dataset: dict[str, Any]) -> tuple[Array, Array, Array, Array, Array]:
    import minari

    name = str(dataset["minari"])
    try:
        found = minari.load_dataset(name, download=bool(dataset.get("remote")))
        episodes = list(found.iterate_episodes())
    except Exception as problem:  # of the network, the file system or its own; all are of the id
        reason = (str(problem).strip() or type(problem).__name__).splitlines()[0].rstrip(".")
        raise TrainingError(
            f"The Minari dataset {name} cannot be loaded: {reason}. Download it with `minari "
            f"download {name}`, or set environment.remote to true.",
            "BAD_DATASET",
        ) from None
    parts = [
        (e.observations[:-1], e.actions, e.rewards, e.terminations, e.observations[1:])
        for e in episodes
    ]
    first, second, third, fourth, fifth = (
        np.concatenate(part) for part in zip(*parts, strict=True)
    )
    return first, second, third, fourth, fifth
