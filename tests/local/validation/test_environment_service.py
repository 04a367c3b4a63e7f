"""What the service refuses, without a server: deleting what is trained on, shared files."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.jobs import Supervisor
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.services import environments as module
from arena_sdk.local.services.environments import EnvironmentService, NewVersion
from arena_sdk.local.services.streams import Told, status
from arena_sdk.local.store.database import Database
from arena_sdk.local.store.models import EnvironmentVersion, Experiment, Project


@pytest.fixture
def paths(tmp_path: Path) -> DataPaths:
    found = DataPaths(tmp_path / "data")
    found.create()
    return found


@pytest.fixture
def database(paths: DataPaths) -> Iterator[Database]:
    found = Database(paths.database)
    found.migrate()
    yield found
    found.close()


@pytest.fixture
def service(paths: DataPaths, database: Database) -> EnvironmentService:
    return EnvironmentService(database, paths, Supervisor(paths))


def add(database: Database, paths: DataPaths, version: str, **values: Any) -> None:
    paths.source("d1").mkdir(exist_ok=True)
    with database.session() as session:
        row = EnvironmentVersion(name="line", version=version, digest="d1", **values)
        session.add(row)


def train_on(database: Database, version: str, state: str) -> None:
    with database.session() as session:
        project = Project(name="p")
        session.add(project)
        session.flush()
        session.add(
            Experiment(
                name="run-1",
                project_id=project.id,
                manifest={},
                algorithm="DQN",
                environment="line",
                environment_version=version,
                resource_id="local",
                state=state,
                max_steps=1,
                pop_size=1,
            )
        )


@pytest.mark.parametrize("state", ["queued", "running", "stopping"])
async def test_what_is_trained_on_is_not_deleted(
    service: EnvironmentService, database: Database, paths: DataPaths, state: str
) -> None:
    add(database, paths, "v1", validated=True)
    add(database, paths, "v2")
    train_on(database, "v1", state)
    for version in ("v1", None):
        with pytest.raises(ApiError) as caught:
            await service.delete("line", version)
        assert caught.value.status == 409
        assert caught.value.message == (
            "Environment 'line' is being trained on by run-1; stop that first: `arena experiments"
            " stop run-1`."
        )
    assert (await service.delete("line", "v2"))["deleted"] == ["v2"]
    assert paths.source("d1").is_dir()


async def test_what_was_trained_on_is_deleted(
    service: EnvironmentService, database: Database, paths: DataPaths
) -> None:
    add(database, paths, "v1", overlay="o1")
    paths.overlay("o1").mkdir()
    train_on(database, "v1", "completed")
    await service.delete("line", None)
    assert not paths.source("d1").exists()
    assert not paths.overlay("o1").exists()


async def test_an_overlay_that_another_version_needs_stays(
    service: EnvironmentService, database: Database, paths: DataPaths
) -> None:
    add(database, paths, "v1", overlay="o1")
    add(database, paths, "v2", overlay="o1")
    paths.overlay("o1").mkdir()
    await service.delete("line", "v1")
    assert paths.overlay("o1").is_dir()


async def test_a_full_disk_keeps_nothing_of_an_upload(
    service: EnvironmentService, paths: DataPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "store_archive", full)
    new = NewVersion("line", "v1", {}, "", None, "", False, False, False)
    with pytest.raises(OSError, match="No space left"):
        await service.create(new, io.BytesIO())
    with pytest.raises(ApiError, match="No environment is named 'line'"):
        await service.delete("line", None)


async def test_what_an_earlier_server_left_half_done_is_removed(
    service: EnvironmentService, paths: DataPaths
) -> None:
    for folder in (paths.sources, paths.overlays):
        (folder / ".tmp-1").mkdir()
    await service.start()
    assert [*paths.sources.iterdir(), *paths.overlays.iterdir()] == []


async def test_a_late_listener_hears_it_all() -> None:
    import asyncio

    told = Told()
    go_on = asyncio.Event()

    async def work(told: Told) -> None:
        told.tell(status("upload", "running", "first"))
        await go_on.wait()
        told.tell(status("upload", "completed", "last"))

    told.begin(work)

    async def listen() -> list[bytes]:
        return [line async for line in told.lines()]

    early = asyncio.create_task(listen())
    await asyncio.sleep(0.01)
    late = asyncio.create_task(listen())
    await asyncio.sleep(0.01)
    go_on.set()
    heard = await early
    assert [b'"first"' in heard[0], b'"last"' in heard[1]] == [True, True]
    assert await late == heard
    assert await listen() == heard
