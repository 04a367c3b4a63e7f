"""A game of a deployed agent, watched and steered over a WebSocket (embedded Arena)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from arena_sdk._async.base import PREFIX
from arena_sdk._http import not_offered
from arena_sdk._network import network_problem, socket_options
from arena_sdk._sockets import check_length, closed_status, refusal
from arena_sdk.errors import ArenaInferenceError, classified

if TYPE_CHECKING:
    from arena_sdk._async.client import AsyncArenaClient


AGENT_UNREACHABLE = "AGENT_UNREACHABLE"
"""The `error_code` of a game whose agent has stopped answering."""


class AsyncPlaySession:
    """An open game: iterate over its messages, send commands.

    Made by `client.play(…)`; use it as a context manager. Messages are dicts with a `kind`:
    `ready`, `step`, `episode`, `summary`, `warning`, `error`. Commands are dicts with a `cmd`:
    `pause`, `resume`, `step`, `reset` (`seed`), `speed` (`steps_per_second`), `stop`.
    """

    def __init__(self, client: AsyncArenaClient, parameters: dict[str, str]) -> None:
        self._client = client
        self._transport = client._transport
        self._parameters = parameters
        self._stack = AsyncExitStack()
        self._socket: Any = None

    async def __aenter__(self) -> AsyncPlaySession:
        base = "ws" + self._transport.base_url.removeprefix("http")
        url = f"{base}{PREFIX}/play?{urlencode(self._parameters)}"
        check_length(ArenaInferenceError, url)
        try:
            self._socket = await self._stack.enter_async_context(
                connect(
                    url,
                    additional_headers=await self._transport.fresh_headers(),
                    open_timeout=60,
                    max_size=1 << 24,
                    **socket_options(self._transport.base_url),
                )
            )
        except InvalidStatus as error:
            unknown = error.response.status_code in (403, 404, 405)
            if unknown and "play" not in await self._client.capabilities():
                raise not_offered(
                    ArenaInferenceError, self._transport.base_url, "games of its agents"
                ) from None
            raise refusal(ArenaInferenceError, error) from None
        except (OSError, WebSocketException) as error:
            raise network_problem(ArenaInferenceError, self._transport.base_url, error) from None
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        problem, code = "", None
        try:
            async for text in self._socket:
                message = json.loads(text)
                if message.get("kind") == "error":
                    problem, code = str(message.get("message") or ""), message.get("error_code")
                yield message
        except ConnectionClosed as closed:
            status = closed_status(closed)
            if not status and closed.rcvd is not None and code not in (None, AGENT_UNREACHABLE):
                status = 422  # the game failed, and the service has said so: no network did
            reason = problem or (closed.rcvd.reason if closed.rcvd else "the connection broke")
            ended = f"The game ended early: {(reason or str(closed)).rstrip('.')}."
            raise classified(
                ArenaInferenceError,
                reason if status and reason else ended,
                status,
                {"error_code": code},
            ) from None

    async def send(self, command: dict[str, Any]) -> None:
        """Send a command; one to a game that is over is dropped."""
        try:
            await self._socket.send(json.dumps(command))
        except ConnectionClosed:
            return
