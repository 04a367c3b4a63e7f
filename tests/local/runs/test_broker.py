"""Whoever watches a run gets each record once and in order, however often it is cut off."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_sdk.local.services.broker import Broker, BrokerClosed, Page, SubscriberTooSlow


class Series:
    """A store of one run in memory: committed first, published after."""

    def __init__(self, broker: Broker) -> None:
        self.broker, self.records, self.state = broker, [], "running"

    def commit(self, count: int = 1, state: str | None = None) -> list[dict[str, Any]]:
        fresh = []
        for _ in range(count):
            seq = len(self.records) + 1
            record = {"seq": seq, "kind": "metrics", "time": 0.0, "data": {}}
            if state is not None:
                record |= {"kind": "state", "data": {"state": state}}
                self.state = state
            self.records.append(record)
            fresh.append(record)
        return fresh

    def write(self, count: int = 1, state: str | None = None) -> None:
        self.broker.publish(1, self.commit(count, state))

    async def read(self, after: int, limit: int) -> Page:
        page = Page(self.records[after : after + limit], self.state, len(self.records))
        await asyncio.sleep(0)  # a real read takes time, in which more may be written
        return page


async def collect(series: Series, after: int = 0, stop_after: int | None = None) -> list[Any]:
    got = []
    async for message in series.broker.follow(1, after, series.read):
        got.append(message)
        if stop_after is not None and len(got) >= stop_after:
            break
    return got


def seqs(messages: list[dict[str, Any]]) -> list[int]:
    return [m["seq"] for m in messages if "seq" in m]


async def test_stored_then_live_then_the_end() -> None:
    series = Series(Broker())
    series.write(3)
    watching = asyncio.create_task(collect(series, after=1))
    await asyncio.sleep(0.01)
    series.write(2)
    await asyncio.sleep(0.01)
    series.write(state="completed")
    got = await asyncio.wait_for(watching, 2)
    assert seqs(got) == [2, 3, 4, 5, 6]
    assert got[-1] == {"kind": "end", "state": "completed", "last_seq": 6}


async def test_a_run_that_has_ended_ends_at_once() -> None:
    series = Series(Broker())
    series.write(2500)
    series.write(state="failed")
    got = await asyncio.wait_for(collect(series), 2)
    assert seqs(got) == list(range(1, 2502))
    assert got[-1]["state"] == "failed"
    assert await asyncio.wait_for(collect(series, after=2501), 2) == got[-1:]


async def test_progress_is_passed_on_and_only_the_latest_waits() -> None:
    series = Series(Broker())
    watching = asyncio.create_task(collect(series))
    await asyncio.sleep(0.01)
    for steps in range(100):
        series.broker.progress(1, {"kind": "progress", "steps": steps})
    await asyncio.sleep(0.01)
    series.write(state="stopped")
    got = await asyncio.wait_for(watching, 2)
    assert [m for m in got if m["kind"] == "progress"] == [{"kind": "progress", "steps": 99}]


async def test_whoever_is_too_slow_is_cut_off_and_told_where_to_go_on() -> None:
    series = Series(Broker(queue_limit=10))
    series.write()
    got: list[int] = []
    with pytest.raises(SubscriberTooSlow, match="after="):  # noqa: PT012
        async for message in series.broker.follow(1, 0, series.read):
            got.append(message["seq"])
            series.write(20)  # more arrives at each step than is taken
    assert got == list(range(1, len(got) + 1))
    series.write(state="completed")
    rest = await collect(series, after=got[-1])
    assert seqs(rest) == list(range(len(got) + 1, len(series.records) + 1))


async def test_nobody_who_watches_is_left_behind_by_its_leaving() -> None:
    series = Series(Broker())
    watching = asyncio.create_task(collect(series))
    await asyncio.sleep(0.01)
    assert series.broker.watching(1) == 1
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    assert series.broker.watching(1) == 0


async def test_closing_lets_everyone_go() -> None:
    series = Series(Broker())
    watching = asyncio.create_task(collect(series))
    await asyncio.sleep(0.01)
    series.broker.close()
    with pytest.raises(BrokerClosed):
        await asyncio.wait_for(watching, 2)


async def test_a_publication_that_was_lost_is_read_from_the_store() -> None:
    series = Series(Broker())
    watching = asyncio.create_task(collect(series))
    await asyncio.sleep(0.01)
    series.commit(3)
    series.write(2)
    series.write(state="stopped")
    assert seqs(await asyncio.wait_for(watching, 2)) == [1, 2, 3, 4, 5, 6]


@settings(max_examples=60, deadline=None)
@given(
    bursts=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3)), min_size=1, max_size=40),
    cuts=st.lists(st.integers(1, 30), min_size=0, max_size=25),
    limit=st.integers(1, 60),
)
def test_random_cut_offs_and_reconnects_give_exactly_the_stored_series(
    bursts: list[tuple[int, int]], cuts: list[int], limit: int
) -> None:
    async def scenario() -> None:
        series = Series(Broker(queue_limit=limit))

        async def write() -> None:
            for count, pauses in bursts:
                series.write(count)
                for _ in range(pauses):
                    await asyncio.sleep(0)
            series.write(state="completed")

        writing = asyncio.create_task(write())
        got: list[int] = []
        remaining = list(cuts)
        cut_at: list[bool] = []
        ended = False
        while not ended:
            stop_after = remaining.pop() if remaining else None
            seen = 0
            follow = series.broker.follow(1, got[-1] if got else 0, series.read)
            try:
                async for message in follow:
                    if message["kind"] == "end":
                        ended = True
                        break
                    got.append(message["seq"])
                    seen += 1
                    await asyncio.sleep(0)
                    if seen == stop_after:
                        break
            except SubscriberTooSlow as cut:
                cut_at.append(cut.last_seq == (got[-1] if got else 0))
            await follow.aclose()
        await writing
        assert all(cut_at)
        assert got == [record["seq"] for record in series.records]

    asyncio.run(scenario())
