"""A deployed agent over real sockets: actions, predictions, text, sessions, and moving house."""

from __future__ import annotations

import base64
import io
import itertools
import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sdk_service import Service, running
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from arena_sdk import (
    Agent,
    ArenaAuthError,
    ArenaClient,
    ArenaConfigError,
    ArenaInferenceError,
    ArenaValidationError,
    AsyncAgent,
    AsyncArenaClient,
)
from arena_sdk.agents import GeneratedText
from arena_sdk.config import HOSTED_URL, InferenceFile


def npy(value: Any) -> str:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(value))
    return base64.b64encode(buffer.getvalue()).decode()


def array(text: str) -> np.ndarray:
    return np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False)


def deploy(service: Service, **kind: Any) -> None:
    """Make a service a deployed agent, and the Arena that knows its address."""
    agent = {"algo": "DQN", "multi_agent": False, "llm": False, "recurrent": False, **kind}
    status = {"success": True, "deployment_id": "d1", "instance_id": "i1", "agent": agent}
    service.on("GET", "//status", status)
    service.on("GET", "/inference/deployments/one", {"name": "d", "url": service.url})
    service.on("POST", "//get_action", lambda request: JSONResponse({"action": npy([1])}))


@pytest.fixture
def agent(service: Service) -> Any:
    deploy(service)
    with Agent(service.url, api_key="k") as made:
        yield made


def test_one_observation_gets_one_action(service: Service, agent: Agent) -> None:
    action, state = agent.get_action(np.arange(4, dtype=np.float32))
    assert (int(action), state) == (1, None)
    body = service.calls[-1].json
    assert set(body) == {"obs", "batch_size"}
    assert body["batch_size"] == 1
    assert array(body["obs"]).shape == (1, 4)
    assert array(body["obs"]).dtype == np.float32
    assert service.calls[-1].headers["authorization"] == "Bearer k"


def test_what_kind_it_is_is_asked_once_and_before_it_matters(service: Service) -> None:
    deploy(service, recurrent=True)
    with Agent(service.url, api_key="k") as agent:
        assert agent.metadata.agent is not None
        assert agent.metadata.agent.recurrent
    unopened = Agent(service.url, api_key="k")
    unopened.get_action(np.zeros(4))
    assert service.calls[-1].json["hidden_state"] is None
    unopened.get_action(np.zeros(4))
    paths = [call.path for call in service.calls]
    assert paths == ["/status"] * 2 + ["/get_action"] * 2
    Agent(service.url, api_key="k", probe_on_init=False).get_action(np.zeros(4))
    assert service.calls[-2].path == "/get_action"


def test_arrays_can_be_made_by_hand_under_the_published_names() -> None:
    sent = Agent.serialize({"a": np.zeros((2, 3))}, batched=True)
    assert Agent.deserialize(sent, batched=True)["a"].shape == (2, 3)
    assert Agent.get_batch_size({"a": np.zeros((2, 3))}) == 2


def test_a_login_that_was_renewed_goes_on_with_the_agent(service: Service) -> None:
    def act(request: Request) -> Response:
        good = request.headers["authorization"] == "Bearer new"
        return JSONResponse({"action": npy([1])} if good else {}, 200 if good else 401)

    deploy(service)
    service.on("POST", "//get_action", act)
    tokens = {"authorization": "Bearer old"}
    agent = Agent(service.url, headers=tokens, authorize=lambda: tokens, probe_on_init=False)
    with pytest.raises(ArenaAuthError):
        agent.get_action([0.0])
    assert len(service.calls) == 1
    tokens["authorization"] = "Bearer new"
    assert int(agent.get_action([0.0])[0]) == 1
    assert int(agent.get_action([0.0])[0]) == 1
    assert len(service.calls) == 4


def test_a_batch_keeps_its_axis(service: Service, agent: Agent) -> None:
    service.on("POST", "//get_action", {"action": npy([1, 0, 1])})
    actions, _ = agent.get_action(np.zeros((3, 4)), batched=True)
    assert actions.tolist() == [1, 0, 1]
    assert service.calls[-1].json["batch_size"] == 3


def test_batch_sizes_must_be_equal(agent: Agent) -> None:
    with pytest.raises(ArenaValidationError, match=r"obs\.a has 3, obs\.b has 2"):
        agent.get_action({"a": np.zeros((3, 1)), "b": np.zeros((2, 1))}, batched=True)


def test_a_batch_where_one_action_was_due_is_no_action(service: Service, agent: Agent) -> None:
    service.on("POST", "//get_action", {"action": npy([1, 2])})
    with pytest.raises(ArenaInferenceError, match="batch of 2"):
        agent.get_action(np.zeros(4))


@pytest.mark.parametrize("action", ["nonsense", "AAAA", {"a": "!"}])
def test_an_action_that_is_none_is_an_error(service: Service, agent: Agent, action: Any) -> None:
    service.on("POST", "//get_action", {"action": action})
    with pytest.raises(ArenaInferenceError, match="of no use"):
        agent.get_action(np.zeros(4))


def test_a_nan_is_refused_by_key_before_anything_is_sent(service: Service, agent: Agent) -> None:
    with pytest.raises(ArenaValidationError, match=r"obs\.speed"):
        agent.get_action({"speed": np.array([np.nan])})
    assert [call.path for call in service.calls] == ["/status"]
    agent.get_action({"speed": np.array([np.nan])}, allow_nan=True)


def test_several_agents_and_their_masks(service: Service) -> None:
    deploy(service, multi_agent=True)
    service.on("POST", "//get_action", {"action": {"a": npy([1]), "b": npy([0])}})
    observations = {"a": np.zeros(2), "b": np.zeros(3)}
    info = {"a": {"action_mask": np.array([1, 0])}, "b": {}}
    with Agent(service.url, api_key="k") as agent:
        agent.status()
        action, _ = agent.get_action(
            observations, info=info, env_defined_actions={"a": np.array([np.nan]), "b": None}
        )
    assert {name: int(value) for name, value in action.items()} == {"a": 1, "b": 0}
    body = service.calls[-1].json
    assert array(body["action_mask"]["a"]).tolist() == [[1, 0]]
    assert np.isnan(array(body["env_defined_actions"]["a"])).all()
    assert body["env_defined_actions"]["b"] is None


def test_a_recurrent_agent_always_gets_its_state(service: Service) -> None:
    deploy(service, recurrent=True)
    service.on("POST", "//get_action", {"action": npy([1]), "hidden_state": npy([[0.5, 1.5]])})
    with Agent(service.url, api_key="k") as agent:
        agent.status()
        _, state = agent.get_action(np.zeros(4))
        assert service.calls[-1].json["hidden_state"] is None
        agent.get_action(np.zeros(4), hidden_state=state)
    assert array(service.calls[-1].json["hidden_state"]).tolist() == [[0.5, 1.5]]


def test_the_status_is_kept_until_it_is_asked_for_afresh(service: Service, agent: Agent) -> None:
    assert agent.status().agent is not None
    agent.status()
    assert len(service.calls) == 1
    assert agent.status(refresh=True).deployment_id == "d1"
    assert len(service.calls) == 2


def test_predictions(service: Service, agent: Agent) -> None:
    answer = {"results": npy([[1.0, 2.0]]), "batch_size": 1, "inference_time_ms": 3.5}
    service.on("POST", "//predict", {**answer, "success": True})
    results, how = agent.predict([1, 2, 3])
    assert results.tolist() == [1.0, 2.0]
    assert (how.batch_size, how.inference_time_ms, how.success) == (1, 3.5, True)


def test_generated_text_and_its_parameters(service: Service, agent: Agent) -> None:
    row = {"prompt": "p", "completion": "c", "more": 1}
    service.on("POST", "//generate", {"results": [row], "tokens_per_second": 9.0})
    results = agent.generate("p", params={"top_p": 0.5}, session_id="s")
    assert results.results[0].completion == "c"
    assert service.calls[-1].json == {
        "prompts": "p",
        "params": {"max_new_tokens": 100, "temperature": 0.7, "top_p": 0.5, "do_sample": True},
        "session_id": "s",
    }


def stream(*pieces: str) -> Callable[[Request], Response]:
    async def parts() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece.encode()

    return lambda request: StreamingResponse(parts(), media_type="text/plain")


async def test_text_comes_in_pieces_and_a_failure_is_an_error(service: Service) -> None:
    service.on("POST", "//generate_stream", stream("Hel", "lo\n[ERR", "OR: out of", " memory]"))
    pieces: list[str] = []

    async def read() -> None:
        async with AsyncAgent(service.url, api_key="k") as agent:
            async for piece in agent.generate_stream("hi"):
                pieces.append(piece)

    with pytest.raises(ArenaInferenceError, match=r"^out of memory$"):
        await read()
    assert "".join(pieces) == "Hello\n"


@given(
    st.lists(st.sampled_from(["a", "\n", "[ERROR:", "[ERR", "OR:", "]", "é"]), max_size=12),
    st.lists(st.integers(0, 40), max_size=6),
)
def test_text_is_the_same_however_it_is_cut(words: list[str], cuts: list[int]) -> None:
    whole = "".join(words)
    found = re.search(r"^\[ERROR:", whole, re.MULTILINE)
    mark = None if found is None else found.start()
    text = GeneratedText()
    edges = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    shown = "".join(text.feed(whole[start:end]) for start, end in itertools.pairwise(edges))
    shown += text.finish()
    assert shown == (whole if mark is None else whole[:mark])
    assert text.error == (None if mark is None else whole[mark + len("[ERROR:") :])


def test_conversations(service: Service, agent: Agent) -> None:
    row = {"session_id": "a/b", "created_at": "2026-01-01T00:00:00Z"}
    service.on("GET", "//sessions", {"sessions": [row]})
    assert agent.list_sessions()[0].session_id == "a/b"
    service.on("GET", "//sessions", [row])
    assert agent.list_sessions()[0].created_at == "2026-01-01T00:00:00Z"
    service.on("GET", "//sessions/s", {**row, "messages": [{"role": "user", "content": "hi"}]})
    assert agent.get_session("s").messages[0].content == "hi"
    service.on("DELETE", "//sessions/s", {})
    assert agent.delete_session("s")
    assert not agent.delete_session("absent")


@pytest.mark.parametrize(("status", "kind"), [(401, ArenaAuthError), (400, ArenaInferenceError)])
def test_refusals_have_their_class(service: Service, agent: Agent, status: int, kind: type) -> None:
    service.on("POST", "//get_action", {"message": "no"}, status)
    with pytest.raises(kind, match="no"):
        agent.get_action(np.zeros(4))


def test_an_agent_without_address_says_its_state(service: Service, client: ArenaClient) -> None:
    row = {"name": "d", "url": "", "status": "provisioning"}
    service.on("GET", "/inference/deployments/one", row)
    with pytest.raises(ArenaInferenceError, match="provisioning"):
        client.open_inference_agent("d")


def test_an_agent_that_was_stopped_is_to_be_deployed_again(
    service: Service, client: ArenaClient
) -> None:
    row = {"name": "q3", "url": "", "status": "stopped", "experiment_name": "q3"}
    service.on("GET", "/inference/deployments/one", row)
    with pytest.raises(ArenaInferenceError, match="it is stopped") as caught:
        client.open_inference_agent("q3")
    assert caught.value.hint_cli == "`arena agent deploy q3` deploys it again."


class FarAway:
    """Makes clients take this machine for another one, whose addresses are remembered."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for module in ("arena_sdk._async", "arena_sdk._sync"):
            monkeypatch.setattr(f"{module}.transport.is_loopback", lambda url: False)
            monkeypatch.setattr(f"{module}.inference.is_loopback", lambda url: False)


async def test_an_agent_that_has_moved_is_looked_up_once(
    service: Service, async_client: AsyncArenaClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    FarAway(monkeypatch)
    old = Service()
    with running(old) as url:  # answers 404 to everything
        addresses = InferenceFile(service=service.url)
        addresses.remember_url("d", url)
        deploy(service)
        agent = await async_client.open_inference_agent("d")
        assert [call.path for call in old.calls] == ["/status"]
        assert agent.url == service.url
        assert addresses.url("d") == service.url
        service.on("POST", "//get_action", {"message": "gone"}, 404)
        with pytest.raises(ArenaInferenceError, match="gone"):
            await agent.get_action(np.zeros(4))
        await agent.aclose()
    lookups = [call for call in service.calls if call.path.endswith("/deployments/one")]
    assert len(lookups) == 1


def test_a_remembered_address_saves_the_look_up(
    service: Service, client: ArenaClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    FarAway(monkeypatch)
    deploy(service)
    client.open_inference_agent("d").close()
    client.open_inference_agent("d").close()
    client.open_inference_agent("d", refresh=True).close()
    lookups = [call for call in service.calls if call.path.endswith("/deployments/one")]
    assert len(lookups) == 2


def test_addresses_of_one_service_are_not_those_of_another(service: Service) -> None:
    InferenceFile(service="https://other.example").remember_url("d", "https://a.example")
    assert InferenceFile().url("d") is None
    InferenceFile().remember_url("d", "https://b.example")
    assert InferenceFile(service="https://other.example").url("d") == "https://a.example"
    content = json.loads(InferenceFile().path.read_text())
    assert content["deployments"] == {"d": {"url": "https://b.example"}}
    assert HOSTED_URL not in content["services"]


@pytest.mark.parametrize(
    "url", ["nonsense", "gopher://x", "http://[::1", "http://", "http://xn--a", "http://a..b"]
)
def test_what_is_no_address_is_refused_at_once(url: str) -> None:
    with pytest.raises(ArenaConfigError, match="no address of an agent"):
        Agent(url, api_key="k")


def test_an_agent_that_is_closed_says_so(agent: Any) -> None:
    agent.close()
    with pytest.raises(ArenaInferenceError, match="This agent is closed"):
        agent.get_action([0.0])
    with pytest.raises(ArenaInferenceError, match="This agent is closed"):
        list(agent.generate_stream("x"))
