"""A small real service for tests: it records what it is asked and answers as it is told.

It is served by uvicorn on a port of the system's choice, so that clients go over real sockets.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

PREFIX = "/api/cli/v1"
Handler = Callable[[Request], Response]
SocketHandler = Callable[[WebSocket], Awaitable[None]]


@dataclass(frozen=True)
class Part:
    """One part of a form: its file name and type when it is a file, its text or bytes."""

    filename: str | None
    content_type: str | None
    content: bytes


@dataclass(frozen=True)
class Call:
    """One request as it arrived."""

    method: str
    path: str
    query: list[tuple[str, str]]
    headers: dict[str, str]
    body: bytes
    form: dict[str, list[Part]] = field(default_factory=dict)

    @property
    def json(self) -> Any:
        """The body's JSON value; None without a body."""
        return json.loads(self.body) if self.body else None


def json_lines(*documents: Any) -> bytes:
    """Return documents as NDJSON."""
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def ndjson(*documents: Any, chunk: int = 0) -> Handler:
    """Answer with an NDJSON stream, in chunks of a size when one is given."""
    raw = json_lines(*documents)

    async def parts() -> AsyncIterator[bytes]:
        for start in range(0, len(raw), chunk or max(len(raw), 1)):
            yield raw[start : start + (chunk or len(raw))]

    return lambda request: StreamingResponse(parts(), media_type="application/x-ndjson")


def answers(*responses: Response | Handler) -> Handler:
    """Answer each request with the next response; further ones with the last."""
    left = list(responses)

    def handler(request: Request) -> Response:
        response = left.pop(0) if len(left) > 1 else left[0]
        return response if isinstance(response, Response) else response(request)

    return handler


class Service:
    """What is answered, and what was asked."""

    def __init__(self) -> None:
        self.url = ""
        self.calls: list[Call] = []
        self.connections: list[dict[str, str]] = []
        self._handlers: dict[tuple[str, str], Handler] = {}
        self._sockets: dict[str, SocketHandler] = {}
        self._otherwise: Handler | None = None

    def on(self, method: str, path: str, answer: Any, status: int = 200) -> None:
        """Answer a call with a handler or a JSON value; paths are those below the prefix.

        A path that begins with `//` is taken from the root.
        """
        whole = path[1:] if path.startswith("//") else PREFIX + path
        made = answer if callable(answer) else lambda request: JSONResponse(answer, status)
        self._handlers[method, whole] = made

    def answer_all(self, handler: Handler) -> None:
        """Answer every call that nothing else is said of."""
        self._otherwise = handler

    def on_socket(self, path: str, handler: SocketHandler) -> None:
        """Handle WebSockets on a path below the prefix."""
        self._sockets[PREFIX + path] = handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            socket = WebSocket(scope, receive, send)
            self.connections.append(dict(socket.query_params))
            handler = self._sockets.get(socket.url.path)
            await (handler(socket) if handler else socket.close(1000))
        elif scope["type"] == "http":
            request = Request(scope, receive)
            response = await self._answer(request)
            await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        body = await request.body()
        form: dict[str, list[Part]] = {}
        if request.headers.get("content-type", "").startswith("multipart/"):
            for name, value in (await request.form()).multi_items():
                if isinstance(value, UploadFile):
                    part = Part(value.filename, value.content_type, await value.read())
                else:
                    part = Part(None, None, value.encode())
                form.setdefault(name, []).append(part)
        call = Call(
            request.method,
            request.url.path,
            list(request.query_params.multi_items()),
            dict(request.headers),
            body,
            form,
        )
        self.calls.append(call)
        handler = self._handlers.get((call.method, call.path), self._otherwise)
        if handler is None:
            return JSONResponse({"message": f"nothing at {call.method} {call.path}"}, 404)
        return handler(request)


@contextmanager
def running(service: Any, **options: Any) -> Iterator[str]:
    """Serve an ASGI application on a free port of this machine; yield its URL.

    Further options are uvicorn's.
    """
    config = uvicorn.Config(
        service, port=0, log_level="critical", lifespan="off", ws="websockets-sansio", **options
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the test's service did not start"
            time.sleep(0.005)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http{'s' if config.is_ssl else ''}://127.0.0.1:{port}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join(10)
