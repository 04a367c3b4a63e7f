"""Deleting experiments: refused while in use, whole or not at all, finished after a crash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.services import removal
from arena_sdk.local.services.removal import Aside, finish_deletions, remove_rows
from arena_sdk.local.store import deployments
from arena_sdk.local.store import experiments as store
from arena_sdk.local.store.models import Checkpoint, Deployment, Experiment, Member, Record

from .conftest import Arena

HANGING = (Record, Member, Checkpoint, Deployment)


async def ended(arena: Arena, name: str) -> int:
    """Train a short run; return its id."""
    await arena.submit(name, 200)
    return (await arena.until(name, "completed")).id


async def serve(arena: Arena, name: str, status: str) -> None:
    """Note a deployment of an experiment, as if its agent were served."""

    def put(session: Session) -> None:
        experiment = store.by_name(session, name)
        assert experiment is not None
        deployments.put(session, experiment, "step_100", status=status)

    await arena.database.run(put)


async def rows(arena: Arena, experiment_id: int) -> dict[str, int]:
    """Return how many rows of each table hang on an experiment."""

    def count(session: Session) -> dict[str, int]:
        return {
            table.__tablename__: session.scalar(
                select(func.count()).where(table.experiment_id == experiment_id)
            )
            or 0
            for table in HANGING
        }

    return await arena.database.read(count)


async def refusal(arena: Arena, name: str) -> ApiError:
    with pytest.raises(ApiError) as caught:
        await arena.runs.delete(name)
    return caught.value


async def test_an_ended_run_goes_with_all_that_it_left(arena: Arena) -> None:
    number = await ended(arena, "steady-one")
    kept = await ended(arena, "steady-two")
    await serve(arena, "steady-one", "stopped")
    assert all((await rows(arena, number)).values())
    assert arena.paths.experiment(number).is_dir()

    assert await arena.runs.delete("steady-one") == {"name": "steady-one", "deleted": True}
    assert not any((await rows(arena, number)).values())
    assert [path.name for path in arena.paths.experiments.iterdir()] == [str(kept)]
    assert (await refusal(arena, "steady-one")).status == 404
    assert (await rows(arena, kept))["records"] > 0


@pytest.mark.parametrize("name", ["endless-run", "deaf-run"])
async def test_an_active_run_is_not_deleted(arena: Arena, name: str) -> None:
    await arena.submit(name, 10**9)
    await arena.until(name, "running")
    refused = await refusal(arena, name)
    assert refused.status == 409
    assert "stop it first" in refused.message
    assert (await arena.row(name)).state == "running"


@pytest.mark.parametrize("status", ["running", "provisioning"])
async def test_an_experiment_whose_agent_is_served_is_not_deleted(
    arena: Arena, status: str
) -> None:
    number = await ended(arena, "steady-served")
    await serve(arena, "steady-served", status)
    refused = await refusal(arena, "steady-served")
    assert refused.status == 409
    assert "arena agent stop steady-served" in refused.message
    assert arena.paths.experiment(number).is_dir()


async def test_a_transaction_that_fails_keeps_rows_and_folder(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = await ended(arena, "steady-kept")
    real = removal.remove_rows

    def fails(session: Session, aside: Aside, experiments: list[Experiment]) -> None:
        real(session, aside, experiments)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(removal, "remove_rows", fails)
    with pytest.raises(OSError, match="No space left"):
        await arena.runs.delete("steady-kept")
    assert (arena.paths.experiment(number) / "log").is_file()
    assert (await rows(arena, number))["records"] > 0
    monkeypatch.undo()
    await arena.runs.delete("steady-kept")
    assert list(arena.paths.experiments.iterdir()) == []


def break_off(paths: DataPaths, arena: Arena, name: str) -> None:
    """Delete as a server does that dies just before its transaction is committed."""
    with Session(arena.database.engine) as session:
        experiment = store.by_name(session, name)
        assert experiment is not None
        remove_rows(session, Aside(paths), [experiment])
        session.rollback()


async def test_a_deletion_that_broke_off_is_finished_at_the_next_start(
    paths: DataPaths, trainer: None, arena: Arena
) -> None:
    await ended(arena, "steady-half")
    kept = await ended(arena, "steady-kept")
    break_off(paths, arena, "steady-half")
    assert (await arena.row("steady-half")).state == "completed"
    await arena.die()

    again = Arena(paths)
    await again.start()
    names: list[str] = await again.database.read(store.names)
    assert names == ["steady-kept"]
    assert [path.name for path in paths.experiments.iterdir()] == [str(kept)]
    await again.close()


async def test_what_an_earlier_deletion_left_is_not_taken_for_a_new_run(
    paths: DataPaths, arena: Arena
) -> None:
    """An id is given again once its row is gone; a leftover folder must not follow it."""
    first = await ended(arena, "steady-same")
    (paths.experiment(first) / "mark").write_text("of the first")
    leftover = await arena.database.read(lambda s: _plan(s, paths, "steady-same"))
    await arena.runs.delete("steady-same")
    leftover.mkdir()  # as if it could not be removed
    second = await ended(arena, "steady-same")
    assert second == first
    assert not (paths.experiment(second) / "mark").exists()
    gone = await arena.database.run(lambda session: finish_deletions(session, paths))
    assert gone == [leftover]
    assert (await arena.row("steady-same")).state == "completed"


def _plan(session: Session, paths: DataPaths, name: str) -> Path:
    experiment: Any = store.by_name(session, name)
    return Aside(paths).plan(experiment)[1]
