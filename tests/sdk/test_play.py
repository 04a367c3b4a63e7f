"""A game over a WebSocket: messages come, commands go, and an early end says why."""

from __future__ import annotations

import json

import pytest
from sdk_service import Service
from starlette.responses import JSONResponse
from starlette.websockets import WebSocket

from arena_sdk import ArenaAuthError, ArenaClient, ArenaInferenceError, AsyncArenaClient

READY = {"kind": "ready", "environment": "CartPole-v1", "render": False}
SUMMARY = {"kind": "summary", "agent": {"episodes": 1, "mean": 1.0}, "random": None}


async def echo_then_sum_up(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_json(READY)
    command = json.loads(await socket.receive_text())
    await socket.send_json({"kind": "episode", "policy": "agent", "heard": command})
    await socket.send_json(SUMMARY)
    await socket.close(1000)


def test_a_game_in_the_blocking_client(service: Service, client: ArenaClient) -> None:
    service.on_socket("/play", echo_then_sum_up)
    kinds = []
    with client.play("d", environment="CartPole-v1", episodes=3, seed=7, baseline=True) as game:
        for message in game:
            kinds.append(message["kind"])
            if message["kind"] == "ready":
                game.send({"cmd": "speed", "steps_per_second": 2.5})
            if message["kind"] == "episode":
                assert message["heard"] == {"cmd": "speed", "steps_per_second": 2.5}
    assert kinds == ["ready", "episode", "summary"]
    assert service.connections == [
        {
            "deployment": "d",
            "environment": "CartPole-v1",
            "episodes": "3",
            "baseline": "true",
            "seed": "7",
            "render": "false",
            "speed": "0.0",
            "paused": "false",
        }
    ]


async def test_a_game_in_the_async_client(service: Service, async_client: AsyncArenaClient) -> None:
    service.on_socket("/play", echo_then_sum_up)
    async with async_client.play("d") as game:
        messages = aiter(game)
        assert await anext(messages) == READY
        await game.send({"cmd": "resume"})
        assert [message["kind"] async for message in messages] == ["episode", "summary"]
        await game.send({"cmd": "stop"})  # over: dropped


def test_a_game_that_cannot_be_says_why(service: Service, client: ArenaClient) -> None:
    async def refuse(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_json({"kind": "error", "message": "No deployment is named 'd'."})
        await socket.close(4404, "No deployment is named 'd'.")

    service.on_socket("/play", refuse)
    with (
        client.play("d") as game,
        pytest.raises(ArenaInferenceError, match=r"^No deployment is named 'd'") as caught,
    ):
        list(game)
    assert caught.value.status_code == 404


def test_a_game_that_breaks_off_is_an_error(service: Service, client: ArenaClient) -> None:
    async def break_off(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_json(READY)
        await socket.close(1011)

    service.on_socket("/play", break_off)
    with client.play("d") as game, pytest.raises(ArenaInferenceError, match="ended early"):
        list(game)


@pytest.mark.parametrize(("code", "status"), [("AGENT_REFUSED", 422), ("AGENT_UNREACHABLE", 0)])
def test_a_game_that_failed_is_no_failure_of_the_network(
    service: Service, client: ArenaClient, code: str, status: int
) -> None:
    async def fail(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_json({"kind": "error", "message": "No.", "error_code": code})
        await socket.close(1011)

    service.on_socket("/play", fail)
    with client.play("d") as game, pytest.raises(ArenaInferenceError, match="No") as caught:
        list(game)
    assert (caught.value.status_code, caught.value.error_code) == (status, code)


def test_a_refused_game_is_an_error_of_authentication(
    service: Service, client: ArenaClient
) -> None:
    async def refuse(socket: WebSocket) -> None:
        await socket.send_denial_response(JSONResponse({"message": "wrong token"}, 401))

    service.on_socket("/play", refuse)
    with pytest.raises(ArenaAuthError, match="wrong token"), client.play("d"):
        pass


def test_no_service_is_one_clear_sentence() -> None:
    with (
        ArenaClient("k", base_url="http://127.0.0.1:9") as client,
        pytest.raises(ArenaInferenceError, match=r"127\.0\.0\.1:9") as caught,
        client.play("d"),
    ):
        pass
    assert caught.value.status_code == 0
