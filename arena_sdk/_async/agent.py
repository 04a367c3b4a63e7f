"""A deployed agent: ask it for actions, predictions or text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any
from urllib.parse import quote

import httpx

from arena_sdk import serde
from arena_sdk._http import AgentRequests, json_value
from arena_sdk._logs import logger
from arena_sdk._network import client_options, is_address, network_problem
from arena_sdk._pause import AsyncAuthorize, AsyncLocate
from arena_sdk.agents import (
    SAMPLING,
    AgentInfo,
    AgentMetadata,
    GeneratedText,
    LLMResults,
    PredictResult,
    SessionDetail,
    SessionInfo,
)
from arena_sdk.credentials import for_agent
from arena_sdk.errors import (
    ArenaConfigError,
    ArenaInferenceError,
    ArenaValidationError,
    from_response,
)


class AsyncAgent:
    """A connection to one deployed agent.

    Made by `client.open_inference_agent(name)`, or from a known address; use it as a context
    manager, or close it.

    Args:
        endpoint: Base URL of the deployment.
        api_key: As for the client, which see for where credentials come from otherwise.
        org_key: Organisation key; goes with `external_user_id`.
        external_user_id: User of the organisation.
        timeout: Seconds that a request may take; the pieces of generated text have no limit.
        generate_params: Sampling parameters that differ from the defaults.
        probe_on_init: Ask the deployment what kind of agent it is when this is entered as a context
            manager, or else before the first action.
        headers: What authenticates requests, instead of a key.
        authorize: Returns what authenticates requests as it is now, after a login was renewed.
        locate: Looks the address up afresh.
        remembered: Whether the address may be out of date; what is not found there is then
            followed by one look-up.

    Raises:
        ArenaConfigError: The address is none, or a variable for proxies or certificates is not.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        api_key: str | None = None,
        org_key: str | None = None,
        external_user_id: str | None = None,
        timeout: float = 30.0,
        generate_params: Mapping[str, Any] | None = None,
        probe_on_init: bool = True,
        headers: Mapping[str, str] | None = None,
        authorize: AsyncAuthorize | None = None,
        locate: AsyncLocate | None = None,
        remembered: bool = False,
    ) -> None:
        if not is_address(endpoint):
            raise ArenaConfigError(
                f"{endpoint!r} is no address of an agent; it must be like https://agent.example."
            )
        if headers is None:
            headers = for_agent(endpoint, api_key, org_key, external_user_id).headers()
        self.url = endpoint.rstrip("/")
        self.metadata = AgentMetadata()
        self._sampling = {**SAMPLING, **(generate_params or {})}
        self._probe = probe_on_init
        self._authorize = authorize
        self._locate = locate
        self._may_have_moved = remembered
        self._timeout = timeout
        self._requests = AgentRequests(headers, timeout)
        self._client = httpx.AsyncClient(**client_options(endpoint, timeout))

    serialize = staticmethod(serde.serialize)
    deserialize = staticmethod(serde.deserialize)
    get_batch_size = staticmethod(serde.batch_size)

    async def __aenter__(self) -> AsyncAgent:
        await self._known()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connection."""
        await self._client.aclose()

    async def status(self, *, refresh: bool = False) -> AgentMetadata:
        """Return what the deployment says of itself, which is kept as `metadata`.

        Example:
            >>> (await agent.status()).agent

        Args:
            refresh: Ask again though it is known.
        """
        if refresh or self.metadata.agent is None:
            self.metadata = AgentMetadata.read(await self._document("GET", "/status"))
        return self.metadata

    async def load(self) -> dict[str, Any]:
        """Return how much was asked of the deployment: `requests` and `mean_latency_ms`.

        Only deployments of the embedded Arena tell; others refuse with 404.

        Example:
            >>> (await agent.load())["requests"]
        """
        return await self._document("GET", "/load")

    async def get_action(
        self,
        observation: Any,
        *,
        batched: bool = False,
        hidden_state: Any = None,
        info: Mapping[str, Any] | None = None,
        env_defined_actions: Mapping[str, Any] | None = None,
        allow_nan: bool = False,
    ) -> tuple[Any, Any]:
        """Return the agent's action for an observation.

        Example:
            >>> action, state = await agent.get_action([0.0, 0.1, 0.0, 0.2])

        Args:
            observation: One observation of the environment, or with `batched` an array of shape
                (batch, *observation); numbers, lists and NumPy scalars are taken too. For several
                agents a dict by agent id.
            batched: Whether `observation` has a leading batch axis.
            hidden_state: What the call before returned, for recurrent agents.
            info: The environment's `info`; its `action_mask` is sent.
            env_defined_actions: Actions that the environment sets itself, by agent id.
            allow_nan: Send NaN and infinities instead of refusing them.

        Returns:
            The action (with `batched` an array whose first axis is the batch) and the hidden
            state, None for agents that have none.

        Raises:
            ArenaValidationError: The observation cannot be sent; the message names the key.
            ArenaInferenceError: The agent refused it, or cannot be reached.
        """
        kind = await self._known()
        body: dict[str, Any] = {
            "obs": serde.encode(observation, batched=batched, allow_nan=allow_nan),
            "batch_size": serde.batch_size(observation) if batched else 1,
        }
        if hidden_state is not None or kind.recurrent:
            body["hidden_state"] = serde.encode(hidden_state, key="hidden_state")
        mask = _action_mask(info, kind.multi_agent)
        if mask is not None:
            body["action_mask"] = serde.encode(mask, batched=batched, key="action_mask")
        if env_defined_actions is not None:
            body["env_defined_actions"] = serde.encode(
                env_defined_actions, batched=batched, allow_nan=True, key="env_defined_actions"
            )
        answer = await self._document("POST", "/get_action", body)
        try:
            action = serde.decode(answer.get("action"), batched=batched)
            state = serde.decode(answer.get("hidden_state"), key="hidden_state")
        except ArenaValidationError as error:
            raise ArenaInferenceError(
                f"The agent's answer is of no use: {error}", status_code=200
            ) from None
        return action, state

    async def predict(self, inputs: Any, *, batched: bool = False) -> tuple[Any, PredictResult]:
        """Return a supervised model's predictions as arrays, and how it went.

        Example:
            >>> results, how = await agent.predict([[5.1, 3.5], [6.2, 2.9]], batched=True)

        Args:
            inputs: One input, or with `batched` an array of shape (batch, *input).
            batched: Whether `inputs` has a leading batch axis.
        """
        body = {"inputs": serde.encode(inputs, batched=batched, key="inputs")}
        answer = await self._document("POST", "/predict", body)
        results = serde.decode(answer.get("results"), batched=batched, key="results")
        return results, PredictResult.read(answer)

    async def generate(
        self,
        prompts: str | list[str],
        *,
        params: Mapping[str, Any] | None = None,
        session_id: str | None = None,
    ) -> LLMResults:
        """Return a language model's completions.

        Example:
            >>> (await agent.generate("What is 2 + 2?")).results[0].completion

        Args:
            prompts: One or several.
            params: Sampling parameters: `max_new_tokens`, `temperature`, `top_p`, `do_sample`.
            session_id: The conversation that this is part of.
        """
        body = self._generation({"prompts": prompts}, params, session_id)
        return LLMResults.read(await self._document("POST", "/generate", body))

    async def generate_stream(
        self,
        prompt: str,
        *,
        params: Mapping[str, Any] | None = None,
        session_id: str | None = None,
    ) -> AsyncIterator[str]:
        """Yield a completion in pieces as it is made.

        Example:
            >>> async for piece in agent.generate_stream("What is 2 + 2?"):
            ...     print(piece, end="")

        Raises:
            ArenaInferenceError: The model failed in the middle.
        """
        body = self._generation({"prompt": prompt}, params, session_id)
        text = GeneratedText()
        self._must_be_open()
        await self._renewed()  # a stream is not begun twice
        try:
            async with self._client.stream(
                "POST",
                f"{self.url}/generate_stream",
                json=body,
                headers=self._requests.headers,
                timeout=httpx.Timeout(self._timeout, read=None),
            ) as answer:
                logger.info("POST %s/generate_stream: %d", self.url, answer.status_code)
                if not answer.is_success:
                    await answer.aread()
                    raise self._refusal(answer, "/generate_stream")
                async for chunk in answer.aiter_text():
                    piece = text.feed(chunk)
                    if piece:
                        yield piece
        except httpx.RequestError as error:
            raise network_problem(ArenaInferenceError, self.url, error) from None
        if text.error is not None:
            raise ArenaInferenceError(text.sentence, status_code=200)
        rest = text.finish()
        if rest:
            yield rest

    async def list_sessions(self) -> list[SessionInfo]:
        """Return the conversations that the agent keeps.

        Example:
            >>> [session.session_id for session in await agent.list_sessions()]
        """
        return SessionInfo.read_all(await self._json("GET", "/sessions"))

    async def get_session(self, session_id: str) -> SessionDetail:
        """Return one conversation with its messages.

        Example:
            >>> (await agent.get_session("an-id")).messages
        """
        path = f"/sessions/{quote(session_id, safe='')}"
        return SessionDetail.read(await self._document("GET", path))

    async def delete_session(self, session_id: str) -> bool:
        """Delete a conversation; tell whether it was there.

        Example:
            >>> await agent.delete_session("an-id")
        """
        try:
            await self._json("DELETE", f"/sessions/{quote(session_id, safe='')}")
        except ArenaInferenceError as error:
            if error.status_code == 404:
                return False
            raise
        return True

    async def _known(self) -> AgentInfo:
        """Return the kind of agent; ask for it once where that is wanted."""
        if self._probe and self.metadata.agent is None:
            self._probe = False
            try:
                await self.status()
            except ArenaInferenceError as error:
                if error.status_code != 404:  # one that says nothing of itself may still act
                    raise
        return self.metadata.agent or AgentInfo()

    def _generation(
        self, body: dict[str, Any], params: Mapping[str, Any] | None, session_id: str | None
    ) -> dict[str, Any]:
        whole = {**body, "params": {**self._sampling, **(params or {})}}
        return whole if session_id is None else {**whole, "session_id": session_id}

    async def _document(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        value = await self._json(method, path, body)
        if not isinstance(value, dict):
            raise ArenaInferenceError(
                f"{self.url} does not answer {path} as an agent does.", status_code=200
            )
        return value

    def _must_be_open(self) -> None:
        if self._client.is_closed:
            raise ArenaInferenceError("This agent is closed; open it again.")

    async def _json(self, method: str, path: str, body: Any = None) -> Any:
        self._must_be_open()
        try:
            answer = await self._client.send(
                self._requests.make(method, self.url + path, body), auth=None
            )
        except httpx.ConnectError as error:
            if await self._moved():
                return await self._json(method, path, body)
            raise network_problem(ArenaInferenceError, self.url, error) from None
        except httpx.RequestError as error:
            raise network_problem(ArenaInferenceError, self.url, error) from None
        logger.info("%s %s%s: %d", method, self.url, path, answer.status_code)
        if answer.status_code == 404 and await self._moved():
            return await self._json(method, path, body)
        if answer.status_code == 401 and await self._renewed():
            return await self._json(method, path, body)
        if not answer.is_success:
            raise self._refusal(answer, path)
        content_type = answer.headers.get("content-type", "")
        return json_value(ArenaInferenceError, answer.content, content_type, path)

    async def _renewed(self) -> bool:
        """Take the credential as it is now; tell whether it is another than what was refused."""
        if self._authorize is None:
            return False
        headers = await self._authorize()
        if all(self._requests.headers.get(name) == value for name, value in headers.items()):
            return False
        self._requests.carry(headers)
        return True

    async def _moved(self) -> bool:
        """Look the address up, once, when it was a remembered one; tell whether that was done."""
        if not self._may_have_moved or self._locate is None:
            return False
        self._may_have_moved = False
        self.url = await self._locate()
        return True

    def _refusal(self, answer: httpx.Response, path: str) -> Exception:
        return from_response(
            ArenaInferenceError, answer.status_code, answer.content, url=self.url + path
        )


def _action_mask(info: Mapping[str, Any] | None, multi_agent: bool) -> Any:
    """Return the action mask of an `info`: its own, or those of its agents by agent id."""
    if info is None:
        return None
    if "action_mask" in info or not multi_agent:
        return info.get("action_mask")
    masks = {
        agent: own["action_mask"]
        for agent, own in info.items()
        if isinstance(own, Mapping) and "action_mask" in own
    }
    return masks or None
