"""Jobs that go wrong: each ends in time, in a sentence, with none of its processes left."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from arena_sdk.local import inbox, joblog
from arena_sdk.local.jobs import Supervisor

from .conftest import MakeSpec, alive, gone_within


async def test_an_expected_failure_keeps_its_sentence_and_context(
    supervisor: Supervisor, faulty: MakeSpec
) -> None:
    outcome = await (await supervisor.start(faulty("refuses"))).wait()
    assert not outcome.ok
    assert outcome.error is not None
    assert outcome.error["message"] == "The disk is full."
    assert (outcome.error["error_code"], outcome.error["path"]) == ("DISK_FULL", "/somewhere")


async def test_an_unexpected_exception_is_one_line_with_its_traceback_apart(
    supervisor: Supervisor, faulty: MakeSpec
) -> None:
    outcome = await (await supervisor.start(faulty("raises"))).wait()
    assert outcome.error is not None
    assert outcome.error["message"] == "TypeError: cannot add a cat"
    assert outcome.error["error_code"] == "CRASH"
    assert "faulty.py" in outcome.error["traceback"]


async def test_a_silent_exit_is_told_with_the_last_line_of_the_log(
    supervisor: Supervisor, faulty: MakeSpec
) -> None:
    outcome = await (await supervisor.start(faulty("leaves"))).wait()
    assert (outcome.reason, outcome.returncode) == ("crashed", 3)
    assert outcome.error is not None
    assert outcome.error["message"] == (
        "The train worker left with exit code 3 and without a result."
        " The last line of its log: the last thing I said"
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
async def test_a_killed_worker_is_told_by_its_signal(
    supervisor: Supervisor, faulty: MakeSpec, number: signal.Signals
) -> None:
    outcome = await (await supervisor.start(faulty("dies", signal=int(number)))).wait()
    assert outcome.reason == "crashed"
    assert outcome.error is not None
    assert number.name in outcome.error["message"]
    if number == signal.SIGSEGV:
        assert any("in dies" in line for line in outcome.error["log_tail"])


@pytest.mark.parametrize("behaviour", ["deaf", "stuck_in_c"])
async def test_a_worker_that_ignores_stop_is_killed_after_the_grace(
    supervisor: Supervisor, faulty: MakeSpec, behaviour: str
) -> None:
    job = await supervisor.start(faulty(behaviour))
    await anext(aiter(job.messages()))
    start = time.monotonic()
    await job.stop(grace=1.0)
    assert time.monotonic() - start < 4
    outcome = await job.wait()
    assert outcome.reason == "killed"
    assert alive([job.pid]) == []


async def test_a_job_over_its_time_tells_where_it_was(
    supervisor: Supervisor, faulty: MakeSpec
) -> None:
    outcome = await (await supervisor.start(faulty("blocks_in_step", timeout=1.5))).wait()
    assert outcome.reason == "timeout"
    assert outcome.error is not None
    assert outcome.error["message"] == "The train worker took longer than 1.5 s and was ended."
    assert any("step_of_the_environment" in line for line in outcome.error["stack"])


async def test_a_job_over_its_memory_is_ended(supervisor: Supervisor, faulty: MakeSpec) -> None:
    outcome = await asyncio.wait_for(
        (await supervisor.start(faulty("eats_memory", memory_gb=0.25))).wait(), 30
    )
    assert outcome.reason == "memory"
    assert outcome.error is not None
    assert outcome.error["message"] == (
        "The train worker used more memory than 0.25 GiB and was ended."
    )


@pytest.mark.parametrize("then", ["return", "die", "wait"])
async def test_children_do_not_outlive_the_worker(
    supervisor: Supervisor, faulty: MakeSpec, then: str
) -> None:
    job = await supervisor.start(faulty("has_children", then=then))
    message = await anext(aiter(job.messages()))
    if then == "wait":
        assert len(alive(message["pids"])) == 5
        await job.stop(grace=10)
    outcome = await asyncio.wait_for(job.wait(), 20)
    assert outcome.ok == (then != "die")
    assert gone_within(message["pids"], 1)


async def test_a_forked_child_can_be_ended_politely(
    supervisor: Supervisor, faulty: MakeSpec
) -> None:
    outcome = await (await supervisor.start(faulty("terminates_a_child"))).wait()
    assert outcome.result == {"exitcode": -signal.SIGTERM}


async def test_a_forked_child_cannot_speak_for_the_worker(
    supervisor: Supervisor, faulty: MakeSpec
) -> None:
    job = await supervisor.start(faulty("child_speaks"))
    assert [message async for message in job.messages()] == []
    outcome = await job.wait()
    assert outcome.result == {"child": "Only the worker's main process sends messages."}


async def test_a_flood_of_output_is_capped_and_hurts_nobody(
    supervisor: Supervisor,
    faulty: MakeSpec,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(joblog.LogPump.__init__, "__defaults__", (1 << 20,))
    log = tmp_path / "log"
    job = await supervisor.start(faulty("floods_stdout", kilobytes=50_000, log_path=log))
    longest, before = 0.0, time.monotonic()
    while job.id in supervisor.jobs:
        await asyncio.sleep(0.01)
        longest, before = max(longest, time.monotonic() - before), time.monotonic()
    assert (await job.wait()).result == {"printed": 50_000}
    assert longest < 1, "the server was held up"
    text = log.read_bytes()
    assert len(text) < (1 << 20) + 200
    assert text.endswith(b"[output beyond 1,048,576 bytes is dropped]\n")


async def test_a_log_that_cannot_be_written_does_not_stop_the_worker(
    supervisor: Supervisor, faulty: MakeSpec, tmp_path: Path
) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    spec = faulty("floods_stdout", kilobytes=1_000, log_path=blocker / "log")
    outcome = await asyncio.wait_for((await supervisor.start(spec)).wait(), 20)
    assert outcome.result == {"printed": 1_000}


async def test_a_full_disk_does_not_stop_the_worker(
    supervisor: Supervisor, faulty: MakeSpec, full_file: Path
) -> None:
    spec = faulty("floods_stdout", kilobytes=1_000, log_path=full_file)
    outcome = await asyncio.wait_for((await supervisor.start(spec)).wait(), 20)
    assert outcome.result == {"printed": 1_000}


async def test_garbage_on_the_result_pipe_is_passed_over(
    supervisor: Supervisor, faulty: MakeSpec
) -> None:
    job = await supervisor.start(faulty("writes_garbage"))
    kinds = [message["kind"] async for message in job.messages()]
    assert kinds == ["result", "good"]
    assert (await job.wait()).result == {"survived": True}


async def test_a_message_without_an_end_ends_the_worker(
    supervisor: Supervisor, faulty: MakeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "MESSAGE_LIMIT", 1 << 20)
    outcome = await asyncio.wait_for(
        (await supervisor.start(faulty("writes_endless_line"))).wait(), 20
    )
    assert not outcome.ok
    assert outcome.error is not None


async def test_commands_to_a_worker_that_does_not_listen_hold_nothing_up(
    supervisor: Supervisor, faulty: MakeSpec
) -> None:
    job = await supervisor.start(faulty("stuck_in_c"))
    await anext(aiter(job.messages()))
    command = {"cmd": "speed", "padding": "x" * 4_000}

    async def insist() -> None:
        for _ in range(100):
            await job.send(command)

    await asyncio.wait_for(insist(), 2)
    job.kill()
    await job.wait()
    await job.send(command)  # to one that has ended


async def test_what_an_earlier_server_left_is_cleared_away(
    supervisor: Supervisor, faulty: MakeSpec
) -> None:
    job = await supervisor.start(faulty("has_children", then="wait"))
    message = await anext(aiter(job.messages()))
    bystander = psutil.Popen(["sleep", "60"], env={**os.environ, "ARENA_WORKER_FOLDER": "/other"})
    try:
        await supervisor.clear_leftovers()
        assert gone_within(message["pids"], 5)
        assert bystander.is_running()
    finally:
        bystander.kill()
        bystander.wait()
    await job.wait()
