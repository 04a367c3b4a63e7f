"""Runs that have to equal each other, and stops of teams, which other tests do not stop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arena_sdk.local.training import checkpoints as disk

from .conftest import StartJob
from .support import SMALL, custom, ppo
from .test_job import check_lineage, comparable
from .test_offline import recorded

PAIR = {**custom("Pair"), "entrypoint": "pairs:Pair"}
PARTS: dict[str, Any] = {
    "IPPO": {"batch_size": 32, "learn_step": 64},
    "MADDPG": {"batch_size": 16, "learn_step": 16},
}


def manifest_of(name: str, algorithm: dict[str, Any], **training: Any) -> dict[str, Any]:
    """Return a small manifest; keywords are of its training section."""
    return {
        "algorithm": {"name": name, **algorithm},
        "environment": {"name": "any", "num_envs": 2},
        "training": {"pop_size": 2, **training},
        "network": {**SMALL, "encoder_config": {"hidden_size": [16]}},
        "mutation": {"probabilities": {"no_mut": 0.5, "params_mut": 0.5}, "rand_seed": 7},
        "tournament_selection": {"tournament_size": 2, "elitism": True},
    }


def offline(path: Path, **training: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the manifest of a small run on recorded steps, and its environment."""
    manifest = manifest_of("CQN", {"batch_size": 8, "double": True}, **training)
    manifest["environment"]["env_type"] = "offline"
    return manifest, {**custom("Corridor"), "dataset": recorded(path / "steps.h5")}


@pytest.mark.slow
def test_the_same_seed_gives_ppo_the_same_figures(
    start_job: StartJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = []
    for number in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", number)
        job = start_job(ppo(max_steps=768, evo_steps=256, pop_size=4), folder=f"run-{number}")
        job.finish()
        figures.append([comparable(generation) for generation in job.of("generation")])
    assert len(figures[0]) == 3
    assert figures[0] == figures[1]
    assert len({m["fitness"] for g in figures[0] for m in g["members"]}) > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_a_stopped_team_goes_on_where_it_was(start_job: StartJob, name: str) -> None:
    manifest = manifest_of(name, PARTS[name], max_steps=1_000_000, evo_steps=1_000_000)
    first = start_job(manifest, PAIR)
    first.until("progress")
    first.stop()
    assert first.finish()["state"] == "stopped"
    (stopped,) = first.of("checkpoint")
    assert stopped["steps"] > 0
    # A member may have made all of the steps of which the checkpoint names the mean.
    budget = 2 * stopped["steps"] + 256

    second = start_job(manifest, PAIR, resume_from=stopped["name"], max_steps=budget)
    assert second.finish().get("state") == "completed", second.log.read_text()[-2000:]
    assert second.of("warning") == []
    begun = second.of("progress")[0]
    assert begun["total_steps"] >= 2 * stopped["steps"]
    (generation,) = second.of("generation")
    members = generation["members"]
    assert generation["total_steps"] == sum(m["steps"] for m in members)
    assert all(budget <= m["steps"] < budget + 64 for m in members)
    assert all(m["fitness"] is not None for m in members)
    check_lineage([generation])


@pytest.mark.slow
def test_an_offline_run_that_is_resumed_equals_an_unbroken_one(
    start_job: StartJob, tmp_path: Path, checkpoints: Path
) -> None:
    manifest, environment = offline(tmp_path, max_steps=90, evo_steps=30)
    whole = start_job(manifest, environment, folder="whole")
    whole.finish()
    start_job(manifest, environment, max_steps=30).finish()
    rest = start_job(manifest, environment, resume_from=disk.names(checkpoints)[0])
    rest.finish()
    unbroken = [comparable(generation) for generation in whole.of("generation")]
    resumed = [comparable(generation) for generation in rest.of("generation")]
    assert [generation["generation"] for generation in unbroken] == [1, 2, 3]
    assert resumed[-2:] == unbroken[-2:]
