"""A watched run: every record once and in order, whatever becomes of the connections."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from sdk_service import Service, answers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket

from arena_sdk import ArenaAPIError, ArenaAuthError, ArenaClient, AsyncArenaClient
from arena_sdk._async import live as async_live
from arena_sdk._sync import live as sync_live

Next = Callable[[int], list[dict[str, Any]]]


def record(number: int) -> dict[str, Any]:
    return {"seq": number, "kind": "metrics", "time": float(number), "data": {"member": number % 4}}


class Run:
    """A run of a number of records, told over connections that are as bad as a test wants.

    Args:
        service: Where it is told.
        total: How many records it has.
        spoil: Makes of the messages of one connection those that go over it; it is closed after.
    """

    def __init__(
        self,
        service: Service,
        total: int,
        spoil: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = lambda messages: messages,
        code: int = 1011,
    ) -> None:
        self.total = total
        self._spoil = spoil
        self._code = code
        features = {"live_metrics": {}, "experiment_details": {}}
        service.on("GET", "/capabilities", {"features": features})
        service.on("GET", "/experiments/one", {"name": "e", "state": "running"})
        service.on("GET", "/experiments/records", self._page)
        service.on_socket("/experiments/live", self._tell)

    def _page(self, request: Request) -> Response:
        after, limit = (int(request.query_params[key]) for key in ("after", "limit"))
        numbers = range(after + 1, min(self.total, after + limit) + 1)
        rows = [record(number) for number in numbers]
        return JSONResponse({"records": rows, "last_seq": self.total, "state": "running"})

    async def _tell(self, socket: WebSocket) -> None:
        after = int(socket.query_params["after"])
        await socket.accept()
        hello = {"kind": "hello", "last_seq": self.total, "state": "running"}
        records = [record(number) for number in range(after + 1, self.total + 1)]
        end = {"kind": "end", "state": "completed", "last_seq": self.total}
        for message in self._spoil([hello, *records, end]):
            await socket.send_json(message)
        await socket.close(self._code)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait a moment only between attempts."""
    for module in (async_live, sync_live):
        monkeypatch.setattr(module, "backoff", lambda attempt: 0.002)
        monkeypatch.setattr(module, "POLL_SECONDS", 0.02)


def numbers(records: list[dict[str, Any]]) -> list[int]:
    return [row["seq"] for row in records]


def test_a_run_is_told_to_its_end(service: Service, client: ArenaClient) -> None:
    Run(service, 50)
    states: list[str] = []
    records = list(client.watch_experiment("e", on_connection=states.append))
    assert records == [record(number) for number in range(1, 51)]
    assert states == ["live"]


def test_a_watch_goes_on_from_a_number(service: Service, client: ArenaClient) -> None:
    Run(service, 50)
    assert numbers(list(client.watch_experiment("e", after=48))) == [49, 50]
    assert numbers(list(client.watch_experiment("e", after=50))) == []


def cut_by(chance: random.Random) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    """Return what cuts each connection at random, loses, doubles and swaps messages."""
    left = [25]

    def spoil(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if left[0] == 0:
            return messages
        left[0] -= 1
        kept = [m for m in messages[: chance.randint(1, 40)] if chance.random() < 0.9]
        kept += chance.choices(kept, k=3) if kept else []
        if len(kept) > 4:
            one, other = chance.sample(range(len(kept)), 2)
            kept[one], kept[other] = kept[other], kept[one]
        return [m for m in kept if m.get("kind") != "end"]

    return spoil


@pytest.mark.parametrize("seed", range(5))
async def test_no_gap_and_no_double_over_bad_connections(
    service: Service, async_client: AsyncArenaClient, seed: int
) -> None:
    Run(service, 400, cut_by(random.Random(seed)))
    records = [row async for row in async_client.watch_experiment("e")]
    assert records == [record(number) for number in range(1, 401)]
    assert len(service.connections) > 1


def test_no_gap_and_no_double_in_the_blocking_client(service: Service, client: ArenaClient) -> None:
    Run(service, 400, cut_by(random.Random(9)))
    assert numbers(list(client.watch_experiment("e"))) == list(range(1, 401))
    assert len(service.connections) > 1


def test_records_that_come_with_the_end_are_fetched(service: Service, client: ArenaClient) -> None:
    Run(service, 30, lambda messages: [messages[0], messages[-1]])
    assert numbers(list(client.watch_experiment("e"))) == list(range(1, 31))


def test_progress_is_told_when_it_is_wanted(service: Service, client: ArenaClient) -> None:
    progress = {"kind": "progress", "steps": 5}
    Run(service, 2, lambda messages: [messages[0], progress, *messages[1:]])
    assert numbers(list(client.watch_experiment("e"))) == [1, 2]
    assert progress in list(client.watch_experiment("e", progress=True))


def test_missing_records_are_not_passed_over(
    service: Service, client: ArenaClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync_live, "GIVE_UP_SECONDS", 0.1)
    run = Run(service, 9, lambda messages: [messages[0], messages[-1]])
    service.on("GET", "/experiments/records", {"records": [], "last_seq": 9, "state": "running"})
    with pytest.raises(ArenaAPIError, match="connection was lost"):
        list(client.watch_experiment("e"))
    assert run.total == 9


def test_a_run_that_is_not_there(service: Service, client: ArenaClient) -> None:
    Run(service, 1)
    service.on("GET", "/experiments/one", {"message": "No experiment is named 'x'."}, 404)
    with pytest.raises(ArenaAPIError, match="No experiment") as caught:
        list(client.watch_experiment("x"))
    assert caught.value.status_code == 404
    assert service.connections == []


def test_a_run_that_is_deleted_while_it_is_watched(service: Service, client: ArenaClient) -> None:
    gone = {"kind": "error", "message": "No experiment is named 'e'.", "error_code": "NOT_FOUND"}
    Run(service, 5, lambda messages: [gone], code=4404)
    with pytest.raises(ArenaAPIError, match="No experiment") as caught:
        list(client.watch_experiment("e"))
    assert caught.value.status_code == 404


def test_a_refused_connection_is_an_error_of_authentication(
    service: Service, client: ArenaClient
) -> None:
    async def refuse(socket: WebSocket) -> None:
        await socket.send_denial_response(JSONResponse({"message": "wrong token"}, 401))

    Run(service, 1)
    service.on_socket("/experiments/live", refuse)
    with pytest.raises(ArenaAuthError, match="wrong token"):
        list(client.watch_experiment("e"))


def test_a_service_that_stays_away_ends_the_watch(
    service: Service, client: ArenaClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync_live, "GIVE_UP_SECONDS", 0.1)
    Run(service, 5, lambda messages: [])
    states: list[str] = []
    with pytest.raises(ArenaAPIError, match="connection was lost") as caught:
        list(client.watch_experiment("e", on_connection=states.append))
    assert caught.value.status_code == 0
    assert "reconnecting" in states


async def test_a_watch_that_is_cancelled_closes_its_connection(
    service: Service, async_client: AsyncArenaClient
) -> None:
    left = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def silent(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_json(record(1))
        await socket.receive()  # the client going away
        loop.call_soon_threadsafe(left.set)

    Run(service, 5)
    service.on_socket("/experiments/live", silent)
    told = asyncio.Event()

    async def follow() -> None:
        async for _ in async_client.watch_experiment("e"):
            told.set()

    task = asyncio.create_task(follow())
    await asyncio.wait_for(told.wait(), 5)
    start = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(left.wait(), 5)
    assert time.monotonic() - start < 2


def test_without_live_metrics_the_csv_is_polled(service: Service, client: ArenaClient) -> None:
    head = "generation,member,fitness,lr\n"
    tables = [head, head + "0,1,2.5,\n", head + "0,1,2.5,\n1,2,NaN,1e-3\n"]
    service.on("GET", "/projects", [{"name": "other"}, {"name": "p"}])
    service.on(
        "GET",
        "/experiments/list",
        answers(
            *(JSONResponse(rows) for rows in ([], [{"name": "e", "state": "running"}]) * 2),
            JSONResponse([{"name": "e", "status": "Completed"}]),
        ),
    )
    service.on(
        "GET",
        "/experiments/metrics",
        answers(*(Response(table, media_type="text/csv") for table in tables)),
    )
    states: list[str] = []
    records = list(client.watch_experiment("e", on_connection=states.append))
    assert states == ["polling"]
    assert [(row["seq"], row["kind"]) for row in records] == [
        (1, "metrics"), (2, "metrics"), (3, "state"),
    ]  # fmt: skip
    assert records[0]["data"] == {"generation": 0, "member": 1, "fitness": 2.5, "lr": None}
    assert records[1]["data"]["lr"] == 0.001
    assert records[1]["data"]["fitness"] != records[1]["data"]["fitness"]  # NaN
    assert records[2]["data"] == {"state": "completed"}
