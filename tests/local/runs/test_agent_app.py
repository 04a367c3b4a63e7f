"""The HTTP face of a served agent: what it answers, and what it refuses by name."""

from __future__ import annotations

import base64
import io
from typing import Any

import httpx
import numpy as np
import pytest
from gymnasium import spaces

from arena_sdk.local.serving import asgi
from arena_sdk.local.serving.asgi import Served, guarded
from arena_sdk.local.serving.codec import decode_array, encode_array

FLAT = spaces.Box(-1, 1, (4,), np.float32)
NESTED = spaces.Dict(
    {
        "camera": spaces.Box(0, 255, (2, 2, 3), np.uint8),
        "where": spaces.Tuple([FLAT, spaces.Discrete(3, start=1)]),
        "grid": spaces.MultiDiscrete([2, 3]),
    }
)


class Recorder:
    """A policy that keeps what it was given and answers zeros."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __call__(self, observation: Any, mask: Any) -> np.ndarray:
        self.seen.append((observation, mask))
        first = observation
        while not isinstance(first, np.ndarray):
            first = next(iter(first.values())) if isinstance(first, dict) else first[0]
        return np.zeros(len(first), np.int64)


def client(space: spaces.Space[Any], policy: Any = None, **changes: Any) -> httpx.AsyncClient:
    served = Served(
        name="runner",
        deployment_id="7",
        instance_id="i",
        algorithm="DQN",
        observation_space=space,
        action_space=changes.pop("action_space", spaces.Discrete(2)),
        policy=policy or Recorder(),
    )
    headers = {"Authorization": "Bearer secret", **changes}
    transport = httpx.ASGITransport(guarded(served, "secret", "127.0.0.1"))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:1", headers=headers)


def npy(value: Any, dtype: Any = np.float32) -> str:
    return encode_array(np.asarray(value, dtype=dtype))


async def refusal(space: spaces.Space[Any], body: Any, status: int = 422) -> str:
    async with client(space) as http:
        answer = await http.post("/get_action", json=body)
    assert answer.status_code == status, answer.text
    return str(answer.json()["message"])


async def test_status_has_what_the_contract_names() -> None:
    async with client(FLAT) as http:
        body = (await http.get("/status")).json()
    assert body["success"] is True
    assert body["deployment_id"] == "7"
    assert body["agent"] == {
        "algo": "DQN",
        "multi_agent": False,
        "llm": False,
        "recurrent": False,
        "supervised": False,
    }


async def test_single_and_batched() -> None:
    async with client(FLAT) as http:
        for n in (1, 5):
            answer = await http.post(
                "/get_action", json={"obs": npy(np.zeros((n, 4))), "batch_size": n}
            )
            body = answer.json()
            assert decode_array(body["action"], "action").shape == (n,)
            assert body["hidden_state"] is None


async def test_float64_and_plain_lists_reach_the_policy_as_the_space_has_them() -> None:
    policy = Recorder()
    async with client(FLAT, policy) as http:
        await http.post("/get_action", json={"obs": npy(np.ones((2, 4)), np.float64)})
        await http.post("/get_action", json={"obs": npy(np.ones((2, 4)), np.float32)})
        await http.post("/get_action", json={"obs": [[1, 1, 1, 1]]})
    for observation, _ in policy.seen:
        assert observation.dtype == np.float32
        assert observation.flags.writeable
        assert (observation == 1).all()


async def test_nested_spaces() -> None:
    policy = Recorder()
    body = {
        "obs": {
            "camera": npy(np.full((2, 2, 2, 3), 9), np.uint8),
            "where": [npy(np.zeros((2, 4))), npy([1, 3], np.int64)],
            "grid": npy([[1, 2], [0, 0]], np.int64),
        },
        "batch_size": 2,
    }
    async with client(NESTED, policy) as http:
        answer = await http.post("/get_action", json=body)
    assert answer.status_code == 200, answer.text
    observation, _ = policy.seen[0]
    assert isinstance(observation["where"], tuple)
    assert observation["camera"].dtype == np.uint8


async def test_an_action_mask_reaches_the_policy() -> None:
    policy = Recorder()
    async with client(FLAT, policy) as http:
        body = {"obs": npy(np.zeros((1, 4))), "batch_size": 1, "action_mask": npy([1, 0], np.int8)}
        assert (await http.post("/get_action", json=body)).status_code == 200
    np.testing.assert_array_equal(policy.seen[0][1], [[1.0, 0.0]])


def nested(**changes: Any) -> dict[str, Any]:
    good: dict[str, Any] = {
        "camera": npy(np.zeros((2, 2, 2, 3)), np.uint8),
        "where": [npy(np.zeros((2, 4))), npy([1, 1], np.int64)],
        "grid": npy([[1, 2], [0, 0]], np.int64),
    }
    good.update(changes)
    return {"obs": good}


def raw_npy(header: bytes, body: bytes = b"") -> str:
    packed = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + body
    return base64.b64encode(packed).decode()


def pickled() -> str:
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return base64.b64encode(buffer.getvalue()).decode()


HUGE = raw_npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 4)}\n")


@pytest.mark.parametrize(
    ("body", "key", "says"),
    [
        (nested(camera="@@@"), "obs.camera", "base64"),
        (nested(camera=base64.b64encode(b"hello").decode()), "obs.camera", ".npy"),
        (nested(camera=pickled()), "obs.camera", "dtype"),
        (nested(camera=HUGE), "obs.camera", "holds"),
        (nested(camera=npy(np.zeros((2, 3)))), "obs.camera", "shape"),
        (nested(camera=npy(np.full((2, 2, 2, 3), 0.5))), "obs.camera", "fractions"),
        (nested(camera=npy(np.full((2, 2, 2, 3), 300), np.int64)), "obs.camera", "300"),
        (nested(camera=None), "obs.camera", "null"),
        (nested(where=npy([1])), "obs.where", "array of 2"),
        (nested(where=[npy(np.zeros((2, 4)))]), "obs.where", "1 parts"),
        (nested(where=[npy(np.full((2, 4), np.nan)), npy([1, 1])]), "obs.where[0]", "nan"),
        (nested(where=[npy(np.full((2, 4), -np.inf)), npy([1, 1])]), "obs.where[0]", "-inf"),
        (nested(where=[npy(np.zeros((2, 4))), npy([0, 1], np.int64)]), "obs.where[1]", "outside"),
        (nested(where=[npy(np.zeros((3, 4))), npy([1, 1])]), "obs.where[0]", "obs.camera"),
        (nested(grid=npy([[1, 3], [0, 0]], np.int64)), "obs.grid", "outside"),
        (nested(grid=[[1, 2], [0]]), "obs.grid", "ragged"),
        (nested(grid="YWJj"), "obs.grid", ".npy"),
        (nested(more=npy([1])), "obs.more", "not in the observation space"),
        ({"obs": npy([1])}, "obs", "camera"),
        ({**nested(), "batch_size": 3}, "obs.camera", "batch_size says 3"),
        ({**nested(), "batch_size": 0}, "batch_size", "whole number"),
        ({**nested(), "batch_size": True}, "batch_size", "whole number"),
        ({**nested(), "action_mask": npy([[1, 0]])}, "action_mask", "shape"),
        ({**nested(), "action_mask": npy([[1, 0], [0, 0]])}, "action_mask", "observation 1"),
        ({**nested(), "action_mask": npy([[1, 2], [0, 1]])}, "action_mask", "only hold"),
        ({}, "obs", "missing"),
        ([], "obs", "JSON object"),
    ],
)
async def test_what_does_not_fit_is_refused_by_key(body: Any, key: str, says: str) -> None:
    sentence = await refusal(NESTED, body)
    assert key in sentence
    assert says in sentence


async def test_an_unbatched_observation_is_told_so() -> None:
    assert "leading axis" in await refusal(FLAT, {"obs": npy(np.zeros(4))})


async def test_a_mask_without_choices_to_mask() -> None:
    async with client(FLAT, action_space=FLAT) as http:
        body = {"obs": npy(np.zeros((1, 4))), "action_mask": npy([1, 0])}
        answer = await http.post("/get_action", json=body)
    assert answer.status_code == 422
    assert "action_mask" in answer.json()["message"]


async def test_a_body_that_is_not_json() -> None:
    async with client(FLAT) as http:
        for content in (b"{", b"\xff\xfe", b"[" * 100_000):
            assert (await http.post("/get_action", content=content)).status_code == 422


async def test_a_body_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "MAX_BODY", 100)
    async with client(FLAT) as http:
        answer = await http.post("/get_action", json={"obs": npy(np.zeros((9, 4)))})
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("POST", "/predict", "a supervised model"),
        ("POST", "/generate", "a language model"),
        ("POST", "/generate_stream", "a language model"),
        ("GET", "/sessions", "a language model"),
        ("GET", "/sessions/x", "a language model"),
        ("DELETE", "/sessions/x", "a language model"),
    ],
)
async def test_the_route_of_another_kind(method: str, path: str, kind: str) -> None:
    async with client(FLAT) as http:
        answer = await http.request(method, path, content=b"" if method != "POST" else b"{}")
    assert answer.status_code == 400
    assert answer.json()["message"] == (
        f"{path} is for {kind}; 'runner' serves a DQN agent, so use /get_action."
    )
    async with client(FLAT, Authorization="Bearer other") as http:
        assert (await http.request(method, path)).status_code == 401


async def test_strangers_are_refused() -> None:
    async with client(FLAT, Authorization="Bearer other") as http:
        assert (await http.get("/status")).status_code == 401
    async with client(FLAT, Host="evil.example") as http:
        assert (await http.get("/status")).status_code == 403
    async with client(FLAT, Origin="https://evil.example") as http:
        assert (await http.get("/status")).status_code == 403
    async with client(FLAT) as http:
        assert (await http.get("/")).status_code == 404
        assert (await http.get("/get_action")).status_code == 405


async def test_a_policy_that_raises_is_a_500_with_a_sentence() -> None:
    def broken(observation: Any, mask: Any) -> np.ndarray:
        raise RuntimeError("boom")

    async with client(FLAT, broken) as http:
        answer = await http.post("/get_action", json={"obs": npy(np.zeros((1, 4)))})
        assert answer.status_code == 500
        assert "boom" not in answer.json()["message"]
        assert (await http.get("/status")).status_code == 200
