"""The HTTP face of one served agent: `/status` and `/get_action`.

A bare ASGI application: a request costs one JSON parse, one forward pass and one answer, which a
framework's routing would double. The routes of other kinds of deployment answer 400 and say so.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from arena_sdk.local.security import Guard, allowed_hosts
from arena_sdk.local.training.team import TeamSpace
from arena_sdk.local.training.vectorize import make_adapter

from .codec import BadRequest, decode_hidden, decode_mask, decode_observation, encode_array
from .policy import Hidden, Policy, RecurrentPolicy
from .team_codec import decode_team_actions, decode_team_masks, replaced

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

logger = logging.getLogger(__name__)

MAX_BODY = 64 * 1024 * 1024
"""The largest request body in bytes."""

BODY_TIMEOUT = 30.0
"""Seconds that a client may take to send its whole body."""

OTHER_ROUTES = {
    "/predict": "a supervised model",
    "/generate": "a language model",
    "/generate_stream": "a language model",
    "/sessions": "a language model",
}


class Refused(Exception):
    """An answer other than 200, with its sentence."""

    def __init__(self, status: int, message: str, error_code: str) -> None:
        super().__init__(message)
        self.status, self.message, self.error_code = status, message, error_code


@dataclass(frozen=True)
class Served:
    """One agent and what is told about it."""

    name: str
    deployment_id: str
    instance_id: str
    algorithm: str
    observation_space: spaces.Space[Any]
    action_space: spaces.Space[Any]
    policy: Policy


class AgentApp:
    """Answers for one agent; `guarded` puts the Arena's guard in front.

    Args:
        served: The agent.
    """

    def __init__(self, served: Served) -> None:
        self._served = served
        self._adapt = make_adapter(served.action_space)
        self._requests = 0
        self._busy_seconds = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        try:
            answer = await self._route(scope, receive)
            await _reply(send, 200, answer)
        except Refused as refused:
            await _reply(
                send,
                refused.status,
                {"message": refused.message, "error_code": refused.error_code},
            )
        except Exception:
            logger.exception("a request failed")
            sentence = "The agent failed on this request; its log has the reason."
            await _reply(send, 500, {"message": sentence, "error_code": "AGENT_FAILED"})

    async def _route(self, scope: Scope, receive: Receive) -> dict[str, Any]:
        path, method = scope["path"].rstrip("/"), scope["method"]
        wanted = {"/status": "GET", "/load": "GET", "/get_action": "POST"}.get(path)
        if wanted is not None and method != wanted:
            raise Refused(405, f"{path} takes {wanted}, not {method}.", "METHOD_NOT_ALLOWED")
        if path == "/status":
            return self._status()
        if path == "/load":
            return self._load()
        if path == "/get_action":
            return self._get_action(await _read_json(receive))
        kind = OTHER_ROUTES.get(path) or OTHER_ROUTES.get("/" + path.split("/")[1] if path else "")
        if kind is not None:
            raise Refused(
                400,
                f"{path} is for {kind}; {self._served.name!r} serves a {self._served.algorithm}"
                " agent, so use /get_action.",
                "WRONG_ROUTE",
            )
        raise Refused(404, "An agent answers GET /status and POST /get_action.", "NOT_FOUND")

    def _status(self) -> dict[str, Any]:
        """Say what is served: these keys and no others, the published client takes no more."""
        served = self._served
        return {
            "success": True,
            "deployment_id": served.deployment_id,
            "instance_id": served.instance_id,
            "agent": {
                "algo": served.algorithm,
                "multi_agent": isinstance(served.action_space, TeamSpace),
                "llm": False,
                "recurrent": isinstance(served.policy, RecurrentPolicy),
                "supervised": False,
            },
        }

    def _load(self) -> dict[str, Any]:
        """Say how much was asked of the agent, and how long an answer took."""
        return {
            "requests": self._requests,
            "mean_latency_ms": 1000.0 * self._busy_seconds / max(1, self._requests),
        }

    def _get_action(self, body: Any) -> dict[str, Any]:
        if not isinstance(body, dict):
            raise Refused(422, "The body must be a JSON object with obs.", "INVALID_OBSERVATION")
        started = time.perf_counter()
        served = self._served
        try:
            observation, batch = decode_observation(
                body.get("obs"), served.observation_space, body.get("batch_size")
            )
            mask = self._mask(body, batch)
            chosen = self._chosen(body, batch)
        except BadRequest as problem:
            raise Refused(422, str(problem), "INVALID_OBSERVATION") from None
        if isinstance(served.policy, RecurrentPolicy):
            chosen_actions, state = self._remembering(served.policy, body, observation, mask, batch)
        else:
            chosen_actions, state = served.policy(observation, mask), None
        action = self._encoded(self._adapt(chosen_actions), chosen)
        self._requests += 1
        self._busy_seconds += time.perf_counter() - started
        return {"action": action, "hidden_state": state, "batch_size": batch}

    def _remembering(
        self, policy: RecurrentPolicy, body: dict[str, Any], observation: Any, mask: Any, batch: int
    ) -> tuple[Any, dict[str, str]]:
        """Act with the memory that a request brings (none at an episode's beginning).

        On the wire its first axis is the batch, as of all that clients take a batch's axis off.
        """
        blank = _batch_second(policy.blank(batch))
        try:
            hidden = _batch_second(decode_hidden(body.get("hidden_state"), blank))
        except BadRequest as problem:
            raise Refused(422, str(problem), "INVALID_HIDDEN_STATE") from None
        actions, after = policy.act(observation, mask, hidden)
        return actions, {name: encode_array(part) for name, part in _batch_second(after).items()}

    def _mask(self, body: dict[str, Any], batch: int) -> Any:
        """Return the masks of a request: an array, by agent where there are several, or None."""
        space = self._served.action_space
        if not isinstance(space, TeamSpace):
            return decode_mask(body.get("action_mask"), space, batch)
        return decode_team_masks(body.get("action_mask"), space, batch)

    def _chosen(self, body: dict[str, Any], batch: int) -> dict[str, Any]:
        """Return the actions that the environment, not the policy, chooses, by agent."""
        space = self._served.action_space
        given = body.get("env_defined_actions")
        if not isinstance(space, TeamSpace) or given is None:
            return {}
        return decode_team_actions(given, space, batch)

    def _encoded(self, action: Any, chosen: dict[str, Any]) -> Any:
        """Return actions as the contract sends them, with those that were chosen put in."""
        if not isinstance(action, dict):
            return encode_array(action)
        return {
            agent: encode_array(replaced(mine, chosen.get(agent))) for agent, mine in action.items()
        }


def guarded(served: Served, token: str, host: str) -> Guard:
    """Return the application that answers to bearers of the token only, under its own names.

    Args:
        served: The agent.
        token: The Arena's token.
        host: The address that it is bound to.
    """
    return Guard(AgentApp(served), token, allowed_hosts(host))


def _batch_second(memory: Hidden) -> Hidden:
    """Return arrays with their first two axes (layers and batch, or batch and layers) exchanged."""
    return {name: np.swapaxes(part, 0, 1) for name, part in memory.items()}


async def _read_json(receive: Receive) -> Any:
    """Return the parsed body of a request that ends in time and is not too large."""
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_TIMEOUT):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refused(400, "The client went away.", "DISCONNECTED")
                chunks.append(message.get("body", b""))
                size += len(chunks[-1])
                if size > MAX_BODY:
                    raise Refused(
                        413, f"The body is larger than {MAX_BODY // 2**20} MiB.", "TOO_LARGE"
                    )
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        raise Refused(408, f"The body did not arrive in {BODY_TIMEOUT:.0f} s.", "TIMEOUT") from None
    try:
        return json.loads(b"".join(chunks))
    except (ValueError, RecursionError):
        raise Refused(422, "The body is not valid JSON.", "INVALID_JSON") from None


async def _reply(send: Send, status: int, body: dict[str, Any]) -> None:
    data = json.dumps(body).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(data)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": data})
