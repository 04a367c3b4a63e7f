"""A hosted Arena with one deployed language model, for tests: real HTTP, streams, conversations.

It speaks what the contract says of deployments and of `/status`, `/generate`, `/generate_stream`
and `/sessions`. The model repeats what it was told and counts the turns that it remembers; told to
`fail`, it breaks off in the middle with the line that the contract has for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from tests.sdk.sdk_service import Call, Service

TIME = "2026-01-02T03:04:05Z"
PAUSE_SECONDS = 0.02


class LanguageService(Service):
    """The service; its own address is that of the deployment too.

    Attributes:
        sessions: The turns of each conversation by its id.
    """

    def __init__(self, name: str = "chatter") -> None:
        super().__init__()
        self.name = name
        self.sessions: dict[str, list[dict[str, str]]] = {}
        self.on("GET", "/inference/deployments/one", lambda request: JSONResponse(self.row))
        self.on("GET", "/inference/deployments/list", lambda request: JSONResponse([self.row]))
        kind = {"algo": "GRPO", "multi_agent": False, "llm": True, "recurrent": False}
        status = {"success": True, "deployment_id": "7", "instance_id": "i-7", "agent": kind}
        self.on("GET", "//status", {**status, "agent": {**kind, "supervised": False}})

    @property
    def row(self) -> dict[str, Any]:
        """What the service says of the deployment."""
        return {"name": self.name, "url": self.url, "status": "running"}

    def prompts(self) -> list[dict[str, Any]]:
        """Return the bodies of what was asked of the model, in order."""
        return [call.json for call in self.calls if call.path.startswith("/generate")]

    async def _answer(self, request: Request) -> Response:
        path = request.url.path
        if not path.startswith(("/generate", "/sessions")):
            return await super()._answer(request)
        call = Call(request.method, path, [], dict(request.headers), await request.body())
        self.calls.append(call)
        if path.startswith("/sessions"):
            return self._conversation(call)
        told = call.json
        texts = told["prompts"] if path == "/generate" else told["prompt"]
        replies = [
            self._reply(text, told.get("session_id"))
            for text in (texts if isinstance(texts, list) else [texts])
        ]
        if path == "/generate":
            results = [
                {"prompt": text, "completion": reply}
                for text, reply in zip([texts], replies, strict=False)
            ]
            return JSONResponse({"results": results, "batch_size": 1, "success": True})
        return StreamingResponse(_pieces(replies[0]), media_type="text/plain; charset=utf-8")

    def _reply(self, prompt: str, session_id: str | None) -> str:
        turns = self.sessions.setdefault(session_id, []) if session_id else []
        reply = f"«{prompt}» is turn {len(turns) // 2 + 1}. \u2713"
        turns += [{"role": "user", "content": prompt}, {"role": "assistant", "content": reply}]
        return reply

    def _conversation(self, call: Call) -> Response:
        session_id = call.path.removeprefix("/sessions").strip("/")
        if not session_id:
            return JSONResponse({"sessions": [self._head(known) for known in self.sessions]})
        if session_id not in self.sessions:
            return JSONResponse({"detail": f"no session {session_id}"}, 404)
        if call.method == "DELETE":
            del self.sessions[session_id]
            return JSONResponse({"success": True})
        return JSONResponse({**self._head(session_id), "messages": self.sessions[session_id]})

    def _head(self, session_id: str) -> dict[str, str]:
        return {"session_id": session_id, "created_at": TIME, "last_updated": TIME}


async def _pieces(reply: str) -> AsyncIterator[bytes]:
    """Yield a reply in pieces that end within characters too."""
    raw = reply.encode()
    for start in range(0, len(raw), 5):
        if "fail" in reply and start > 5:
            yield b"\n[ERROR: out of memory]"
            return
        yield raw[start : start + 5]
        await asyncio.sleep(PAUSE_SECONDS)
