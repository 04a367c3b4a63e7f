"""An Arena that ends in the middle of a run: nothing acknowledged is lost, no process is left."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.local.conftest import (
    ArenaServer,
    end_arena,
    is_alive,
    run_arena,
    start_arena,
    wait_until,
    workers_of,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

GONE_SECONDS = 5.0
MANIFEST: dict[str, Any] = {
    "algorithm": {"name": "DQN", "lr": 0.001, "batch_size": 32, "learn_step": 4},
    "environment": {"name": "CartPole-v1", "num_envs": 4},
    "training": {"max_steps": 1_000_000, "pop_size": 2, "evo_steps": 400, "eval_steps": 50},
    "network": {
        "latent_dim": 16,
        "encoder_config": {"hidden_size": [32]},
        "head_config": {"hidden_size": [32]},
    },
    "replay_buffer": {"max_size": 5_000},
}


def submit(api: httpx.Client) -> None:
    api.post("/projects/create", json={"name": "crash"}).raise_for_status()
    job = {"manifest": MANIFEST, "project": "crash", "experiment_name": "run"}
    answer = api.post("/experiments/jobs/submit", json=job)
    assert '"status":"completed"' in answer.text.replace(" ", ""), answer.text


def experiment(api: httpx.Client) -> dict[str, Any]:
    answer = api.get("/experiments/one", params={"experiment_name": "run"})
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


def records(api: httpx.Client) -> list[dict[str, Any]]:
    answer = api.get("/experiments/records", params={"experiment_name": "run"})
    found: list[dict[str, Any]] = answer.json()["records"]
    return found


def wait_for(condition: Callable[[], bool], seconds: float, api: httpx.Client) -> None:
    assert wait_until(condition, seconds), experiment(api)


def generations(rows: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Return generation and steps of each metrics record, in the order of their numbers."""
    return [
        (row["data"]["generation"], row["data"]["steps"])
        for row in rows
        if row["kind"] == "metrics"
    ]


def test_a_killed_server_loses_nothing_and_its_run_goes_on(tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = start_arena(home)
    try:
        with first.client() as api:
            submit(api)
            wait_for(lambda: experiment(api)["generation"] >= 3, 60, api)
            acknowledged = records(api)
        os.kill(first.pid, signal.SIGKILL)
        assert wait_until(lambda: not workers_of(first.data_dir), GONE_SECONDS)
    finally:
        assert wait_until(lambda: not is_alive(first.pid), GONE_SECONDS)
        second = start_arena(home)
    try:
        with second.client() as api:
            _is_interrupted_and_resumes(api, acknowledged)
    finally:
        end_arena(second)


def _is_interrupted_and_resumes(api: httpx.Client, acknowledged: list[dict[str, Any]]) -> None:
    row = experiment(api)
    assert row["state"] == "interrupted"
    stored = records(api)
    assert stored[: len(acknowledged)] == acknowledged
    assert [record["seq"] for record in stored] == list(range(1, row["last_seq"] + 1))
    budget = {"experiment_name": "run", "max_steps": row["steps"] + 800}
    api.post("/experiments/jobs/resume", json=budget).raise_for_status()
    wait_for(lambda: experiment(api)["state"] == "completed", 90, api)
    seen = generations(records(api))
    population = MANIFEST["training"]["pop_size"]
    numbers = sorted({generation for generation, _ in seen})
    assert numbers == list(range(1, experiment(api)["generation"] + 1))
    assert all([g for g, _ in seen].count(number) == population for number in numbers)
    steps = [max(s for g, s in seen if g == number) for number in numbers]
    assert all(later > earlier for earlier, later in itertools.pairwise(steps))
    lineage = api.get("/experiments/lineage", params={"experiment_name": "run"}).json()["members"]
    known = {member["member"] for member in lineage}
    assert {m["parent"] for m in lineage if m["parent"] is not None} <= known


def test_down_in_the_middle_of_a_run_leaves_a_checkpoint(fresh_arena: ArenaServer) -> None:
    with fresh_arena.client() as api:
        submit(api)
        wait_for(lambda: experiment(api)["generation"] >= 1, 60, api)
    start = time.monotonic()
    assert run_arena(fresh_arena.home, "local", "down").returncode == 0
    assert time.monotonic() - start < 15
    assert fresh_arena.workers() == []
    again = start_arena(fresh_arena.home)
    try:
        with again.client() as api:
            assert experiment(api)["state"] == "interrupted"
            query = {"experiment_name": "run"}
            saved = api.get("/experiments/jobs/checkpoints", params=query).json()
            assert saved
            # A stop comes in the middle of a generation, and what was learned of it is kept.
            assert max(row["steps"] for row in saved) >= experiment(api)["steps"] > 0
    finally:
        end_arena(again)
