# Made by `python -m arena_sdk._unasync` from arena_sdk/_async/live.py; change that one.
"""A run's records as they come: numbered, without gap or double, over connections that break.

A record is yielded only when all those before it have been; what a connection did not bring is
fetched. Where a service has no live metrics, its CSV is polled.
"""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.sync.client import connect

from arena_sdk._network import socket_options
from arena_sdk._outage import GIVE_UP_SECONDS, PASSING_STATUSES, Outage
from arena_sdk._pause import backoff, blocking_sleep
from arena_sdk._sockets import closed_status, refusal
from arena_sdk._sync.base import PREFIX
from arena_sdk.answers import Record
from arena_sdk.errors import ArenaAPIError, ArenaConfigError, ArenaError, classified
from arena_sdk.records import decode_number

if TYPE_CHECKING:
    from arena_sdk._sync.client import ArenaClient

STEADY_SECONDS = 10.0
"""A connection that has held this long was a good one, though nothing was to be told."""
POLL_SECONDS = 5.0
PAGE = 10_000
CSV_ROWS = 50_000
END_STATES = frozenset({"completed", "failed", "stopped", "interrupted", "cancelled"})

Message = dict[str, Any]


class Gap(Exception):
    """Records are missing that the service should have; the connection is made again."""


def watch(
    client: ArenaClient,
    name: str,
    *,
    after: int,
    progress: bool,
    on_connection: Callable[[str], None],
) -> Iterator[Record]:
    """Yield records; see `AsyncExperiments.watch_experiment`."""
    features = client.capabilities()
    if "live_metrics" in features:
        follower = Follower(client, name, after, progress, on_connection)
        records = follower.records()
    else:
        on_connection("polling")
        records = _poll(client, name, after, on_connection)
    with closing(records):
        for record in records:
            yield Record(record)


class Follower:
    """Follows one run over WebSockets."""

    def __init__(
        self,
        client: ArenaClient,
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

    def records(self) -> Generator[Message, None]:
        """Yield records until the run ends.

        Raises:
            ArenaError: There is no such run, or the service was gone for too long.
        """
        self._client.get_experiment(self._name)  # says clearly when there is no such run
        while not self._ended:
            try:
                with closing(self._connection()) as records:
                    for record in records:
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
                self._wait()

    def _pass_or_raise(self, error: ArenaError) -> None:
        if not isinstance(error, ArenaAPIError) or error.status_code not in PASSING_STATUSES:
            raise error

    def _connection(self) -> Generator[Message, None]:
        """Yield what one connection brings."""
        transport = self._client._transport
        url = "ws" + transport.base_url.removeprefix("http")
        query = urlencode({"experiment_name": self._name, "after": self._after})
        with connect(
            f"{url}{PREFIX}/experiments/live?{query}",
            additional_headers=transport.fresh_headers(),
            open_timeout=10,
            ping_interval=10,
            ping_timeout=10,
            max_size=1 << 24,
            **socket_options(transport.base_url),
        ) as socket:
            self._connected_at = time.monotonic()
            self._tell("live")
            for text in socket:
                message = json.loads(text)
                for record in self._take(message):
                    yield record
                if message.get("kind") != "hello":
                    self._failures = 0  # not before: a service may greet and then fail, for ever
                if self._ended:
                    return

    def _take(self, message: dict[str, Any]) -> Iterator[Message]:
        number, kind = message.get("seq"), message.get("kind")
        if number is not None:
            for record in self._refill(number - 1):
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
            for record in self._refill(int(message.get("last_seq", 0))):
                yield record
            self._ended = True

    def _refill(self, until: int) -> Iterator[Message]:
        """Fetch the records up to a number that the connection did not bring."""
        while self._after < until:
            page = self._client.experiment_records(
                self._name, after=self._after, limit=min(PAGE, until - self._after)
            )
            before = self._after
            for record in page["records"]:
                if record["seq"] == self._after + 1:
                    self._after += 1
                    yield record
            if self._after == before:
                raise Gap

    def _wait(self) -> None:
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
        blocking_sleep(backoff(self._failures))


def _poll(
    client: ArenaClient, name: str, after: int, on_connection: Callable[[str], None]
) -> Generator[Message, None]:
    """Watch a service that has no live metrics, by its CSV; a row's number is its record's."""
    outage = Outage()
    while True:
        try:
            ended = _ended_state(client, name)
            content, _, _ = client.preview_experiment_metrics_csv(name, preview_rows=CSV_ROWS)
        except ArenaError as error:
            wait = outage.wait_after(error)
            on_connection("reconnecting")
            blocking_sleep(wait)
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
        blocking_sleep(POLL_SECONDS)


def _ended_state(client: ArenaClient, name: str) -> str | None:
    """Return the state in which a run has ended, or None while it goes on."""
    row = _row(client, name)
    state = str(row.get("state") or row.get("status") or "").lower()
    return state if state in END_STATES else None


def _row(client: ArenaClient, name: str) -> dict[str, Any]:
    """Return a run's row: of the default project, or of the first one that has such a run."""
    try:
        projects = [client._project(None)]
    except ArenaConfigError:
        projects = [str(project["name"]) for project in client.list_projects()]
    for project in projects:
        for row in client.list_experiments(project):
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
