"""A run's records as they come, over a WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Annotated, Any

from fastapi import APIRouter, Query, WebSocket
from sqlalchemy.orm import Session
from starlette.websockets import WebSocketDisconnect

from arena_sdk.local.api.deps import PREFIX, WithWebSocketServices
from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.services import Services
from arena_sdk.local.services.broker import BrokerClosed, SubscriberTooSlow
from arena_sdk.local.services.transitions import find

router = APIRouter(prefix=PREFIX)

FEATURES: dict[str, Any] = {"live_metrics": {"path": f"{PREFIX}/experiments/live"}}

REFUSED = 4404
"""Close code when the request cannot be granted; a message with the sentence goes before."""

INVALID = 4422
GOING_DOWN = 1012
TOO_SLOW = 1013
SEND_SECONDS = 30.0
"""How long one message may wait for a peer that does not read."""


@router.websocket("/experiments/live")
async def live(
    websocket: WebSocket,
    services: WithWebSocketServices,
    experiment_name: Annotated[str, Query()] = "",
    after: Annotated[str, Query()] = "",
) -> None:
    """Send the records after a number, then those to come, then how the run ended."""
    await websocket.accept()
    try:
        start = _whole(after)
        experiment_id, hello = await services.database.read(
            lambda session: _hello(session, experiment_name)
        )
    except ApiError as refused:
        await refuse(websocket, refused)
        return
    await websocket.send_json(hello)
    # Reading is what notices that the peer is gone while there is nothing to send.
    leaving = asyncio.create_task(_until_gone(websocket))
    sending = asyncio.create_task(_send_all(websocket, services, experiment_id, start))
    await asyncio.wait([leaving, sending], return_when=asyncio.FIRST_COMPLETED)
    for task in (leaving, sending):
        task.cancel()
    await asyncio.gather(leaving, sending, return_exceptions=True)


async def refuse(websocket: WebSocket, refused: ApiError) -> None:
    """Tell a peer why it gets nothing, and close."""
    await websocket.send_json({"kind": "error", **refused.body()})
    code = REFUSED if refused.status == 404 else INVALID
    await websocket.close(code, refused.message.encode()[:120].decode("utf-8", "ignore"))


def _whole(after: str) -> int:
    if after == "":
        return 0
    if not after.isdecimal() or len(after) > 18:
        raise ApiError(422, "after must be a whole number from 0 up.", "INVALID_REQUEST")
    return int(after)


def _hello(session: Session, name: str) -> tuple[int, dict[str, Any]]:
    experiment = find(session, name)
    return experiment.id, {
        "kind": "hello",
        "last_seq": experiment.last_seq,
        "state": experiment.state,
    }


async def _until_gone(websocket: WebSocket) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await websocket.receive_text()


async def _send_all(
    websocket: WebSocket, services: Services, experiment_id: int, after: int
) -> None:
    journal = services.runs.journal
    follow = services.broker.follow(
        experiment_id, after, lambda start, limit: journal.read_page(experiment_id, start, limit)
    )
    code, reason = 1000, "the run has ended"
    try:
        async with contextlib.aclosing(follow):
            async for message in follow:
                async with asyncio.timeout(SEND_SECONDS):
                    await websocket.send_json(message)
    except SubscriberTooSlow as cut:
        code, reason = TOO_SLOW, str(cut)
    except BrokerClosed:
        code, reason = GOING_DOWN, "the Arena is going down"
    except (TimeoutError, WebSocketDisconnect, RuntimeError):
        return
    await websocket.close(code, reason)
