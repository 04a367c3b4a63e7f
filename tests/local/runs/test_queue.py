"""The queue of runs: priorities, limits, fair shares, and the sentence that says why one waits."""

from __future__ import annotations

import pytest

from arena_sdk.local.services.queue import Capacity, Demand, RunQueue

from .conftest import Arena


def queue(cpus: int = 1, memory_gb: float = 100.0) -> RunQueue:
    return RunQueue(Capacity(cpus, memory_gb))


def add(runs: RunQueue, *demands: Demand) -> None:
    for demand in demands:
        runs.add(demand)


def order(runs: RunQueue) -> list[int]:
    """Return the order in which runs start when each ends before the next."""
    started = []
    while (taken := runs.take()) is not None:
        started.append(taken)
        runs.release(taken)
    return started


def test_higher_priority_goes_first_then_the_older() -> None:
    runs = queue()
    for number, priority in enumerate([0, 5, 0, 5, -1]):
        add(runs, Demand(number, f"run-{number}", "p", priority))
    assert order(runs) == [1, 3, 0, 2, 4]


def test_projects_take_turns_whatever_they_submit() -> None:
    runs = queue()
    add(runs, *(Demand(number, f"a-{number}", "a") for number in range(4)))
    add(runs, *(Demand(number, f"b-{number}", "b") for number in (10, 11)))
    assert order(runs) == [0, 10, 1, 11, 2, 3]


def test_the_project_that_holds_less_goes_first() -> None:
    runs = queue(cpus=4)
    add(runs, *(Demand(number, f"a-{number}", "a") for number in range(6)))
    assert [runs.take() for _ in range(3)] == [0, 1, 2]
    add(runs, *(Demand(number, f"b-{number}", "b") for number in (10, 11)))
    assert runs.take() == 10
    runs.release(0)
    assert runs.take() == 11
    assert runs.take() is None


def test_what_is_held_is_never_above_the_limits() -> None:
    runs = queue(cpus=4, memory_gb=8.0)
    add(runs, Demand(1, "wide", "p", cpus=3), Demand(2, "two", "p", cpus=2), Demand(3, "one", "p"))
    assert runs.take() == 1
    assert runs.take() is None  # the one of a core would fit, but would keep the other waiting
    assert runs.why_waiting(2) == "It waits for 2 cores: 3 of 4 are held by wide."
    assert runs.why_waiting(3) == (
        "1 run goes before it, first two: it waits for 2 cores: 3 of 4 are held by wide."
    )
    runs.release(1)
    assert [runs.take(), runs.take()] == [2, 3]
    add(runs, Demand(4, "large", "p", memory_gb=7.0))
    assert runs.take() is None
    assert runs.why_waiting(4) == ("It waits for 7 GiB of memory: 2 of 8 are held by two and one.")


def test_a_run_that_needs_more_than_there_is_goes_alone() -> None:
    runs = queue(cpus=2, memory_gb=4.0)
    add(runs, Demand(1, "small", "p"), Demand(2, "huge", "p", cpus=64, memory_gb=512.0))
    assert runs.take() == 1
    assert runs.take() is None
    runs.release(1)
    assert runs.take() == 2
    add(runs, Demand(3, "next", "p"))
    assert runs.take() is None


def test_a_run_that_is_no_longer_wanted_leaves_the_queue() -> None:
    runs = queue()
    add(runs, Demand(1, "one", "p"), Demand(2, "two", "p"))
    assert runs.take() == 1
    assert runs.remove(2)
    assert not runs.remove(2)
    assert list(runs) == []
    assert runs.why_waiting(2) is None


@pytest.mark.parametrize(
    ("priority", "said"), [(0, "1 run goes"), (7, "first urgent (priority 7)")]
)
def test_the_reason_names_who_goes_before(priority: int, said: str) -> None:
    runs = queue()
    add(runs, Demand(1, "now", "p"))
    runs.take()
    add(runs, Demand(2, "urgent", "p", priority), Demand(3, "late", "p"))
    reason = runs.why_waiting(3)
    assert reason is not None
    assert said in reason


async def test_a_more_urgent_run_overtakes_and_the_others_say_so(arena: Arena) -> None:
    for number in range(2):
        await arena.submit(f"endless-{number}", 10**6)
        await arena.until(f"endless-{number}", "running")
    await arena.submit("steady-plain", 200)
    await arena.submit("steady-urgent", 200, options={"priority": 1})
    plain = (await arena.row("steady-plain")).id
    reason = arena.runs.why_waiting(plain)
    assert reason is not None
    assert reason.startswith("1 run goes before it, first steady-urgent (priority 1): ")
    await arena.runs.stop("endless-0")
    await arena.until("steady-plain", "completed")
    urgent, last = [await arena.row(f"steady-{name}") for name in ("urgent", "plain")]
    assert urgent.started_at is not None
    assert last.started_at is not None
    assert urgent.started_at < last.started_at
    assert arena.runs.why_waiting(plain) is None
