"""Offline learning: only recorded steps that have a successor, from HDF5 and from Minari."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from gymnasium import spaces

from arena_sdk.local.training import offline
from arena_sdk.local.training.errors import TrainingError
from arena_sdk.local.training.member import Member
from arena_sdk.local.training.population import Population
from arena_sdk.local.training.spec import read_manifest
from arena_sdk.local.training.stage import Stages
from arena_sdk.local.training.tasks import EvalTask, Setup, TrainTask
from arena_sdk.local.validation.loading import make_env

from .support import custom

OBSERVATION = spaces.Box(-1, 1e6, (2,), np.float32)
ACTION = spaces.Discrete(2)


def recorded(path: Path, **changes: Any) -> dict[str, Any]:
    """Write 3 episodes of 4 steps: the first two end, the third is cut off."""
    episode, t = np.divmod(np.arange(12), 4)
    arrays: dict[str, Any] = {
        "observations": np.stack([episode, t], axis=1).astype(np.float32),
        "actions": t % 2,
        "rewards": t.astype(np.float32),
        "terminals": (t == 3) & (episode < 2),
        "timeouts": (t == 3) & (episode == 2),
        **changes,
    }
    with h5py.File(path, "w") as file:
        for key, array in arrays.items():
            if array is not None:
                file[key] = array
    return {"path": str(path)}


def test_only_steps_with_a_successor_are_learned_from(tmp_path: Path) -> None:
    replay = offline.load(recorded(tmp_path / "a.h5"), OBSERVATION, ACTION)
    obs, successor, action, reward, done = replay.recent(100)
    assert len(replay) == 11  # not the one that was cut off
    inner = done[:, 0] == 0
    assert np.array_equal(successor[inner], obs[inner] + np.array([0, 1]))
    assert np.array_equal(inner, obs[:, 1] != 3)
    assert np.array_equal(action[:, 0], obs[:, 1] % 2)
    assert np.array_equal(reward[:, 0], obs[:, 1])


def test_recorded_successors_are_taken(tmp_path: Path) -> None:
    successors = np.full((12, 2), 9, np.float32)
    dataset = recorded(tmp_path / "a.h5", next_observations=successors)
    replay = offline.load(dataset, OBSERVATION, ACTION)
    assert len(replay) == 12
    assert np.array_equal(replay.recent(12)[1], successors)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"terminals": None}, "holds no 'terminals'"),
        ({"rewards": np.zeros(3)}, "unequal lengths"),
        ({"observations": np.zeros((12, 5))}, r"shape \(5,\)"),
        ({"actions": np.full(12, 7)}, "actions that are not of the environment's Discrete"),
    ],
)
def test_what_is_wrong_with_a_dataset_is_said(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(TrainingError, match=words):
        offline.load(recorded(tmp_path / "a.h5", **changes), OBSERVATION, ACTION)


def test_files_and_ids_that_are_no_datasets_are_said(tmp_path: Path) -> None:
    (tmp_path / "b.h5").write_text("no")
    with pytest.raises(TrainingError, match="cannot be read as HDF5"):
        offline.load({"path": str(tmp_path / "b.h5")}, OBSERVATION, ACTION)
    with pytest.raises(TrainingError, match="Minari dataset no/such-v0 cannot be loaded"):
        offline.load({"minari": "no/such-v0"}, OBSERVATION, ACTION)


def test_minari_datasets_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gymnasium
    import minari

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    env = minari.DataCollector(gymnasium.make("CartPole-v1"))
    env.action_space.seed(0)
    for _ in range(2):
        env.reset(seed=0)
        over = False
        while not over:
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            over = terminated or truncated
    kept = env.create_dataset(dataset_id="test/pole-v0", algorithm_name="random")
    inner = gymnasium.make("CartPole-v1")
    replay = offline.load({"minari": "test/pole-v0"}, inner.observation_space, inner.action_space)
    assert len(replay) == kept.total_steps
    assert int(replay.recent(10_000)[-1].sum()) == 2


def test_a_member_learns_from_recorded_steps_and_is_evaluated(tmp_path: Path) -> None:
    reference = {**custom("Corridor"), "dataset": recorded(tmp_path / "a.h5")}
    manifest = {
        "algorithm": {"name": "CQN", "batch_size": 8, "double": True},
        "environment": {"name": "Corridor", "num_envs": 2, "env_type": "offline"},
        "training": {"max_steps": 30},
    }
    spec = read_manifest({"manifest": manifest})
    setup = Setup(spec, reference, OBSERVATION, ACTION, "sync", 100)
    first = Population.first(spec, OBSERVATION, ACTION)
    member = Member(setup, Stages(setup, lambda: make_env(reference)), None)
    task = TrainTask(0, 0, first.agents[0], 30, 1.0, 0)
    report = member.train_generation(task, lambda: False, lambda _s: None)
    assert (report.steps, report.scores, list(report.losses)) == (30, [], ["loss", "gradient_norm"])
    assert member.evaluate(EvalTask(0, 1), lambda: False).fitness == 7.0
