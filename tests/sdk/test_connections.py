"""Connections are used again, what happens when they have gone stale, and time-outs of a call."""

from __future__ import annotations

import time
from typing import Any

import pytest
from sdk_faults import CLOSE, HANG, RESET, answer, faulty
from sdk_service import Service
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from arena_sdk import (
    ArenaAPIError,
    ArenaClient,
    ArenaConfigError,
    ArenaValidationError,
    AsyncArenaClient,
)

PROJECTS = answer(200, b'[{"name": "p"}]')
MADE = answer(200, b'{"name": "p"}')


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a pause is made between two tries."""
    monkeypatch.setattr("random.uniform", lambda low, high: pytest.fail("it paused"))


def test_one_connection_carries_many_requests(service: Service, client: ArenaClient) -> None:
    ports = set()

    def listed(request: Request) -> Response:
        assert request.client is not None
        ports.add(request.client.port)
        return JSONResponse([])

    service.on("GET", "/projects", listed)
    service.on("GET", "/experiments/list", listed)
    for _ in range(5):
        client.list_projects()
        client.list_experiments("p")
        client.with_timeouts(5).list_projects()
    assert len(ports) == 1


@pytest.mark.parametrize("end", [RESET, CLOSE])
@pytest.mark.usefixtures("no_pauses")
async def test_a_read_on_a_stale_connection_is_made_again_at_once(end: str) -> None:
    with (
        faulty([PROJECTS], [end], [PROJECTS]) as service,
        ArenaClient("a-key", base_url=service.url) as client,
    ):
        assert client.list_projects() == client.list_projects()
        assert len(service.asked) == 3
    with faulty([PROJECTS], [end], [PROJECTS]) as service:
        async with AsyncArenaClient("a-key", base_url=service.url) as async_client:
            assert await async_client.list_projects() == await async_client.list_projects()
            assert len(service.asked) == 3


@pytest.mark.parametrize("end", [RESET, CLOSE])
def test_a_change_on_a_stale_connection_is_not_made_twice(end: str) -> None:
    with (
        faulty([PROJECTS], [end], [MADE]) as service,
        ArenaClient("a-key", base_url=service.url) as client,
    ):
        client.list_projects()
        with pytest.raises(ArenaValidationError, match="cannot be reached"):
            client.create_project("p")
        assert [asked.method for asked in service.asked] == ["GET", "POST"]
        assert client.create_project("p") == {"name": "p"}  # a new connection, and nothing broken


def test_a_change_goes_out_on_a_new_connection_where_the_old_one_is_known_to_be_closed() -> None:
    with (
        faulty([PROJECTS, CLOSE], [MADE]) as service,
        ArenaClient("a-key", base_url=service.url) as client,
    ):
        client.list_projects()
        pool = client._transport._client._transport._pool  # type: ignore[attr-defined]
        deadline = time.monotonic() + 10
        while not all(connection.has_expired() for connection in pool.connections):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert client.create_project("p") == {"name": "p"}
        assert [asked.method for asked in service.asked] == ["GET", "POST"]


def hanging(seconds: float) -> Any:
    def handler(request: Request) -> Response:
        time.sleep(seconds)
        return JSONResponse([])

    return handler


def test_a_call_has_a_time_out_of_its_own(service: Service, client: ArenaClient) -> None:
    service.on("GET", "/projects", hanging(0.6))
    with pytest.raises(ArenaAPIError, match="did not answer in time") as caught:
        client.with_timeouts(0.2).list_projects()
    assert caught.value.is_network
    assert client.list_projects() == []  # the client itself is as it was
    assert client.with_timeouts(upload_timeout=0.2).list_projects() == []


async def test_a_call_has_a_time_out_of_its_own_async() -> None:
    with faulty([HANG]) as service:
        async with AsyncArenaClient("a-key", base_url=service.url) as client:
            start = time.monotonic()
            with pytest.raises(ArenaAPIError, match="did not answer in time"):
                await client.with_timeouts(0.2).create_project("p")
            assert time.monotonic() - start < 20
        assert len(service.asked) == 1


@pytest.mark.parametrize("value", [0, -1, float("nan"), "soon", True])
def test_a_time_out_that_is_none_is_refused(client: ArenaClient, value: Any) -> None:
    with pytest.raises(ArenaConfigError, match="number of seconds"):
        client.with_timeouts(value)
    with pytest.raises(ArenaConfigError, match="number of seconds"):
        client.with_timeouts(upload_timeout=value)
