"""Hands the records of a run to those who watch it, each exactly once and in order.

A record is committed first and published after, so the store is always ahead of the broker. A
subscriber reads the store until it has caught up, then attaches a queue, reads the store once
more for what was committed meanwhile, and goes on from the queue; sequence numbers tell what it
already has. The queue is bounded: whoever does not keep up is cut off with a reason, and comes
back with the last number it has. Nobody who watches can hold up training.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from arena_sdk.local.store.experiments import FINISHED_STATES

PAGE = 1000
"""How many stored records are read at a time."""

QUEUE_LIMIT = 4096
"""How many records may wait for one subscriber."""

Message = dict[str, Any]


@dataclass(frozen=True)
class Page:
    """Stored records after a number, with where the run stood when they were read."""

    records: list[Message]
    state: str
    last_seq: int


ReadPage = Callable[[int, int], Awaitable[Page]]
"""(after, limit) to the stored records whose number is above `after`, in order."""


class SubscriberTooSlow(Exception):
    """More records wait than the queue holds; come back with the last number that arrived."""

    def __init__(self, last_seq: int) -> None:
        super().__init__(f"too slow: reconnect with after={last_seq}")
        self.last_seq = last_seq


class BrokerClosed(Exception):
    """The server is going down."""


class _Queue:
    """What waits for one subscriber."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._records: deque[Message] = deque()
        self._progress: Message | None = None
        self._wake = asyncio.Event()
        self.overflowed = False
        self.closed = False

    def put(self, records: Iterable[Message]) -> None:
        self._records.extend(records)
        if len(self._records) > self._limit:
            self._records.clear()
            self.overflowed = True
        self._wake.set()

    def put_progress(self, message: Message) -> None:
        self._progress = message  # only the latest is worth telling
        self._wake.set()

    def close(self) -> None:
        self.closed = True
        self._wake.set()

    async def take(self) -> tuple[list[Message], Message | None]:
        """Wait for something; return all waiting records and the latest progress."""
        if not (self._records or self._progress or self.overflowed or self.closed):
            self._wake.clear()
            await self._wake.wait()
        records = list(self._records)
        self._records.clear()
        progress, self._progress = self._progress, None
        return records, progress


class Broker:
    """The subscribers of every run.

    All methods are called in the server's event loop. `publish` must be called in the order of
    the sequence numbers, after their commit.

    Args:
        queue_limit: How many records may wait for one subscriber.
    """

    def __init__(self, queue_limit: int = QUEUE_LIMIT) -> None:
        self._limit = queue_limit
        self._queues: dict[int, set[_Queue]] = {}
        self._closed = False

    def publish(self, experiment_id: int, records: list[Message]) -> None:
        """Hand committed records to those who watch this run."""
        if records:
            for queue in self._queues.get(experiment_id, ()):
                queue.put(records)

    def progress(self, experiment_id: int, message: Message) -> None:
        """Tell those who watch how far the run is; not numbered, not stored, may be dropped."""
        for queue in self._queues.get(experiment_id, ()):
            queue.put_progress(message)

    def close(self) -> None:
        """Let every subscriber go."""
        self._closed = True
        for queues in self._queues.values():
            for queue in queues:
                queue.close()

    def watching(self, experiment_id: int) -> int:
        """Return how many subscribers have caught up with this run."""
        return len(self._queues.get(experiment_id, ()))

    async def follow(
        self, experiment_id: int, after: int, read: ReadPage
    ) -> AsyncGenerator[Message, None]:
        """Yield the records after a number, then those to come, then how the run ended.

        Args:
            experiment_id: Whose records.
            after: The last number that the subscriber has; 0 for all.
            read: Reads stored records of this run.

        Yields:
            Records by number without gap or repeat; between them `{"kind": "progress", …}`; at
            the end `{"kind": "end", "state", "last_seq"}`.

        Raises:
            SubscriberTooSlow: It did not keep up.
            BrokerClosed: The server is going down.
        """
        last = after
        while True:
            page = await read(last, PAGE)
            for record in page.records:
                yield record
                last = record["seq"]
            if len(page.records) < PAGE:
                break
        queue = _Queue(self._limit)
        queues = self._queues.setdefault(experiment_id, set())
        queues.add(queue)
        try:
            async for message in self._live(queue, last, read):
                yield message
        finally:
            queues.discard(queue)
            if not queues and self._queues.get(experiment_id) is queues:
                del self._queues[experiment_id]

    async def _live(self, queue: _Queue, last: int, read: ReadPage) -> AsyncIterator[Message]:
        page = await read(last, PAGE)
        while len(page.records) == PAGE:
            for record in page.records:
                yield record
                last = record["seq"]
            page = await read(last, PAGE)
        waiting, progress, state = page.records, None, page.state
        while True:
            if waiting and waiting[0]["seq"] > last + 1:  # a publication was lost; the store has it
                waiting = (await read(last, PAGE)).records + waiting
            for record in waiting:
                if record["seq"] > last:
                    yield record
                    last = record["seq"]
                    if record["kind"] == "state":
                        state = record["data"]["state"]
            if progress is not None and state not in FINISHED_STATES:
                yield progress
            if queue.overflowed:
                raise SubscriberTooSlow(last)
            if state in FINISHED_STATES and last >= page.last_seq:
                yield {"kind": "end", "state": state, "last_seq": last}
                return
            if queue.closed or self._closed:
                raise BrokerClosed
            waiting, progress = await queue.take()
