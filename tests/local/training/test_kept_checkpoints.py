"""Checkpoints that an earlier version wrote: they load, act and are trained on from, for ever.

Those in `kept_checkpoints` are files of the version that first had them. They are never written
anew: when one does not load any more, its users' do not either.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena_sdk.local.training import checkpoints, saving
from arena_sdk.local.training.checkpoints import CheckpointError
from arena_sdk.local.training.population import Population
from arena_sdk.local.training.spec import read_manifest

from .conftest import StartJob
from .support import registered

KEPT = Path(__file__).parent / "kept_checkpoints"
each = pytest.mark.parametrize("which", ["dqn", "ppo"])


def manifest(which: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((KEPT / which / "run.json").read_text())
    return found


@each
def test_its_agent_acts(which: str) -> None:
    agent = checkpoints.load_agent(KEPT / which / "step_256")
    agent.set_training_mode(False)
    observation = np.zeros((1, 4), np.float32)
    action = agent.get_action(observation) if which == "ppo" else agent.get_action(observation, 0.0)
    chosen = action[0] if isinstance(action, tuple) else action
    assert int(np.asarray(chosen).ravel()[0]) in (0, 1)


@each
def test_its_population_is_whole(which: str) -> None:
    saved = saving.load(KEPT / which / "step_256")
    spec = read_manifest({"manifest": manifest(which), "max_steps": 512})
    population = Population.restored(spec, saved.population, saved.agents)
    assert [record.steps for record in population.members] == [256, 256]
    assert saved.generation == 2
    assert set(saved.agents) == {record.member for record in population.members}


@pytest.mark.slow
@each
def test_it_is_trained_on_from(which: str, start_job: StartJob, checkpoints: Path) -> None:
    shutil.copytree(KEPT / which / "step_256", checkpoints / "step_256")
    job = start_job(
        manifest(which), registered("CartPole-v1"), resume_from="step_256", max_steps=384
    )
    assert job.finish()["state"] == "completed"
    assert [g["generation"] for g in job.of("generation")] == [2, 3]


def test_one_in_the_place_of_another_never_loads(tmp_path: Path) -> None:
    shutil.copytree(KEPT / "dqn" / "step_256", tmp_path / "step_512")
    with pytest.raises(CheckpointError, match="step_512 is damaged: it was written as step_256"):
        checkpoints.read(tmp_path / "step_512")


def test_one_of_a_newer_version_says_so(tmp_path: Path) -> None:
    path = checkpoints.write(tmp_path, "step_1", {"state.json": b"{}"}).path
    listed = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps({**listed, "format": 99}))
    with pytest.raises(CheckpointError, match="newer version of arena-tui"):
        checkpoints.read(path)
