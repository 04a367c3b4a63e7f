"""A run's records as they come: numbered, without gap or double, over connections that break.

A record is yielded only when all those before it have been; what a connection did not bring is
fetched. Where a service has no live metrics, its CSV is polled.
"""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from arena_sdk._async.base import PREFIX
from arena_sdk._network import socket_options
from arena_sdk._outage import GIVE_UP_SECONDS, PASSING_STATUSES, Outage
from arena_sdk._pause import async_sleep, backoff
from arena_sdk._sockets import closed_status, refusal
from arena_sdk.answers import Record
from arena_sdk.errors import ArenaAPIError, ArenaConfigError, ArenaError, classified
from arena_sdk.records import decode_number

if TYPE_CHECKING:
    from arena_sdk._async.client import AsyncArenaClient

STEADY_SECONDS = 10.0
"""A connection that has held this long was a good one, though nothing was to be told."""
POLL_SECONDS = 5.0
PAGE = 10_000
CSV_ROWS = 50_000
END_STATES = frozenset({"completed", "failed", "stopped", "interrupted", "cancelled"})

Message = dict[str, Any]


class Gap(Exception):
    """Records are missing that the service should have; the connection is made again."""


async def watch(
    client: AsyncArenaClient,
    name: str,
    *,
    after: int,
    progress: bool,
    on_connection: Callable[[str], None],
) -> AsyncIterator[Record]:
    """Yield records; see `AsyncExperiments.watch_experiment`."""
    features = await client.capabilities()
    if "live_metrics" in features:
        follower = AsyncFollower(client, name, after, progress, on_connection)
        records = follower.records()
    else:
        on_connection("polling")
        records = _poll(client, name, after, on_connection)
    async with aclosing(records):
        async for record in records:
            yield Record(record)


class AsyncFollower:
    """Follows one run over WebSockets."""

    def __init__(
        self,
        client: AsyncArenaClient,
        name: str,
        after: int,
        progress: bool,
        on_connection: Callable[[str], None],
    ) -> None:
        self._client = client
        self._name = name
        self._after = after
        self._progress = progress
        self._tell = on_connection
        self._ended = False
        self._failures = 0
        self._lost_at = 0.0
        self._connected_at: float | None = None

    async def records(self) -> AsyncGenerator[Message, None]:
        """Yield records until the run ends.

        Raises:
            ArenaError: There is no such run, or the service was gone for too long.
        """
        await self._client.get_experiment(self._name)  # says clearly when there is no such run
        while not self._ended:
            try:
                async with aclosing(self._connection()) as records:
                    async for record in records:
                        yield record
            except InvalidStatus as error:
                self._pass_or_raise(refusal(ArenaAPIError, error))
            except ArenaError as error:
                self._pass_or_raise(error)
            except ConnectionClosed as closed:
                if closed_status(closed) and closed.rcvd is not None:
                    raise classified(
                        ArenaAPIError, closed.rcvd.reason, closed_status(closed), {}
                    ) from None
            except (OSError, WebSocketException, Gap):
                pass
            if not self._ended:
                await self._wait()

    def _pass_or_raise(self, error: ArenaError) -> None:
        if not isinstance(error, ArenaAPIError) or error.status_code not in PASSING_STATUSES:
            raise error

    async def _connection(self) -> AsyncGenerator[Message, None]:
        """Yield what one connection brings."""
        transport = self._client._transport
        url = "ws" + transport.base_url.removeprefix("http")
        query = urlencode({"experiment_name": self._name, "after": self._after})
        async with connect(
            f"{url}{PREFIX}/experiments/live?{query}",
            additional_headers=await transport.fresh_headers(),
            open_timeout=10,
            ping_interval=10,
            ping_timeout=10,
            max_size=1 << 24,
            **socket_options(transport.base_url),
        ) as socket:
            self._connected_at = time.monotonic()
            self._tell("live")
            async for text in socket:
                message = json.loads(text)
                async for record in self._take(message):
                    yield record
                if message.get("kind") != "hello":
                    self._failures = 0  # not before: a service may greet and then fail, for ever
                if self._ended:
                    return

    async def _take(self, message: dict[str, Any]) -> AsyncIterator[Message]:
        number, kind = message.get("seq"), message.get("kind")
        if number is not None:
            async for record in self._refill(number - 1):
                yield record
            if number == self._after + 1:
                self._after = number
                yield message
        elif kind == "progress" and self._progress:
            yield message
        elif kind == "error":
            status = 404 if message.get("error_code") == "NOT_FOUND" else 422
            raise classified(ArenaAPIError, str(message.get("message")), status, dict(message))
        elif kind == "end":
            async for record in self._refill(int(message.get("last_seq", 0))):
                yield record
            self._ended = True

    async def _refill(self, until: int) -> AsyncIterator[Message]:
        """Fetch the records up to a number that the connection did not bring."""
        while self._after < until:
            page = await self._client.experiment_records(
                self._name, after=self._after, limit=min(PAGE, until - self._after)
            )
            before = self._after
            for record in page["records"]:
                if record["seq"] == self._after + 1:
                    self._after += 1
                    yield record
            if self._after == before:
                raise Gap

    async def _wait(self) -> None:
        now = time.monotonic()
        if self._connected_at is not None and now - self._connected_at > STEADY_SECONDS:
            self._failures = 0
        self._connected_at = None
        if self._failures == 0:
            self._lost_at = now
        elif now - self._lost_at > GIVE_UP_SECONDS:
            raise ArenaAPIError(
                f"The connection was lost while watching {self._name!r}, and the service did not"
                f" answer for {GIVE_UP_SECONDS:g} s."
            )
        self._failures += 1
        self._tell("reconnecting")
        self._client._refind()
        await async_sleep(backoff(self._failures))


async def _poll(
    client: AsyncArenaClient, name: str, after: int, on_connection: Callable[[str], None]
) -> AsyncGenerator[Message, None]:
    """Watch a service that has no live metrics, by its CSV; a row's number is its record's."""
    outage = Outage()
    while True:
        try:
            ended = await _ended_state(client, name)
            content, _, _ = await client.preview_experiment_metrics_csv(name, preview_rows=CSV_ROWS)
        except ArenaError as error:
            wait = outage.wait_after(error)
            on_connection("reconnecting")
            await async_sleep(wait)
            continue
        if outage.over():
            on_connection("polling")
        rows = list(csv.DictReader(io.StringIO(content.decode("utf-8"))))
        for number, row in enumerate(rows, 1):
            if number > after:
                after = number
                data = {key: _value(text) for key, text in row.items() if key}
                yield {"seq": number, "kind": "metrics", "time": time.time(), "data": data}
        if ended:
            yield {
                "seq": after + 1,
                "kind": "state",
                "time": time.time(),
                "data": {"state": ended},
            }
            return
        await async_sleep(POLL_SECONDS)


async def _ended_state(client: AsyncArenaClient, name: str) -> str | None:
    """Return the state in which a run has ended, or None while it goes on."""
    row = await _row(client, name)
    state = str(row.get("state") or row.get("status") or "").lower()
    return state if state in END_STATES else None


async def _row(client: AsyncArenaClient, name: str) -> dict[str, Any]:
    """Return a run's row: of the default project, or of the first one that has such a run."""
    try:
        projects = [await client._project(None)]
    except ArenaConfigError:
        projects = [str(project["name"]) for project in await client.list_projects()]
    for project in projects:
        for row in await client.list_experiments(project):
            if row.get("name") == name:
                return row
    raise ArenaAPIError(f"No experiment is named {name!r}.", status_code=404)


def _value(text: str | None) -> Any:
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return decode_number(text)
