"""What a play session tells of an environment, however the environment behaves."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from PIL import Image

from arena_sdk.local.playing import session as module
from arena_sdk.local.playing.agent import RandomPlayer
from arena_sdk.local.playing.frames import png_base64
from arena_sdk.local.playing.pacing import Pacer
from arena_sdk.local.playing.session import PlaySession


class Endless(gymnasium.Env):  # type: ignore[type-arg]
    """Never ends; rewards and observations may be anything."""

    observation_space = spaces.Dict({"x": spaces.Box(-1, 1, (2,), np.float32)})
    action_space = spaces.Discrete(3)

    def __init__(self, reward: Any = 1.0) -> None:
        self._reward = reward

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return {"x": np.array([np.nan, 1], np.float32)}, {}

    def step(self, action: Any) -> Any:
        mask = np.array([0, 0, 1], np.int8)
        return {"x": np.zeros(2, np.float32)}, self._reward, False, False, {"action_mask": mask}

    def render(self) -> Any:
        return np.full((300, 900, 3), 7, np.uint8)


def play(env: Any, **options: Any) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    players = [RandomPlayer(env.action_space)]
    PlaySession(env, players, Pacer(), told.append, **options).run()
    json.dumps(told, allow_nan=False)
    return told


def test_an_endless_episode_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_EPISODE_STEPS", 30)
    told = play(Endless(), episodes=2, seed=1)
    assert [(m["kind"], m.get("length")) for m in told] == [
        ("episode", 30), ("episode", 30), ("summary", None),
    ]  # fmt: skip
    assert told[-1]["random"]["returns"] == [30.0, 30.0]
    assert told[-1]["agent"] is None


def test_steps_are_told_with_frames_that_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_EPISODE_STEPS", 50)
    told = play(Endless(np.float64("inf")), episodes=1, seed=1, render=True)
    assert told[0]["kind"] == "reset"
    assert told[0]["observation"] == {"x": ["NaN", 1.0]}
    steps = [m for m in told if m["kind"] == "step"]
    assert [m["step"] for m in steps] == list(range(1, 51))
    assert steps[0]["reward"] == "Infinity"
    assert all(m["action"] == 2 for m in steps[1:])
    assert "frame" in steps[-1]
    assert sum("frame" in m for m in steps) < 50
    picture = Image.open(io.BytesIO(base64.b64decode(steps[-1]["frame"])))
    assert picture.size == (320, 107)


def test_the_same_seed_plays_the_same_episode() -> None:
    def returns() -> list[float]:
        env = gymnasium.make("CartPole-v1")
        return play(env, episodes=3, seed=5)[-1]["random"]["returns"]

    assert returns() == returns()


@pytest.mark.parametrize("frame", [None, np.zeros((3, 3)), np.zeros((0, 4, 3)), "text", [1]])
def test_what_is_no_picture_is_left_out(frame: Any) -> None:
    assert png_base64(frame) is None
