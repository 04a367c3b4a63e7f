"""Real train jobs as a fixture; the rest is in `support.py`."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .support import Job, registered

StartJob = Callable[..., Job]


@pytest.fixture(scope="session", autouse=True)
def _imports_are_no_garbage() -> None:
    """Do as the train job does: AgileRL collects garbage after every mutation."""
    import agilerl.algorithms  # noqa: F401

    gc.freeze()


@pytest.fixture
def start_job(tmp_path: Path) -> Iterator[StartJob]:
    """Start train jobs whose checkpoints are in one folder; end them with the test."""
    jobs: list[Job] = []

    def start(
        manifest: dict[str, Any],
        environment: dict[str, Any] | None = None,
        *,
        resume_from: str | None = None,
        max_steps: int | None = None,
        folder: str = "checkpoints",
        setup: Callable[[], None] | None = None,
        **more: Any,
    ) -> Job:
        payload = {
            "experiment_id": 1,
            "name": "test",
            "manifest": manifest,
            "environment": environment or registered(manifest["environment"]["name"]),
            "checkpoint_dir": str(tmp_path / folder),
            "resume_from": resume_from,
            "max_steps": max_steps or manifest["training"]["max_steps"],
            **more,
        }
        home = tmp_path / f"job-{len(jobs)}"
        home.mkdir()
        jobs.append(Job(payload, home, setup))
        return jobs[-1]

    yield start
    for job in jobs:
        job.close()


@pytest.fixture
def checkpoints(tmp_path: Path) -> Path:
    """Where `start_job` has checkpoints written."""
    return tmp_path / "checkpoints"
