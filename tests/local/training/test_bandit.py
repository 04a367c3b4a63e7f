"""Bandits on tables: the table is the reward, exploration is kept, and what is bad is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena_sdk.local.serving.policy import make_policy, spaces_of
from arena_sdk.local.training.agents import dump, restore
from arena_sdk.local.training.errors import TrainingError
from arena_sdk.local.training.member import Member
from arena_sdk.local.training.population import Population
from arena_sdk.local.training.spec import read_manifest
from arena_sdk.local.training.stage import Stages
from arena_sdk.local.training.tasks import EvalTask, Setup, TrainTask
from arena_sdk.local.validation.loading import make_env


def tables(folder: Path, features: str | None = None, targets: str | None = None) -> dict[str, Any]:
    """Write a table of which the sign of the first column is the label."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 3)).round(3)
    rows = "\n".join(",".join(map(str, row)) for row in values)
    (folder / "features.csv").write_text(features or f"a,b,c\n{rows}\n")
    labels = "\n".join("up" if row[0] > 0 else "down" for row in values)
    (folder / "targets.csv").write_text(targets or f"label\n{labels}\n")
    return {
        "kind": "bandit",
        "name": "table",
        "features": str(folder / "features.csv"),
        "targets": str(folder / "targets.csv"),
        "episode_steps": 20,
    }


def test_a_table_pays_for_its_labels(tmp_path: Path) -> None:
    env = make_env(tables(tmp_path))
    contexts, _ = env.reset(seed=1)
    assert env.observation_space.contains(contexts)
    paid, truncated = [], False
    while not truncated:
        assert np.array_equal(contexts[0, :3], contexts[1, 3:])
        assert not contexts[0, 3:].any()
        best = int(contexts[0, 0] > 0)  # labels in order: down, up
        contexts, reward, terminated, truncated, _ = env.step(best)
        paid.append(reward)
        assert not terminated
    assert paid == [1.0] * 20
    again, _ = env.reset(seed=1)
    assert np.array_equal(again, env.reset(seed=1)[0])


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"targets": "label\na\nb\n"}, "60 rows and environment.targets 2"),
        ({"features": "a,b\n1,x\n", "targets": "label\n1\n"}, "text in column 'b'"),
        ({"features": "a,b\n1,\n", "targets": "label\n1\n"}, "missing or infinite"),
        ({"features": "a\n1\n2\n", "targets": "label\n1\n1\n"}, "1 different values"),
        ({"targets": '"'}, "cannot be read as a table"),
    ],
)
def test_tables_that_make_no_bandit_are_told(
    tmp_path: Path, bad: dict[str, str], words: str
) -> None:
    with pytest.raises(TrainingError, match=words):
        make_env(tables(tmp_path, **bad))


@pytest.mark.parametrize("name", ["NeuralUCB", "NeuralTS"])
def test_a_bandit_learns_its_table_and_is_served(name: str, tmp_path: Path) -> None:
    reference = tables(tmp_path)
    network = {"encoder_config": {"hidden_size": [16]}, "head_config": {"hidden_size": [16]}}
    manifest = {
        "algorithm": {"name": name, "batch_size": 16, "lr": 0.01, "gamma": 0.5},
        "environment": {"name": "table", "env_type": "bandit"},
        "training": {"max_steps": 200, "eval_loop": 5},
        "network": {"latent_dim": 16, **network},
    }
    spec, env = read_manifest({"manifest": manifest}), make_env(reference)
    setup = Setup(spec, reference, env.observation_space, env.action_space, "sync", 100)
    first = Population.first(spec, setup.observation_space, setup.action_space)
    stages = Stages(setup, lambda: make_env(reference))
    member = Member(setup, stages, None)
    task = TrainTask(0, 0, first.agents[0], 200, 1.0, 0)
    report = member.train_generation(task, lambda: False, lambda _s: None)
    assert report.steps == 200
    assert report.losses.keys() == {"loss", "gradient_norm"}
    fitness = member.evaluate(EvalTask(0, 1), lambda: False).fitness
    assert fitness is not None
    assert fitness >= 16  # of 20; chance is paid 10
    again = restore(dump(member._agent), 3)
    assert again.sigma_inv.equal(member._agent.sigma_inv)  # what was explored is not forgotten
    observation_space, action_space = spaces_of(again)
    assert (observation_space.shape, action_space.n) == ((2, 6), 2)
    contexts = np.stack([env.reset()[0] for _ in range(8)])
    arms = make_policy(again)(contexts, None)
    assert arms.tolist() == make_policy(again)(contexts, None).tolist()
    assert make_policy(again)(contexts, np.eye(2)[[0] * 8]).tolist() == [0] * 8
