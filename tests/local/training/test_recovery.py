"""Members that crash: taken up again from their last state, three times, and then the run fails."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from .conftest import StartJob
from .support import custom, dqn
from .test_job import alive, check_lineage, wait_until_gone


def deadly(tmp_path: Path, times: int, how: str) -> dict[str, Any]:
    folder = tmp_path / "deaths"
    folder.mkdir()
    reference = custom("Deadly", deaths=str(folder), times=times, how=how)
    return {**reference, "entrypoint": "deadly:Deadly"}


def small(**training: Any) -> dict[str, Any]:
    manifest = dqn(max_steps=400, evo_steps=200, pop_size=2, **training)
    manifest["environment"]["num_envs"] = 2
    return manifest


@pytest.mark.parametrize("how", ["kill", pytest.param("raise", marks=pytest.mark.slow)])
def test_a_member_that_crashes_is_taken_up_again(
    start_job: StartJob, tmp_path: Path, how: str
) -> None:
    job = start_job(small(), deadly(tmp_path, 2, how))
    assert job.finish()["state"] == "completed"
    generations = job.of("generation")
    assert [g["total_steps"] for g in generations] == [400, 800]
    assert all(m["steps"] == 400 for m in generations[-1]["members"])
    check_lineage(generations)
    warnings = [warning["message"] for warning in job.of("warning")]
    assert 1 <= len(warnings) <= 2
    assert all("Restarted member" in warning for warning in warnings)


@pytest.mark.slow
def test_shared_experience_outlives_a_member(start_job: StartJob, tmp_path: Path) -> None:
    job = start_job(small(experience_sharing=True), deadly(tmp_path, 1, "kill"))
    assert job.finish()["state"] == "completed"
    assert [g["total_steps"] for g in job.of("generation")] == [400, 800]
    assert "Restarted members 0, 1 from" in job.of("warning")[0]["message"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "code", "words"),
    [("kill", "MEMBER_DIED", "signal 9"), ("raise", "MEMBER_FAILED", "the camera was unplugged")],
)
def test_after_three_restarts_the_run_fails_with_what_is_known(
    start_job: StartJob, tmp_path: Path, how: str, code: str, words: str
) -> None:
    manifest = {**small(), "training": {"max_steps": 400, "evo_steps": 200, "pop_size": 1}}
    error = (job := start_job(manifest, deadly(tmp_path, 100, how))).finish()
    assert error["error_code"] == code
    assert words in error["message"]
    assert "\n" not in error["message"]
    told = [warning["message"] for warning in job.of("warning")]
    assert [f"restart {n} of at most 3" in text for n, text in enumerate(told, 1)] == [True] * 3
    stack = "".join(error.get("stack", []))
    assert ("deadly.py" in stack and "unplugged" in stack) == (how == "raise")
    assert wait_until_gone(job.process.pid)


@pytest.mark.slow
def test_a_killed_member_process_costs_nothing_that_was_told(start_job: StartJob) -> None:
    job = start_job(dqn(max_steps=4000, evo_steps=2000, pop_size=2))
    job.until("progress")
    victim = next(pid for pid in alive(job.process.pid) if pid != job.process.pid)
    os.kill(victim, 9)
    assert job.finish()["state"] == "completed"
    assert [g["total_steps"] for g in job.of("generation")] == [4000, 8000]
    (warning,) = job.of("warning")
    assert "signal 9" in warning["message"]
