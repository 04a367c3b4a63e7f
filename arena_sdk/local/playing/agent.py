"""The served agent and chance, as two players of the same environment."""

from __future__ import annotations

import contextlib
import time
from typing import Any, Protocol

import httpx
import numpy as np
from gymnasium import spaces

from arena_sdk.local.serving.codec import decode_array, encode_array


class AgentUnreachable(Exception):
    """The served agent did not answer, or said no; carries its sentence."""


class AgentRefused(AgentUnreachable):
    """The served agent does not take what it was sent; carries its sentence."""


class Player(Protocol):
    """Chooses actions."""

    name: str

    def begin(self) -> None:
        """Take note that an episode begins."""

    def act(self, observation: Any, info: dict[str, Any]) -> tuple[Any, float]:
        """Return the action for one observation, and the milliseconds that it took."""


class ServedAgent:
    """The deployed agent, asked over HTTP with a connection that stays open.

    Args:
        url: Its base URL.
        token: The Arena's token.
        action_space: What its answers are shaped to.
    """

    name = "agent"

    def __init__(self, url: str, token: str, action_space: spaces.Space[Any]) -> None:
        self._space = action_space
        self._hidden: Any = None
        self._client = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=30,
            trust_env=False,
        )

    def begin(self) -> None:
        """Forget the episode before."""
        self._hidden = None

    def act(self, observation: Any, info: dict[str, Any]) -> tuple[Any, float]:
        """Ask for one action.

        Raises:
            AgentUnreachable: It is gone.
            AgentRefused: It refuses the observation.
        """
        started = time.perf_counter()
        body: dict[str, Any] = {"obs": _encode(observation), "batch_size": 1}
        if self._hidden is not None:
            body["hidden_state"] = self._hidden
        if info.get("action_mask") is not None:
            body["action_mask"] = _encode(info["action_mask"])
        try:
            answer = self._client.post("/get_action", json=body)
        except httpx.HTTPError as problem:
            raise AgentUnreachable(
                f"The agent stopped answering ({type(problem).__name__}); it may have been"
                " stopped or moved: see `arena agent list`."
            ) from None
        if answer.status_code in (400, 413, 422):
            raise AgentRefused(_sentence(answer))
        if answer.status_code != 200:
            raise AgentUnreachable(_sentence(answer))
        document = answer.json()
        self._hidden = document.get("hidden_state")
        action = _decode_action(document["action"], self._space)
        return action, 1000 * (time.perf_counter() - started)

    def close(self) -> None:
        """Give the connection back."""
        self._client.close()


class RandomPlayer:
    """Samples the action space, seeded with each episode so that a run can be repeated."""

    name = "random"

    def __init__(self, action_space: spaces.Space[Any]) -> None:
        self._space = action_space

    def begin(self) -> None:
        """Chance remembers nothing."""

    def act(self, observation: Any, info: dict[str, Any]) -> tuple[Any, float]:
        """Return a random action, a legal one where the environment says which are."""
        return _sample(self._space, info.get("action_mask")), 0.0


def _encode(observation: Any) -> Any:
    """Return one observation as the contract sends it, with a leading axis of 1 on every array."""
    if isinstance(observation, dict):
        return {key: _encode(value) for key, value in observation.items()}
    if isinstance(observation, tuple):
        return [_encode(value) for value in observation]
    return encode_array(np.asarray(observation)[None])


def _sample(space: spaces.Space[Any], mask: Any) -> Any:
    """Return a random action, of several agents one each."""
    if isinstance(space, spaces.Dict):
        return {agent: _sample(part, (mask or {}).get(agent)) for agent, part in space.items()}
    if mask is not None and isinstance(space, spaces.Discrete):
        return space.sample(mask=np.asarray(mask, dtype=np.int8))
    return space.sample()


def _decode_action(sent: Any, space: spaces.Space[Any]) -> Any:
    """Return the one action of an answer, of several agents one each."""
    if isinstance(space, spaces.Dict):
        return {agent: _decode_action(sent[agent], part) for agent, part in space.items()}
    return _shape_action(decode_array(sent, "action")[0], space)


def _shape_action(action: Any, space: spaces.Space[Any]) -> Any:
    """Return the action as the environment's `step` wants it."""
    if isinstance(space, spaces.Discrete):
        return int(action)
    return np.asarray(action, dtype=space.dtype).reshape(space.shape or ())


def _sentence(answer: httpx.Response) -> str:
    with contextlib.suppress(ValueError, TypeError, KeyError):
        return f"The agent refused: {answer.json()['message']}"
    return f"The agent answered with HTTP {answer.status_code}."
