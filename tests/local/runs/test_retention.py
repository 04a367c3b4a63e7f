"""Retention: which checkpoints a policy keeps, and that the others go from store and disk."""

from __future__ import annotations

import math
from typing import Any

import pytest

from arena_sdk.local.run_options import Keep
from arena_sdk.local.services import retention
from arena_sdk.local.store import experiments as store
from arena_sdk.local.store.models import Checkpoint, Deployment

from .conftest import Arena, manifest

SCORES = [5.0, 9.0, None, math.nan, 7.0, 1.0]


def saved() -> list[Checkpoint]:
    return [
        Checkpoint(
            name=f"step_{n}", steps=n * 10, generation=n, evaluation_score=score, path=f"/{n}"
        )
        for n, score in enumerate(SCORES, 1)
    ]


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        ({}, [1, 2, 3, 4, 5, 6]),
        ({"last": 2}, [5, 6]),
        ({"best": 2}, [2, 5, 6]),
        ({"every": 3}, [3, 6]),
        ({"last": 1, "best": 1, "every": 4}, [2, 4, 6]),
        ({"last": 100}, [1, 2, 3, 4, 5, 6]),
    ],
)
def test_what_a_policy_keeps(keep: dict[str, int], kept: list[int]) -> None:
    gone = {row.name for row in retention.expired(saved(), Keep(**keep))}
    assert [n for n in range(1, 7) if f"step_{n}" not in gone] == kept


async def names(arena: Arena, run: str) -> tuple[list[str], list[str]]:
    """Return the checkpoints of a run in the store and on disk."""
    row = await arena.row(run)
    rows = await arena.database.read(lambda s: [c.name for c in store.checkpoints(s, row)])
    folder = arena.paths.experiment(row.id) / "checkpoints"
    return rows, sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({}, ["step_100", "step_200", "step_300", "step_400", "step_500"]),
        ({"options": {"keep": {"last": 2}}}, ["step_400", "step_500"]),
        ({"manifest": manifest(500, overwrite_checkpoints=True)}, ["step_500"]),
    ],
)
async def test_the_others_go(arena: Arena, changes: dict[str, Any], kept: list[str]) -> None:
    await arena.submit("steady-run", **changes)
    await arena.until("steady-run", "completed")
    assert await names(arena, "steady-run") == (kept, kept)
    resumed = await arena.runs.resume("steady-run", 600)
    assert resumed["resume_from"] == "step_500"


async def test_one_that_is_served_stays(arena: Arena) -> None:
    await arena.submit("endless-run", 10**6, options={"keep": {"last": 1}})
    await arena.until_generation("endless-run", 1)
    await arena.runs.stop("endless-run")
    row = await arena.row("endless-run")
    (served,) = (await names(arena, "endless-run"))[0]
    await arena.database.run(
        lambda session: session.add(
            Deployment(name="d", experiment_id=row.id, checkpoint=served, status="running")
        )
    )
    await arena.runs.resume("endless-run", 10**7)
    await arena.until_generation("endless-run", row.generation + 2)
    await arena.runs.stop("endless-run")
    stored, on_disk = await names(arena, "endless-run")
    assert stored == on_disk
    assert len(stored) == 2
    assert served in stored
