"""Talking to a deployed language model: turns as they stream, and the sessions that it keeps."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from arena_tui.stores.base import Store

if TYPE_CHECKING:
    from arena_sdk import AsyncAgent
    from arena_tui.stores.hub import Hub

YOU, MODEL = "user", "assistant"
_TOKENS = re.compile(r"\w+|[^\w\s]")


@dataclass
class Turn:
    """One turn of a conversation.

    Attributes:
        role: "user" or "assistant".
        text: What was said, so far.
        seconds: How long the model took, or None for turns of an earlier time.
        error: Why it broke off.
        is_stopped: Whether it was broken off by the user.
        is_open: Whether more comes.
    """

    role: str
    text: str = ""
    seconds: float | None = None
    error: str | None = None
    is_stopped: bool = False
    is_open: bool = False

    @property
    def tokens(self) -> int:
        """About how many tokens that was; services do not say."""
        return len(_TOKENS.findall(self.text))

    @property
    def speed(self) -> float | None:
        """About how many tokens a second."""
        return self.tokens / self.seconds if self.seconds else None


class Chat(Store):
    """A conversation with one deployment.

    Attributes:
        turns: What was said.
        sessions: Rows of conversations that the deployment keeps, the latest first.
        session_id: Which of them this is.
        sampling: Sampling parameters.
        problem: Why the deployment cannot be talked to, or why the last request failed.
        is_ready: Whether the deployment was reached.
    """

    def __init__(self, hub: Hub, deployment: str) -> None:
        from arena_sdk.agents import SAMPLING

        super().__init__()
        self.hub = hub
        self.deployment = deployment
        self.turns: list[Turn] = []
        self.sessions: list[dict[str, Any]] = []
        self.session_id = str(uuid4())
        self.sampling: dict[str, Any] = dict(SAMPLING)
        self.problem: str | None = None
        self.is_ready = False
        self._agent: AsyncAgent | None = None
        self._task: asyncio.Task[None] | None = None
        self._forget: Callable[[], None] = lambda: None

    @property
    def is_generating(self) -> bool:
        """Whether the model is talking."""
        return self._task is not None and not self._task.done()

    async def open(self) -> None:
        """Reach the deployment and list its sessions; again by itself when the service is back."""
        self._forget()
        await self._tried(self._open(), self.open)

    async def _open(self) -> None:
        if self._agent is None:
            client = self.hub.client
            self._agent = await client.open_inference_agent(self.deployment)
        self.is_ready = True
        await self._list()

    async def close(self) -> None:
        """Stop, and leave the deployment."""
        self._forget()
        await self.stop()
        if self._agent is not None:
            await self._agent.aclose()
            self._agent = None

    async def _tried(self, work: Any, again: Callable[[], Any] | None = None) -> bool:
        """Do something at the deployment; tells whether it went well.

        Args:
            work: A coroutine.
            again: Makes another, for when it failed because the service was gone and is back.
        """
        from arena_sdk.errors import ArenaError

        try:
            await work
        except ArenaError as error:
            self.problem = self.hub.sentence(error)
            if again is not None:
                self._forget = self.hub.once_back(error, again)
            return False
        else:
            self.problem = None
            return True
        finally:
            self.changed()

    async def _list(self) -> None:
        assert self._agent is not None
        rows = [vars(info) for info in await self._agent.list_sessions()]
        rows.sort(key=lambda row: str(row.get("last_updated") or ""), reverse=True)
        self.sessions = rows

    # Talking -------------------------------------------------------------------------------------

    def ask(self, prompt: str) -> None:
        """Say something; the answer streams into the last turn."""
        self.turns.append(Turn(YOU, prompt))
        answer = Turn(MODEL, is_open=True)
        self.turns.append(answer)
        self._task = self.hub.spawn(self._answer(prompt, answer))
        self.changed()

    async def _answer(self, prompt: str, turn: Turn) -> None:
        from arena_sdk.errors import ArenaError

        begun = time.monotonic()
        try:
            if self._agent is None:
                await self._open()
            assert self._agent is not None
            stream = self._agent.generate_stream(
                prompt, params=self.sampling, session_id=self.session_id
            )
            async for piece in stream:
                turn.text += piece
                turn.seconds = time.monotonic() - begun
                self.changed()
            await self._tried(self._list())
        except asyncio.CancelledError:
            turn.is_stopped = True
        except ArenaError as error:
            turn.error = self.hub.sentence(error)
        finally:
            turn.is_open = False
            turn.seconds = time.monotonic() - begun
            self.changed()

    async def stop(self) -> None:
        """Break the answer off; what was said stays."""
        task, self._task = self._task, None
        if task is not None and not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    # Sessions ------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Begin a new conversation; the old one stays at the deployment."""
        await self.stop()
        self.session_id, self.turns = str(uuid4()), []
        self.changed()

    async def resume(self, session_id: str) -> None:
        """Go on with a conversation."""
        await self.stop()

        async def read() -> None:
            if self._agent is None:
                await self._open()
            assert self._agent is not None
            session = await self._agent.get_session(session_id)
            self.session_id = session_id
            self.turns = [Turn(each.role, each.content) for each in session.messages]

        await self._tried(read())

    async def delete(self, session_id: str) -> bool:
        """Delete a conversation; tells whether that went well."""

        async def delete() -> None:
            assert self._agent is not None
            await self._agent.delete_session(session_id)
            await self._list()

        gone = await self._tried(delete())
        if gone and session_id == self.session_id:
            await self.begin()
        return gone
