"""Runs through their states: what is stored, what is refused, what survives."""

from __future__ import annotations

import asyncio
import shutil
import time
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.store import experiments as store

from .conftest import Arena, manifest


def assert_dense(records: list[dict[str, Any]]) -> None:
    assert [r["seq"] for r in records] == list(range(1, len(records) + 1))


async def assert_tree(arena: Arena, name: str) -> None:
    """Every member's parent was born before it, and those without one are the first."""
    row = await arena.row(name)
    members = await arena.database.read(lambda s: store.lineage(s, row.id))
    born = {m["member"]: m for m in members}
    assert len(born) == len(members) > 0
    for member in members:
        if member["parent"] is not None:
            assert born[member["parent"]]["generation"] < member["generation"]
    assert {m["generation"] for m in members if m["parent"] is None} == {1}


def generations(records: list[dict[str, Any]]) -> list[tuple[int, int]]:
    return [
        (r["data"]["generation"], r["data"]["member"]) for r in records if r["kind"] == "metrics"
    ]


async def test_from_submission_to_completion(arena: Arena) -> None:
    accepted = await arena.submit("steady-run", 500)
    assert accepted.name == "steady-run"
    row = await arena.until("steady-run", "completed")
    assert (row.generation, row.steps, row.total_steps) == (5, 500, 1000)
    assert row.best_fitness == 6.0
    assert row.fitness_history == [2.0, 3.0, 4.0, 5.0, 6.0]
    assert await arena.states("steady-run") == ["queued", "running", "completed"]
    records = await arena.records("steady-run")
    assert_dense(records)
    assert row.last_seq == records[-1]["seq"]
    assert generations(records) == [(g, 2 * (g - 1) + m) for g in range(1, 6) for m in (0, 1)]
    checkpoints = await arena.database.read(lambda s: store.checkpoints(s, row))
    assert [c.name for c in checkpoints] == [f"step_{n}00" for n in range(1, 6)]
    await assert_tree(arena, "steady-run")
    population = await arena.database.read(lambda s: store.population(s, row))
    assert [m["member"] for m in population] == [8, 9]


async def test_a_stop_takes_effect_and_the_run_goes_on_from_its_checkpoint(arena: Arena) -> None:
    await arena.submit("endless-run", 10**6)
    await arena.until_generation("endless-run", 3)
    started = time.monotonic()
    answer = await arena.runs.stop("endless-run")
    assert time.monotonic() - started < 5
    assert answer["state"] == "stopped"
    assert answer["checkpoint"] == f"step_{answer['steps']}"
    reached = answer["steps"]

    answer = await arena.runs.resume("endless-run", reached + 300)
    assert answer["resume_from"] == f"step_{reached}"
    row = await arena.until("endless-run", "completed")
    assert row.steps == reached + 300
    records = await arena.records("endless-run")
    assert_dense(records)
    seen = generations(records)
    assert len(seen) == len(set(seen))
    assert sorted({g for g, _ in seen}) == list(range(1, row.generation + 1))
    assert await arena.states("endless-run") == [
        "queued", "running", "stopping", "stopped", "queued", "running", "completed",
    ]  # fmt: skip
    await assert_tree(arena, "endless-run")


async def test_what_a_state_does_not_allow_is_refused(arena: Arena) -> None:
    await arena.submit("endless-run", 10**6)
    await arena.until_generation("endless-run", 1)
    with pytest.raises(ApiError, match="is running") as running:
        await arena.runs.resume("endless-run", 2 * 10**6)
    assert running.value.status == 409
    stopped = await arena.runs.stop("endless-run")
    with pytest.raises(ApiError, match="it is stopped") as again:
        await arena.runs.stop("endless-run")
    assert again.value.status == 409
    with pytest.raises(ApiError, match="max_steps must be above") as small:
        await arena.runs.resume("endless-run", stopped["steps"])
    assert small.value.status == 422
    for nonsense in (0, -1, "many", 1.5, None, True):
        with pytest.raises(ApiError, match="whole number") as wrong:
            await arena.runs.resume("endless-run", nonsense)
        assert wrong.value.status == 422
    for ask in (arena.runs.stop("nobody"), arena.runs.resume("nobody", 5)):
        with pytest.raises(ApiError, match="endless-run") as absent:
            await ask
        assert absent.value.status == 404


async def test_a_crash_fails_the_run_with_its_last_words(arena: Arena) -> None:
    await arena.submit("crash-run")
    row = await arena.until("crash-run", "failed")
    assert row.error is not None
    assert "exit code 3" in row.error
    last = (await arena.records("crash-run"))[-1]
    assert "about to fall over" in last["data"]["log_tail"]
    assert row.generation == 2


async def test_a_full_disk_fails_the_run_and_spares_what_was_there(arena: Arena) -> None:
    await arena.submit("full-run")
    row = await arena.until("full-run", "failed")
    assert row.error == "The disk is full: make room, then resume."
    checkpoints = await arena.database.read(lambda s: store.checkpoints(s, row))
    assert [c.name for c in checkpoints] == ["step_100", "step_200"]
    assert generations(await arena.records("full-run"))[-1] == (2, 3)


async def test_a_store_without_room_fails_the_run_once_it_can_be_said(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    from arena_sdk.local.services import runs

    ingest, change, failures = store.ingest_generation, store.change_state, []

    def full(*_: Any, **__: Any) -> Any:
        failures.append(1)
        raise OperationalError("INSERT", {}, Exception("database or disk is full"))

    def ingest_until_full(session: Any, experiment: Any, message: Any) -> Any:
        return ingest(session, experiment, message) if message["generation"] < 3 else full()

    def change_after_two_failures(session: Any, experiment: Any, state: str, **more: Any) -> Any:
        if state == "failed" and len(failures) < 3:
            full()
        return change(session, experiment, state, **more)

    monkeypatch.setattr(store, "ingest_generation", ingest_until_full)
    monkeypatch.setattr(store, "change_state", change_after_two_failures)
    monkeypatch.setattr(runs, "END_RETRY_SECONDS", 0.1)
    monkeypatch.setattr(runs.recovery, "adopt_checkpoints", lambda *_: [])
    await arena.submit("steady-run")
    row = await arena.until("steady-run", "failed")
    assert row.error is not None
    assert row.error.startswith("The disk is full")
    assert row.generation == 2
    assert arena.supervisor.jobs == {}


async def test_a_trainer_that_does_not_hear_is_ended(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    from arena_sdk.local.services import runs

    monkeypatch.setattr(runs, "STOP_GRACE", 0.5)
    await arena.submit("deaf-run")
    await arena.until("deaf-run", "running")
    answer = await arena.runs.stop("deaf-run")
    assert answer["state"] == "stopped"
    assert arena.supervisor.jobs == {}


async def test_a_run_without_a_checkpoint_starts_over(arena: Arena) -> None:
    await arena.submit("steady-run", 300)
    row = await arena.until("steady-run", "completed")
    shutil.rmtree(arena.paths.experiment(row.id) / "checkpoints")
    answer = await arena.runs.resume("steady-run", 400)
    assert answer["resume_from"] is None
    row = await arena.until("steady-run", "completed")
    assert row.generation == 4
    assert any("starts over" in warning for warning in row.warnings)
    assert_dense(await arena.records("steady-run"))
    await assert_tree(arena, "steady-run")


async def test_generations_after_a_lost_checkpoint_are_done_and_told_again(arena: Arena) -> None:
    await arena.submit("steady-run", 500)
    row = await arena.until("steady-run", "completed")
    folder = arena.paths.experiment(row.id) / "checkpoints"
    shutil.rmtree(folder / "step_500")
    (folder / "step_400" / "state.json").write_text("damaged")
    answer = await arena.runs.resume("steady-run", 600)
    assert answer["resume_from"] == "step_300"
    row = await arena.until("steady-run", "completed")
    assert (row.generation, row.steps) == (6, 600)
    records = await arena.records("steady-run")
    assert_dense(records)
    told = [g for g, _ in generations(records)]
    assert told == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 4, 4, 5, 5, 6, 6]
    await assert_tree(arena, "steady-run")


async def test_what_there_is_no_room_for_waits_and_says_why(paths: DataPaths, arena: Arena) -> None:
    for number in range(2):
        await arena.submit(f"endless-{number}", 10**6)
        await arena.until(f"endless-{number}", "running")
    await arena.submit("steady-late", 200)
    row = await arena.row("steady-late")
    assert row.state == "queued"
    reasons = [r["data"].get("reason", "") for r in await arena.records("steady-late")]
    assert "It waits for a core: 2 of 2 are held by endless-0 and endless-1." in reasons
    assert arena.runs.why_waiting(row.id) in reasons
    await arena.submit("steady-never", 200)
    stopped = await arena.runs.stop("steady-never")
    assert stopped["state"] == "stopped"
    await arena.runs.stop("endless-0")
    await arena.until("steady-late", "completed")
    assert (await arena.row("steady-never")).state == "stopped"
    resumed = await arena.runs.resume("steady-never", 200)
    assert resumed["resume_from"] is None
    await arena.until("steady-never", "completed")


async def test_shutting_down_interrupts_runs_and_they_can_go_on(
    paths: DataPaths, arena: Arena
) -> None:
    await arena.submit("endless-run", 10**6)
    await arena.until_generation("endless-run", 2)
    await arena.close()
    again = Arena(paths)
    await again.start()
    try:
        row = await again.row("endless-run")
        assert row.state == "interrupted"
        await again.runs.resume("endless-run", row.steps + 200)
        row = await again.until("endless-run", "completed")
        assert_dense(await again.records("endless-run"))
    finally:
        await again.close()


async def test_a_server_that_was_killed_leaves_its_runs_interrupted(
    paths: DataPaths, arena: Arena
) -> None:
    await arena.submit("endless-run", 10**6)
    await arena.submit("endless-too", 10**6)
    await arena.until_generation("endless-run", 3)
    acknowledged = await arena.records("endless-run")
    await arena.die()
    again = Arena(paths)
    await again.start()
    try:
        assert (await again.row("endless-run")).state == "interrupted"
        assert (await again.row("endless-too")).state == "interrupted"
        kept = await again.records("endless-run")
        assert kept[: len(acknowledged)] == acknowledged
        row = await again.row("endless-run")
        await again.runs.resume("endless-run", row.steps + 200)
        await again.until("endless-run", "completed")
        records = await again.records("endless-run")
        assert_dense(records)
        seen = generations(records)
        assert len(seen) == len(set(seen))
        await assert_tree(again, "endless-run")
    finally:
        await again.close()


async def test_a_checkpoint_that_was_never_reported_is_found(arena: Arena) -> None:
    await arena.submit("unreported-run")
    row = await arena.until("unreported-run", "failed")
    assert row.generation == 3
    checkpoints = await arena.database.read(lambda s: store.checkpoints(s, row))
    assert [c.name for c in checkpoints] == ["step_100", "step_200", "step_300"]
    records = await arena.records("unreported-run")
    assert_dense(records)
    assert [g for g, _ in generations(records)] == [1, 1, 2, 2, 3, 3]


async def test_whoever_watches_sees_exactly_what_is_stored(arena: Arena) -> None:
    accepted = await arena.submit("steady-run", 2000)
    got: list[dict[str, Any]] = []
    cut = 3
    while True:
        follow = arena.broker.follow(
            accepted.experiment_id,
            got[-1]["seq"] if got else 0,
            lambda a, n: arena.runs.journal.read_page(accepted.experiment_id, a, n),
        )
        seen = 0
        async for message in follow:
            if message["kind"] == "end":
                break
            if "seq" in message:
                got.append(message)
                seen += 1
            if seen == cut:
                break
        await follow.aclose()
        if message["kind"] == "end":
            break
    assert got == await arena.records("steady-run")


@pytest.mark.parametrize(
    ("changes", "status", "says"),
    [
        ({"project": ""}, 422, "Name the project"),
        ({"project": "nowhere"}, 404, "tests"),
        ({"resource_id": "arena-huge"}, 404, "arena-medium"),
        ({"num_nodes": 0}, 422, "num_nodes"),
        ({"num_nodes": "two"}, 422, "num_nodes"),
        ({"experiment_name": "a/b"}, 422, "'/'"),
        ({"experiment_name": ".."}, 422, "begin and end"),
        ({"experiment_name": "x" * 10_000}, 422, "10,000"),
        ({"experiment_name": "a\x1b[31m"}, 422, "x1b"),
        ({"manifest": None}, 422, "JSON object"),
        ({"manifest": {"algorithm": {"name": "DQN"}}}, 422, "environment"),
        ({"manifest": {**manifest(), "trainning": {}}}, 422, "trainning"),
        ({"manifest": {**manifest(), "environment": {"name": "CartPole-v7"}}}, 404, "CartPole-v1"),
        ({"manifest": {**manifest(), "environment": {"name": "os:CartPole-v1"}}}, 404, "not found"),
        ({"has_reward_file": True}, 422, "reward file"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_what_cannot_be_submitted(
    arena: Arena, changes: dict[str, Any], status: int, says: str
) -> None:
    with pytest.raises(ApiError) as refused:
        await arena.submit("steady-run", **changes)
    assert refused.value.status == status
    assert says in refused.value.message
    assert "\n" not in refused.value.message
    assert await arena.database.read(store.names) == []


async def test_a_name_that_is_taken_and_one_that_is_made_up(arena: Arena) -> None:
    await arena.submit("steady-run", 100)
    with pytest.raises(ApiError, match="exists already") as taken:
        await arena.submit("steady-run", 100)
    assert taken.value.status == 409
    names = [(await arena.submit("", 100)).name for _ in range(2)]
    assert names == ["dqn-cartpole-v1-1", "dqn-cartpole-v1-2"]
    both = await asyncio.gather(
        *(arena.submit("steady-twin", 100) for _ in range(2)), return_exceptions=True
    )
    assert sum(isinstance(result, ApiError) for result in both) == 1


async def test_a_hosted_tier_runs_here_and_says_so(arena: Arena) -> None:
    accepted = await arena.submit("steady-run", 100, resource_id="arena-medium", num_nodes=2)
    assert "arena-medium" in accepted.warnings[0]
    await arena.until("steady-run", "completed")
    warned = [r for r in await arena.records("steady-run") if r["kind"] == "warning"]
    assert warned[0]["data"]["message"] == accepted.warnings[0]
