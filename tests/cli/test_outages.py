"""A local Arena that ends and is started again elsewhere, while commands follow a run on it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket

from arena_sdk import _outage
from tests.cli.cli_running import Run
from tests.sdk.sdk_service import Service, running

LIVE = {"live_metrics": {}, "experiment_details": {}}


class Restarted:
    """Two services, of which the files of this machine tell the first one, until it is ended."""

    def __init__(self, home: Path, stack: ExitStack) -> None:
        self.first, self.second = Service(), Service()
        self.folder = home / "local"
        self.folder.mkdir(parents=True)
        (self.folder / "token").write_text("secret")
        for service in (self.first, self.second):
            service.url = stack.enter_context(running(service))
            service.on("GET", "/projects", [{"name": "p"}])
        self.tell(self.first)

    def tell(self, service: Service, pid: int | None = None) -> None:
        info = {"url": service.url, "pid": pid or os.getpid()}
        (self.folder / "server.json").write_text(json.dumps(info))


@pytest.fixture
def restarted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Restarted]:
    monkeypatch.setenv("ARENA_HOME", str(tmp_path))
    monkeypatch.setattr("random.uniform", lambda low, high: 0.0)
    with ExitStack() as stack:
        yield Restarted(tmp_path, stack)


def row(state: str) -> dict[str, Any]:
    return {"name": "e", "state": state, "max_steps": 10}


def ending(restarted: Restarted) -> Any:
    """Say once that the run goes on, then only that the service is away."""
    asked: list[Request] = []

    def answer(request: Request) -> Response:
        asked.append(request)
        if len(asked) == 1:
            return JSONResponse([row("running")])
        restarted.tell(restarted.second)
        return JSONResponse({"message": "going down"}, 503)

    return answer


@pytest.mark.parametrize("command", ["wait", "watch"])
def test_an_arena_that_is_started_again_elsewhere_is_found(
    run: Run, restarted: Restarted, command: str
) -> None:
    restarted.second.on("GET", "/experiments/list", [row("completed")])
    if command == "wait":
        restarted.first.on("GET", "/experiments/list", ending(restarted))
    else:
        for service in (restarted.first, restarted.second):
            service.on("GET", "/capabilities", {"features": LIVE})
            service.on("GET", "/experiments/one", row("completed"))

        async def break_off(socket: WebSocket) -> None:
            await socket.accept()
            restarted.tell(restarted.second)
            await socket.close(1011)

        async def end(socket: WebSocket) -> None:
            await socket.accept()
            await socket.send_json({"kind": "end", "state": "completed", "last_seq": 0})
            await socket.close(1000)

        restarted.first.on_socket("/experiments/live", break_off)
        restarted.second.on_socket("/experiments/live", end)
    done = run("experiments", command, "e")
    assert done.code == 0, done
    assert "The connection is lost; trying to get it back…\nConnected again.\n" in done.err
    assert restarted.second.calls or restarted.second.connections


@pytest.mark.parametrize("command", ["wait", "watch"])
def test_an_arena_that_stays_away_is_exit_code_5_in_the_end(
    run: Run, restarted: Restarted, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_outage, "GIVE_UP_SECONDS", 0.3)
    monkeypatch.setattr("arena_sdk._sync.live.POLL_SECONDS", 0.01)
    asked: list[Request] = []

    def answer(request: Request) -> Response:
        asked.append(request)
        rows, status = ([row("running")], 200) if len(asked) < 4 else ({"message": "away"}, 503)
        return JSONResponse(rows, status)

    restarted.first.on("GET", "/experiments/list", answer)
    metrics = Response("steps\n1\n", media_type="text/csv")
    restarted.first.on("GET", "/experiments/metrics", lambda request: metrics)
    done = run("experiments", command, "e")
    assert done.code == 5, done
    assert "The connection is lost; trying to get it back…" in done.err


def test_a_local_arena_that_died_is_said_to_have_died(run: Run, restarted: Restarted) -> None:
    restarted.tell(restarted.first, pid=2**22 - 1)
    for words in (["projects", "list"], ["experiments", "list"]):
        done = run(*words)
        assert done.code == 5, done
        assert "The Arena of this machine is not running: it ended unexpectedly" in done.err
        assert "arena local up" in done.err
    assert "There is no credential" in run("--profile", "hosted", "projects", "list").err
    (restarted.folder / "server.json").unlink()  # as `arena local down` does
    assert run("projects", "list").code == 3
