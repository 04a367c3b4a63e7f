"""What a worker says, taken off its result pipe and kept until somebody wants it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

logger = logging.getLogger(__name__)

CHUNK = 1 << 16

MESSAGE_LIMIT = 64 << 20
"""Bytes that one message may have."""

WAITING_LIMIT = 256
"""Messages that may wait for their consumer before the worker has to."""

Message = dict[str, Any]


class Inbox:
    """Messages in order, for one consumer, and the worker's last word.

    A worker whose consumer does not keep up has to wait, so a flood costs no memory; once
    `open_up` was called it never has to, so that it can end.

    Attributes:
        result: What the worker's `main` returned, once it has said so.
        error: Why it failed, once it has said so.
    """

    def __init__(self) -> None:
        self.result: Message | None = None
        self.error: Message | None = None
        self._waiting: deque[Message] = deque()
        self._change = asyncio.Condition()
        self._limit: float = WAITING_LIMIT
        self._closed = False

    async def open_up(self) -> None:
        """Let the worker say all that it has to say, taken or not."""
        async with self._change:
            self._limit = float("inf")
            self._change.notify_all()

    async def close(self) -> None:
        """Say that nothing more comes."""
        async with self._change:
            self._closed = True
            self._change.notify_all()

    async def messages(self) -> AsyncIterator[Message]:
        """Yield messages until the worker's end, other than its last word."""
        while True:
            async with self._change:
                await self._change.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                message = self._waiting.popleft()
                self._change.notify_all()
            yield message

    async def read(self, fd: int) -> None:
        """Take messages off a pipe until its end.

        Raises:
            ValueError: A message is longer than `MESSAGE_LIMIT`.
        """
        reader = asyncio.StreamReader(limit=CHUNK)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", buffering=0)
        )
        try:
            unfinished = bytearray()
            while chunk := await reader.read(CHUNK):
                *lines, rest = chunk.split(b"\n")
                for line in lines:
                    await self._take_line(bytes(unfinished) + line)
                    unfinished.clear()
                unfinished += rest
                if len(unfinished) > MESSAGE_LIMIT:
                    raise ValueError(f"a message is longer than {MESSAGE_LIMIT:,} bytes")
        finally:
            transport.close()

    async def _take_line(self, line: bytes) -> None:
        message = parse(line)
        if message is None:
            return
        if message.pop("final", False):
            body = {key: value for key, value in message.items() if key != "kind"}
            if message["kind"] == "error":
                self.error = body
            else:
                result = body.get("result")
                self.result = result if isinstance(result, dict) else {}
            return
        async with self._change:
            await self._change.wait_for(lambda: len(self._waiting) < self._limit)
            self._waiting.append(message)
            self._change.notify_all()


def parse(line: bytes) -> Message | None:
    """Return one line as a message; None, and a note in the log, when it is none.

    User code can write to any descriptor of its process, so garbage is to be expected.
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if isinstance(message, dict) and isinstance(message.get("kind"), str):
        return message
    logger.warning("a worker sent a line that is no message: %r", line[:200])
    return None
