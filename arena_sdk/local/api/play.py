"""A play session over a WebSocket: what happens goes out, commands come in."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
from typing import Any

from fastapi import APIRouter, WebSocket
from starlette.datastructures import QueryParams
from starlette.websockets import WebSocketDisconnect

from arena_sdk.local.api.deps import PREFIX, WithWebSocketServices
from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.api.live import SEND_SECONDS, refuse
from arena_sdk.local.jobs import Job
from arena_sdk.local.services.play import PlayRequest

router = APIRouter(prefix=PREFIX)

FEATURES: dict[str, Any] = {"play": {"path": f"{PREFIX}/play"}}

MOST_EPISODES = 100_000


@router.websocket("/play")
async def play(websocket: WebSocket, services: WithWebSocketServices) -> None:
    """Play until all episodes are over, the client says stop, or it goes away."""
    await websocket.accept()
    try:
        job = await services.play.open(_request(websocket.query_params))
    except ApiError as refused:
        await refuse(websocket, refused)
        return
    telling = asyncio.create_task(_tell(websocket, job))
    hearing = asyncio.create_task(_hear(websocket, job))
    try:
        await asyncio.wait([telling, hearing], return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not telling.done():
            await job.stop(1.0)
        hearing.cancel()
        await asyncio.gather(telling, hearing, return_exceptions=True)
        await job.stop(1.0)


async def _tell(websocket: WebSocket, job: Job) -> None:
    """Pass on what the worker says, and close when it has ended."""
    try:
        async for message in job.messages():
            async with asyncio.timeout(SEND_SECONDS):
                await websocket.send_json(message)
        outcome = await job.wait()
        code = 1000
        if outcome.error is not None and outcome.reason not in ("stopped", "killed"):
            code = 1011
            told = {"message": outcome.error["message"], "error_code": outcome.error["error_code"]}
            await websocket.send_json({"kind": "error", **told})
        await websocket.close(code)
    except (TimeoutError, WebSocketDisconnect, RuntimeError):
        return


async def _hear(websocket: WebSocket, job: Job) -> None:
    """Pass on commands until the client says stop or goes away."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            command = _command(await websocket.receive_text())
            if command is None:
                sentence = 'A command is a JSON object such as {"cmd": "pause"}.'
                await websocket.send_json({"kind": "error", "message": sentence})
            else:
                await job.send(command)


def _command(text: str) -> dict[str, Any] | None:
    try:
        command = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return command if isinstance(command, dict) and len(text) < 4096 else None


def _request(query: QueryParams) -> PlayRequest:
    """Read what is asked for; an empty parameter is one that is absent.

    Raises:
        ApiError: 422 when a value makes no sense.
    """
    return PlayRequest(
        deployment=query.get("deployment", ""),
        environment=query.get("environment") or None,
        version=query.get("version") or None,
        episodes=_number(query, "episodes", MOST_EPISODES) or 0,
        baseline=_flag(query, "baseline"),
        seed=_number(query, "seed", 2**31 - 1),
        render=_flag(query, "render"),
        speed=_speed(query),
        paused=_flag(query, "paused"),
    )


def _number(query: QueryParams, name: str, most: int) -> int | None:
    text = query.get(name, "")
    if text == "":
        return None
    if not text.isdecimal() or len(text) > 12 or int(text) > most:
        raise ApiError(422, f"{name} must be a whole number from 0 to {most:,}.", "INVALID_REQUEST")
    return int(text)


def _flag(query: QueryParams, name: str) -> bool:
    text = query.get(name, "").lower()
    if text not in ("", "true", "false", "1", "0"):
        raise ApiError(422, f"{name} must be true or false.", "INVALID_REQUEST")
    return text in ("true", "1")


def _speed(query: QueryParams) -> float:
    text = query.get("speed", "")
    try:
        speed = float(text or 0)
    except ValueError:
        speed = math.nan
    if not 0 <= speed < 1e6:
        raise ApiError(
            422, "speed must be steps a second, from 0 (unlimited) up.", "INVALID_REQUEST"
        )
    return speed
