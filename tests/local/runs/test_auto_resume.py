"""Runs that go on by themselves after a crash, when that was asked for, and stop trying in time."""

from __future__ import annotations

import pytest

from arena_sdk.local.paths import DataPaths
from arena_sdk.local.server_settings import ServerSettings
from arena_sdk.local.services import transitions

from .conftest import Arena

ASKED = {"auto_resume": True}


async def end_with_server(arena: Arena, *names: str) -> None:
    """Let the server die while runs are under way, after their second generation."""
    for name in names:
        await arena.until_generation(name, 2)
    await arena.die()


async def test_a_run_that_asked_for_it_goes_on_after_the_server_died(
    paths: DataPaths, arena: Arena
) -> None:
    await arena.submit("steady-asked", 2000, options=ASKED)
    await arena.submit("steady-not", 2000)
    await end_with_server(arena, "steady-asked", "steady-not")
    again = Arena(paths)
    await again.start()
    try:
        row = await again.until("steady-asked", "completed")
        assert row.steps == 2000
        assert await again.states("steady-asked") == [
            "queued", "running", "interrupted", "queued", "running", "completed",
        ]  # fmt: skip
        (resumed,) = [r["data"] for r in await again.records("steady-asked")
                      if r["data"].get("automatic")]  # fmt: skip
        assert resumed["reason"] == transitions.RESTARTED
        assert (await again.row("steady-not")).state == "interrupted"
    finally:
        await again.close()


async def test_a_server_may_resume_all_of_them(paths: DataPaths, arena: Arena) -> None:
    await arena.submit("steady-one", 2000)
    await end_with_server(arena, "steady-one")
    again = Arena(paths, settings=ServerSettings(auto_resume=True))
    await again.start()
    try:
        await again.until("steady-one", "completed")
    finally:
        await again.close()


async def test_a_trainer_that_crashed_is_started_again(arena: Arena) -> None:
    await arena.submit("unreported-run", 600, options=ASKED)
    row = await arena.until("unreported-run", "completed", "failed")
    assert (row.state, row.steps) == ("completed", 600)
    assert await arena.states("unreported-run") == [
        "queued", "running", "queued", "running", "completed",
    ]  # fmt: skip


async def test_one_that_gets_no_further_fails_in_the_end(arena: Arena) -> None:
    await arena.submit("crash-run", 600, options=ASKED)
    row = await arena.until("crash-run", "failed")
    states = await arena.states("crash-run")
    assert states.count("running") == 1 + transitions.AUTOMATIC_RESUMES
    assert any("resumed 3 times from step_200" in warning for warning in row.warnings)


@pytest.mark.parametrize("name", ["crash-run", "full-run"])
async def test_without_being_asked_nothing_is_resumed(arena: Arena, name: str) -> None:
    await arena.submit(name, 600)
    await arena.until(name, "failed")
    assert await arena.states(name) == ["queued", "running", "failed"]
