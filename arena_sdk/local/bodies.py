"""How large a request may be, decided before anything of it is kept."""

from __future__ import annotations

import asyncio
import contextlib

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

DOCUMENT_LIMIT = 16 << 20
"""Bytes of a JSON body."""

UPLOAD_LIMIT = 16 << 30
"""Bytes of a multipart body."""

DRAIN_LIMIT = 256 << 20
DRAIN_SECONDS = 10.0


class BodyLimit:
    """ASGI middleware that answers 413 to a request whose body is too large.

    A body that says its length is refused by that; one that does not, as soon as it has grown past
    the limit. Nothing of it is kept.

    Args:
        app: What it stands in front of.
        document: Bytes that a body may have.
        upload: Bytes that a multipart body may have.
    """

    def __init__(
        self, app: ASGIApp, document: int = DOCUMENT_LIMIT, upload: int = UPLOAD_LIMIT
    ) -> None:
        self.app = app
        self._document = document
        self._upload = upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, counting its body."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        multipart = headers.get("content-type", "").startswith("multipart/")
        limit = self._upload if multipart else self._document
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > limit:
            await _refuse(limit, scope, receive, send)
            return
        await self._count(scope, receive, send, limit)

    async def _count(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        taken = 0
        answering = False

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            return {"type": "http.disconnect"} if taken > limit else message

        async def noted(message: Message) -> None:
            nonlocal answering
            if taken > limit and not answering:
                return  # what the application makes of half a body is not the answer
            answering = True
            await send(message)

        try:
            await self.app(scope, counted, noted)
        except Exception:
            if taken <= limit or answering:
                raise
        if taken > limit and not answering:
            await _refuse(limit, scope, receive, send)


async def _refuse(limit: int, scope: Scope, receive: Receive, send: Send) -> None:
    message = f"The request body is larger than {limit >> 20:,} MiB, which is the most."
    body = {"message": message, "error_code": "TOO_LARGE"}
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(_drain(receive), DRAIN_SECONDS)
    await JSONResponse(body, 413, {"Connection": "close"})(scope, receive, send)


async def _drain(receive: Receive) -> None:
    """Read on for a while: who still sends would see a broken connection instead of the answer."""
    drained, more = 0, True
    while more and drained < DRAIN_LIMIT:
        message = await receive()
        more = message["type"] == "http.request" and message.get("more_body", False)
        drained += len(message.get("body", b""))
