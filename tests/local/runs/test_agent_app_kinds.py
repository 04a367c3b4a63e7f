"""The HTTP face of agents with a memory and of several agents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from arena_sdk.local.serving.codec import decode_array, encode_array
from arena_sdk.local.serving.policy import RecurrentPolicy
from arena_sdk.local.training.spec import build_agent, read_manifest
from arena_sdk.local.training.team import TeamSpace

from .test_agent_app import FLAT, client, npy

LEFT, RIGHT = "left_0", "right_0"
SEEN = TeamSpace([(LEFT, FLAT), (RIGHT, FLAT)])
DONE = TeamSpace([(LEFT, spaces.Discrete(3)), (RIGHT, spaces.Box(-1, 1, (2,), np.float32))])


class Both:
    """Answers 1 on the left and 0.5 on the right, and keeps the masks."""

    def __init__(self) -> None:
        self.masks: list[Any] = []

    def __call__(self, observation: Any, mask: Any) -> dict[str, np.ndarray]:
        self.masks.append(mask)
        count = len(observation[LEFT])
        return {LEFT: np.ones(count, np.int64), RIGHT: np.full((count, 2), 0.5, np.float32)}


def both(count: int = 2) -> dict[str, Any]:
    return {"obs": {LEFT: npy(np.zeros((count, 4))), RIGHT: npy(np.zeros((count, 4)))}}


async def test_several_agents_are_answered_by_their_ids() -> None:
    policy = Both()
    async with client(SEEN, policy, action_space=DONE) as http:
        status = (await http.get("/status")).json()
        body = {**both(), "action_mask": {LEFT: npy([[1, 1, 0]] * 2)}}
        answer = (await http.post("/get_action", json=body)).json()
    assert status["agent"]["multi_agent"] is True
    assert decode_array(answer["action"][LEFT], "a").tolist() == [1, 1]
    assert decode_array(answer["action"][RIGHT], "a").shape == (2, 2)
    assert policy.masks[0].keys() == {LEFT}


async def test_actions_that_the_environment_defines_replace_the_policys() -> None:
    given = {LEFT: npy([2.0, np.nan]), RIGHT: None}
    async with client(SEEN, Both(), action_space=DONE) as http:
        body = {**both(), "env_defined_actions": given}
        answer = (await http.post("/get_action", json=body)).json()
    assert decode_array(answer["action"][LEFT], "a").tolist() == [2, 1]
    assert decode_array(answer["action"][RIGHT], "a").tolist() == [[0.5, 0.5]] * 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"obs": {LEFT: npy(np.zeros((1, 4)))}}, "obs.right_0 is missing"),
        ({"action_mask": npy([[1, 1, 0]])}, "action_mask must be a JSON object with the keys left"),
        ({"action_mask": {"middle": None}}, "action_mask.middle is no agent here"),
        ({"env_defined_actions": {LEFT: npy([1, 2, 3])}}, r"env_defined_actions.left_0 has shape"),
    ],
)
async def test_what_does_not_fit_a_team_is_refused_by_name(
    change: dict[str, Any], words: str
) -> None:
    async with client(SEEN, Both(), action_space=DONE) as http:
        answer = await http.post("/get_action", json={**both(1), **change})
    assert answer.status_code == 422
    assert words in answer.json()["message"]


async def test_a_memory_goes_out_and_comes_back_batch_first() -> None:
    manifest = {"algorithm": {"name": "Recurrent PPO"}, "environment": {}}
    agent = build_agent(read_manifest({"manifest": manifest}), FLAT, spaces.Discrete(2), 0)
    body: dict[str, Any] = {"obs": npy(np.ones((3, 4)))}
    async with client(FLAT, RecurrentPolicy(agent)) as http:
        status = (await http.get("/status")).json()
        first = (await http.post("/get_action", json={**body, "hidden_state": None})).json()
        again = (await http.post("/get_action", json=body)).json()
        memory = first["hidden_state"]
        second = (await http.post("/get_action", json={**body, "hidden_state": memory})).json()
        bad = {key: encode_array(np.zeros((2, 2, 128))) for key in memory}
        refused = await http.post("/get_action", json={**body, "hidden_state": bad})
    assert status["agent"]["recurrent"] is True
    assert again["hidden_state"] == memory
    assert second["hidden_state"] != memory
    assert {decode_array(part, "h").shape for part in memory.values()} == {(3, 2, 128)}
    assert refused.status_code == 422
    assert "expected (3, 2, 128)" in refused.json()["message"]
