"""Who may talk to an Arena, how much at once, and what a refusal looks like."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import WebSocketRoute
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from arena_sdk.local.app import create_app
from arena_sdk.local.bodies import DOCUMENT_LIMIT
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.security import allowed_hosts
from tests.local.conftest import ArenaServer

PROJECTS = "/api/cli/v1/projects"


def raw_request(
    server: ArenaServer, path: str, headers: dict[str, str], method: str = "GET"
) -> tuple[int, dict[str, Any]]:
    """Send exactly these headers, the `Host` among them."""
    address = urlsplit(server.base_url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port or 0, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    return answer.status, body


def every_route() -> Iterator[tuple[str, str]]:
    """Yield the method and path of every route, WebSockets as the method `WS`."""

    def walk(app: FastAPI) -> Iterator[tuple[str, str]]:
        for path, operations in app.openapi()["paths"].items():
            for method in operations:
                yield method.upper(), path
        for route in app.router.routes:
            inner = getattr(route, "original_router", None)
            for candidate in inner.routes if inner is not None else [route]:
                if isinstance(candidate, WebSocketRoute) or "WebSocket" in type(candidate).__name__:
                    yield "WS", candidate.path

    yield from walk(create_app(DataPaths(Path("/nowhere")), "token"))


def test_every_route_but_health_wants_the_token(arena_server: ArenaServer) -> None:
    routes = [route for route in every_route() if route != ("GET", "/health")]
    assert ("GET", PROJECTS) in routes
    assert {"WS", "GET", "POST", "DELETE"} <= {method for method, _ in routes}
    for method, path in routes:
        if method == "WS":
            with pytest.raises(InvalidStatus) as refused:
                connect(arena_server.websocket_url + path)
            assert refused.value.response.status_code == 401, path
            continue
        answer = httpx.request(method, arena_server.base_url + path)
        assert answer.status_code == 401, path
        assert answer.json()["error_code"] == "UNAUTHENTICATED"
        assert "arena local token" in answer.json()["message"]
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "header",
    ["Bearer wrong", "Bearer", "Basic dXNlcjpwYXNz", "Bearer {token}x", "{token}", "Bearer ÿ"],
)
def test_a_wrong_credential_is_refused(arena_server: ArenaServer, header: str) -> None:
    value = header.format(token=arena_server.token).encode("latin-1")
    answer = httpx.get(arena_server.base_url + PROJECTS, headers={b"Authorization": value})
    assert answer.status_code == 401
    assert set(answer.json()) == {"message", "error_code"}


def test_health_wants_no_token(arena_server: ArenaServer) -> None:
    assert httpx.get(f"{arena_server.base_url}/health").status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:80", "[::1]:1234"])
def test_own_names_are_answered(arena_server: ArenaServer, host: str) -> None:
    status, _ = raw_request(arena_server, "/health", {"Host": host})
    assert status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "", "[::1", "::1"]
)
@pytest.mark.parametrize("path", ["/health", PROJECTS])
def test_foreign_hosts_are_refused(arena_server: ArenaServer, host: str, path: str) -> None:
    status, body = raw_request(arena_server, path, {"Host": host, **arena_server.headers})
    assert (status, body["error_code"]) == (403, "FOREIGN_HOST")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost.evil", "//"])
def test_foreign_origins_are_refused(arena_server: ArenaServer, origin: str) -> None:
    headers = {"Host": "localhost", "Origin": origin, **arena_server.headers}
    status, body = raw_request(arena_server, PROJECTS, headers)
    assert (status, body["error_code"]) == (403, "FOREIGN_ORIGIN")


def test_an_own_origin_is_answered(arena_server: ArenaServer) -> None:
    headers = {"Host": "localhost", "Origin": "http://localhost:3000", **arena_server.headers}
    response = httpx.get(arena_server.base_url + PROJECTS, headers=headers)
    assert response.status_code == 200


def test_foreign_origins_are_refused_on_websockets(arena_server: ArenaServer) -> None:
    url = f"{arena_server.websocket_url}/api/cli/v1/experiments/live?experiment_name=x"
    with pytest.raises(InvalidStatus) as refused:
        connect(url, origin="https://evil.example", additional_headers=arena_server.headers)  # type: ignore[arg-type]
    assert refused.value.response.status_code == 403


def test_a_server_on_every_address_goes_by_every_name_of_the_machine() -> None:
    assert "127.0.0.1" in allowed_hosts("0.0.0.0")
    assert "192.0.2.7" in allowed_hosts("192.0.2.7")
    assert "evil.example" not in allowed_hosts("0.0.0.0")


def test_unknown_paths_and_methods_are_sentences(api: httpx.Client) -> None:
    answer = api.get("/nothing/here")
    assert answer.status_code == 404
    assert answer.json()["message"] == "This Arena has no GET /api/cli/v1/nothing/here."
    answer = api.put("/projects")
    assert answer.status_code == 405
    assert set(answer.json()) == {"message", "error_code"}


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (b"", "The request body: "),
        (b"{nonsense", "not JSON"),
        (b"[" * 50_000, "cannot be read"),
        (b'"text"', "The request body: "),
        (b"{}", "name: Field required"),
        (b'{"name": 7}', "name: Input should be a valid string"),
        (b'{"name": "x", "llm_based": "perhaps"}', "llm_based: "),
        (b"\xff\xfe", "not JSON"),
        (b"\x80", "cannot be read"),
    ],
)
def test_a_misshapen_body_is_one_sentence(api: httpx.Client, body: bytes, part: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = api.post("/projects/create", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert part in answer.json()["message"]


def test_a_large_document_is_refused_by_its_stated_length(api: httpx.Client) -> None:
    answer = api.post("/projects/create", content=b" " * (DOCUMENT_LIMIT + 1))
    assert answer.status_code == 413
    assert answer.json() == {
        "message": "The request body is larger than 16 MiB, which is the most.",
        "error_code": "TOO_LARGE",
    }


def test_a_large_document_is_refused_while_it_comes(api: httpx.Client) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range((DOCUMENT_LIMIT >> 20) + 1):
            yield b" " * (1 << 20)

    answer = api.post("/projects/create", content=chunks())
    assert answer.status_code == 413


def test_capabilities_announce_what_is_beyond_the_contract(api: httpx.Client) -> None:
    body = api.get("/capabilities").json()
    assert body["ok"] is True
    assert body["data"]["schemaVersion"] == 1
    features = body["data"]["features"]
    assert {"machine", "activity", "live_metrics", "logs", "population", "lineage"} <= set(features)
    for feature in features.values():
        assert feature["path"].startswith("/api/cli/v1/")
