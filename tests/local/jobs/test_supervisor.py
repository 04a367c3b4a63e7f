"""Jobs that go well: messages in order, commands, stops, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import psutil
import pytest

from arena_sdk.local.jobs import Job, JobSpec, Supervisor
from arena_sdk.local.paths import DataPaths

from .conftest import MakeSpec


async def first(job: Job) -> dict[str, object]:
    return await anext(aiter(job.messages()))


async def test_messages_come_in_order_and_the_result_last(
    supervisor: Supervisor, faulty: MakeSpec
) -> None:
    job = await supervisor.start(faulty("counts", count=2_000))
    messages = [message async for message in job.messages()]
    assert [message["number"] for message in messages] == list(range(2_000))
    assert messages[0]["text"] == "é\n"
    outcome = await job.wait()
    assert outcome.ok
    assert outcome.result == {"count": 2_000}
    assert (outcome.reason, outcome.returncode, outcome.error) == ("exit", 0, None)


async def test_a_job_whose_messages_nobody_takes_ends_all_the_same(
    supervisor: Supervisor, faulty: MakeSpec
) -> None:
    job = await supervisor.start(faulty("counts", count=20_000))
    outcome = await asyncio.wait_for(job.wait(), 30)
    assert outcome.result == {"count": 20_000}
    assert len([message async for message in job.messages()]) == 20_000


async def test_a_worker_waits_for_a_slow_consumer(supervisor: Supervisor, faulty: MakeSpec) -> None:
    job = await supervisor.start(faulty("counts", count=50_000))
    messages = job.messages()
    await anext(messages)
    await asyncio.sleep(1.5)
    assert job.id in supervisor.jobs, "50,000 messages were taken though one was asked for"
    numbers = [message["number"] async for message in messages]
    assert numbers == list(range(1, 50_000))


async def test_stop_lets_the_worker_finish(supervisor: Supervisor, faulty: MakeSpec) -> None:
    job = await supervisor.start(faulty("obedient"))
    await first(job)
    await job.stop(grace=10)
    outcome = await job.wait()
    assert outcome.result == {"state": "stopped"}
    assert outcome.reason == "stopped"
    await job.stop()  # a second time does no harm


async def test_a_stop_that_comes_before_the_work_begins_is_heard(
    supervisor: Supervisor, faulty: MakeSpec
) -> None:
    job = await supervisor.start(faulty("obedient"))
    await job.stop(grace=20)
    assert (await job.wait()).ok


async def test_commands_arrive_and_one_that_fails_does_not_deafen(
    supervisor: Supervisor, faulty: MakeSpec
) -> None:
    job = await supervisor.start(faulty("echoes"))
    messages = job.messages()
    await anext(messages)
    await job.send({"cmd": "fail"})
    await job.send({"cmd": "faster"})
    # An `error` that is not the last word is an event like others.
    assert await anext(messages) == {"kind": "error", "message": "faster"}
    await job.stop(grace=10)
    assert (await job.wait()).ok


async def test_numbers_that_json_cannot_say(supervisor: Supervisor, faulty: MakeSpec) -> None:
    job = await supervisor.start(faulty("odd_numbers"))
    one, two = [message async for message in job.messages()]
    assert one == {"kind": "odd", "nan": "NaN", "deep": [{"low": "-Infinity"}]}
    assert two == {"kind": "odd", "scalar": 0.5, "array": [1.0, "Infinity"]}


async def test_a_worker_sees_a_world_of_its_own(
    supervisor: Supervisor,
    faulty: MakeSpec,
    paths: DataPaths,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ARENA_API_KEY", "secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    job = await supervisor.start(faulty("shows_itself"))
    seen = (await job.wait()).result
    assert seen is not None
    work = os.fspath(paths.jobs / job.id / "work")
    assert seen["cwd"] == seen["environ"]["HOME"] == work
    assert seen["sid"] == seen["pid"] != os.getsid(0)
    assert seen["environ"]["OMP_NUM_THREADS"] == "1"
    assert "secret" not in seen["environ"].values()
    assert seen["stdin"] == ""
    assert seen["spec_is_gone"]
    assert not os.path.exists(work)  # noqa: ASYNC240


async def test_a_job_leaves_only_its_log(
    supervisor: Supervisor, faulty: MakeSpec, paths: DataPaths, tmp_path: Path
) -> None:
    kept = await supervisor.start(faulty("leaves"))
    elsewhere = await supervisor.start(faulty("leaves", log_path=tmp_path / "logs" / "log"))
    await kept.wait()
    await elsewhere.wait()
    assert [path.name for path in kept.folder.iterdir()] == ["log"]
    assert not elsewhere.folder.exists()
    assert "the last thing I said" in (tmp_path / "logs" / "log").read_text()


async def test_a_log_is_continued_by_the_next_job(
    supervisor: Supervisor, faulty: MakeSpec, tmp_path: Path
) -> None:
    for _ in range(2):
        await (await supervisor.start(faulty("leaves", log_path=tmp_path / "log"))).wait()
    assert (tmp_path / "log").read_text().count("the last thing I said") == 2


async def test_no_descriptor_and_no_folder_is_lost(
    supervisor: Supervisor, faulty: MakeSpec, paths: DataPaths
) -> None:
    process = psutil.Process()
    await (await supervisor.start(faulty("counts", count=1))).wait()
    before = process.num_fds()
    for _ in range(5):
        job = await supervisor.start(faulty("counts", count=1))
        await job.wait()
    with pytest.raises(OSError, match="no-such-python"):
        await supervisor.start(JobSpec("train", {}, python="/no-such-python"))
    assert process.num_fds() <= before
    assert len(list(paths.jobs.iterdir())) == 6


async def test_shutdown_ends_every_job_and_refuses_more(
    supervisor: Supervisor, faulty: MakeSpec
) -> None:
    jobs = [await supervisor.start(faulty("obedient")) for _ in range(3)]
    await supervisor.shutdown(grace=20)
    assert supervisor.jobs == {}
    assert all([(await job.wait()).ok for job in jobs])
    with pytest.raises(RuntimeError, match="shutting down"):
        await supervisor.start(faulty("obedient"))


async def test_old_job_folders_are_pruned(supervisor: Supervisor, paths: DataPaths) -> None:
    for number in range(60):
        folder = paths.jobs / f"train-{number:02}"
        folder.mkdir()
        os.utime(folder, (number, number))
    await supervisor.clear_leftovers()
    assert sorted(path.name for path in paths.jobs.iterdir()) == [
        f"train-{number:02}" for number in range(10, 60)
    ]
