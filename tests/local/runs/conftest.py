"""Runs in the test's own process, trained by the pretending trainer."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from arena_sdk.local.jobs import Supervisor
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.server_settings import ServerSettings
from arena_sdk.local.services import train_jobs
from arena_sdk.local.services.broker import Broker
from arena_sdk.local.services.queue import Capacity
from arena_sdk.local.services.runs import RunService
from arena_sdk.local.services.submission import Submission
from arena_sdk.local.store import experiments as store
from arena_sdk.local.store.database import Database
from arena_sdk.local.store.models import Experiment, Project
from arena_sdk.local.tiers import all_tiers

TRAINER = Path(__file__).with_name("trainer.py")


def manifest(max_steps: int = 500, **training: Any) -> dict[str, Any]:
    return {
        "algorithm": {"name": "DQN"},
        "environment": {"name": "CartPole-v1", "num_envs": 2},
        "training": {"max_steps": max_steps, "pop_size": 2, "evo_steps": 100, **training},
    }


class Arena:
    """The services around runs, on a data folder."""

    def __init__(
        self, paths: DataPaths, limit: int = 2, settings: ServerSettings | None = None
    ) -> None:
        self.paths = paths
        self.database = Database(paths.database)
        self.database.migrate()
        self.supervisor = Supervisor(paths)
        self.broker = Broker()
        self.runs = RunService(
            self.database,
            paths,
            self.supervisor,
            self.broker,
            capacity=Capacity(limit, 64.0),
            settings=settings,
        )

    async def start(self) -> None:
        await self.runs.start()

    async def close(self) -> None:
        await self.runs.close()
        await self.supervisor.shutdown(1.0)
        self.database.close()

    async def die(self) -> None:
        """End as a killed server does: workers are gone and nothing more is written."""
        for run in self.runs._runs.values():
            if run.task is not None:
                run.task.cancel()
        for job in list(self.supervisor.jobs.values()):
            job.kill()
        await self.supervisor.shutdown(0.1)
        self.database.close()

    async def submit(self, name: str, max_steps: int = 500, **changes: Any) -> Any:
        values: dict[str, Any] = {
            "manifest": manifest(max_steps),
            "resource_id": "local",
            "num_nodes": 1,
            "project": "tests",
            "experiment_name": name,
            **changes,
        }
        return await self.runs.submit(Submission(**values), all_tiers())

    async def row(self, name: str) -> Experiment:
        def read(session: Any) -> Experiment:
            found = store.by_name(session, name)
            assert found is not None
            return found

        return await self.database.read(read)

    async def records(self, name: str) -> list[dict[str, Any]]:
        row = await self.row(name)
        return await self.database.read(lambda s: store.records_after(s, row.id, 0, 10**6))

    async def states(self, name: str) -> list[str]:
        return [r["data"]["state"] for r in await self.records(name) if r["kind"] == "state"]

    async def until(self, name: str, *states: str, seconds: float = 20) -> Experiment:
        async def reached() -> bool:
            return (await self.row(name)).state in states

        await until(reached, seconds, f"{name} to be {states}")
        return await self.row(name)

    async def until_generation(self, name: str, generation: int) -> None:
        async def reached() -> bool:
            return (await self.row(name)).generation >= generation

        await until(reached, 20, f"generation {generation} of {name}")


async def until(condition: Callable[[], Awaitable[bool]], seconds: float, what: str) -> None:
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110 - polls a store
            await asyncio.sleep(0.02)


@pytest.fixture
def paths(tmp_path: Path) -> DataPaths:
    """An empty data folder."""
    paths = DataPaths(tmp_path / "data")
    paths.create()
    return paths


@pytest.fixture
def trainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs be trained by `trainer.py`."""
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P {TRAINER} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setattr(train_jobs, "overlay_python", lambda paths, environment: str(script))


@pytest.fixture
async def arena(paths: DataPaths, trainer: None) -> AsyncIterator[Arena]:
    """An Arena with one project, `tests`."""
    arena = Arena(paths)
    await arena.start()
    await arena.database.run(lambda session: session.add(Project(name="tests")))
    yield arena
    await arena.close()
