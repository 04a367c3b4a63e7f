"""Stores: they poll while watched, keep what they had, and never ask for nothing."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from tui_canned import metrics

from arena_tui.stores.machine import credits_of


async def until(holds, seconds=10.0):
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.fixture
async def hub(make_hub):
    made = make_hub()
    made.start()
    await until(lambda: made.connection.is_usable)
    yield made
    await made.close()


def asked(canned, path):
    return sum(1 for _, found in canned.requests if found == path)


async def test_a_store_is_asked_for_only_while_it_is_watched(hub, canned):
    leave = hub.deployments.watch(lambda: None)
    await until(lambda: hub.deployments.state == "ready")
    leave()
    await asyncio.sleep(0.1)
    before = asked(canned, "/inference/deployments/list")
    await asyncio.sleep(0.6)
    assert asked(canned, "/inference/deployments/list") == before


async def test_looking_again_at_once_does_not_ask_again(hub, canned):
    hub.refresh_seconds = 60
    leave = hub.environments.watch(lambda: None)
    await until(lambda: hub.environments.state == "ready")
    before = asked(canned, "/environments")
    for _ in range(5):
        leave()
        leave = hub.environments.watch(lambda: None)
        await asyncio.sleep(0.02)
    assert asked(canned, "/environments") == before


async def test_what_was_known_stays_with_its_age_when_the_service_fails(hub, canned):
    hub.deployments.watch(lambda: None)
    await until(lambda: hub.deployments.value)
    canned.down = True
    await until(lambda: hub.deployments.error, 20)
    assert hub.deployments.value
    assert hub.deployments.is_stale
    assert hub.deployments.age > 0
    canned.down = False
    await until(lambda: not hub.deployments.error, 20)


async def test_what_the_service_does_not_have_is_absent_not_an_error(hub, canned):
    hub.datasets.watch(lambda: None)
    await until(lambda: hub.datasets.state == "absent")
    assert hub.connection.is_usable
    canned.datasets = [{"name": "chats", "category": "sft"}]
    hub.datasets.refresh()
    await until(lambda: hub.datasets.value == [{"name": "chats", "category": "sft"}])


async def test_a_refusal_is_not_an_empty_list(make_hub):
    refused = make_hub(token="wrong")
    refused.experiments.watch(lambda: None)
    refused.start()
    await until(lambda: refused.experiments.error)
    await asyncio.sleep(0.5)
    assert refused.experiments.value is None
    assert not refused.connection.is_usable
    await refused.close()


async def test_a_run_is_followed_and_each_record_taken_once(hub, canned):
    run = hub.run("grid-dqn")
    run.watch(lambda: None)
    await until(lambda: run.columns.count == 48)
    canned.records += [
        {**record, "seq": record["seq"] + 0} for record in metrics(14)[len(canned.records) :]
    ]
    await until(lambda: run.columns.generation == 14)
    assert run.columns.count == 56
    assert run.live
    run.take(canned.records[3])
    assert run.columns.count == 56
    assert len(run.population) == 4


async def test_the_same_run_is_the_same_store(hub):
    assert hub.run("grid-dqn") is hub.run("grid-dqn")


async def test_only_the_last_runs_are_kept(hub):
    first = hub.run("one")
    for number in range(10):
        hub.run(f"run-{number}")
    assert hub.run("one") is not first


async def test_work_that_fails_says_why_in_a_sentence(hub):
    from arena_sdk.errors import ArenaAPIError

    async def do(job):
        raise ArenaAPIError("It is not wanted.", status_code=409)

    job = hub.work.start("deploy", ("x",), do)
    await until(lambda: not job.is_running)
    assert (job.state, job.error) == ("failed", "It is not wanted.")
    assert hub.connection.is_usable


async def test_work_can_be_cancelled_and_outlives_its_watcher(hub):
    async def do(job):
        job.say("begun")
        await asyncio.sleep(60)

    job = hub.work.start("validate", ("grid", "v1"), do)
    leave = job.watch(lambda: None)
    await until(lambda: job.last_line == "begun")
    leave()
    assert hub.work.running == [job]
    job.cancel()
    await until(lambda: not job.is_running)
    assert job.state == "cancelled"


async def test_a_missing_file_is_said(hub, tmp_path):
    job = hub.environments.validate_folder("x", "v1", tmp_path / "nothing")
    await until(lambda: not job.is_running)
    assert job.state == "failed"
    assert "nothing" in job.error


@pytest.mark.parametrize(
    ("answer", "figure"),
    [
        (12, 12.0),
        ({"credits": 3.5}, 3.5),
        ({"balance": {"remaining": 2}}, 2.0),
        ({"credits": None, "unlimited": True}, None),
        ("many", None),
        (True, None),
        (None, None),
    ],
)
def test_credits_in_whatever_form(answer, figure):
    assert credits_of(answer) == figure


async def test_work_keeps_a_bounded_history(hub):
    async def do(job):
        return None

    for number in range(40):
        hub.work.start("deploy", (str(number),), do)
    assert len(hub.work.jobs) == 20
    assert hub.work.jobs[0].subject == ("39",)


async def test_events_become_checks_and_lines(hub):
    from arena_sdk.events import parse_line

    async def do(job):
        for line in (
            '{"kind":"status","stage":"upload","message":"sent"}',
            '{"kind":"check","detail":{"check":"Step",'
            '"result":{"success":false,"error msg":"no"}}}',
            '{"kind":"warning","message":"slow"}',
            "plain words",
        ):
            job.take(parse_line(line))

    job = hub.work.start("validate", ("grid", "v1"), do)
    await until(lambda: not job.is_running)
    assert job.checks["Step"] == {"success": False, "warnings": [], "error": "no"}
    assert ("warning", "slow") in job.lines
    assert job.lines[0] == ("info", "sent")
    assert job.last_line == "plain words"


async def test_closing_ends_a_task_that_a_first_cancellation_missed(make_hub):
    hub = make_hub()
    ended = []

    async def stubborn():
        for _ in range(2):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)
        ended.append(True)

    hub.spawn(stubborn())
    await asyncio.sleep(0)
    await hub.close()
    assert ended
