"""The playground on a real agent of a real Arena, by keys; and what it records, as plain values."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from PIL import Image, ImageSequence
from tui_looking import screen_lines, screen_text

from arena_sdk import ArenaClient
from arena_tui.stores.asking import read_observation, repeated
from arena_tui.stores.recording import Recording

RUN = {
    "algorithm": {"name": "DQN", "batch_size": 32, "learn_step": 4},
    "environment": {"name": "CartPole-v1", "num_envs": 2},
    "training": {"max_steps": 1_000, "evo_steps": 500, "pop_size": 2, "eval_steps": 50},
    "network": {"encoder_config": {"hidden_size": [16]}, "head_config": {"hidden_size": [16]}},
}


@pytest.fixture(scope="module")
def agent(local_arena):
    """An agent that was trained for a moment, and its name."""
    with ArenaClient(local_arena.token, base_url=local_arena.url, request_timeout=120) as client:
        client.create_project("tui-play", "for tests")
        client.submit_experiment(
            RUN, resource_id="local", num_nodes=1, project="tui-play", experiment_name="tui-play"
        )
        for _ in client.watch_experiment("tui-play"):
            pass
        row = client.deploy_agent("tui-play")
    return row["name"]


async def type_text(pilot, text):
    names = {"-": "minus", ".": "full_stop", " ": "space", ",": "comma", "/": "slash",
             "[": "left_square_bracket", "]": "right_square_bracket"}  # fmt: skip
    for character in text:
        await pilot.press(names.get(character, character))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (140, 44)])
async def test_play_ask_measure_and_record_by_keys(local_app, agent, until, tmp_path, size):
    app = local_app
    app.memory.set("recordings", str(tmp_path / "kept"))
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: "● live" in screen_text(app))
        await pilot.press("7")
        await until(pilot, lambda: agent in screen_text(app))
        await pilot.press("p")
        await until(pilot, lambda: "playing" in screen_text(app), 60)
        await until(pilot, lambda: app.screen.game.frame is not None, 60)
        # Pause, single step, seed.
        await pilot.press("space")
        await until(pilot, lambda: "paused" in screen_text(app))
        await pilot.press("s")
        await until(pilot, lambda: "with a seed" in screen_text(app))
        await pilot.press("backspace", "7", "enter")
        await until(pilot, lambda: app.screen.game.step.get("seed") == 7)
        first = app.screen.game.step["observation"]
        await pilot.press("full_stop")
        await until(pilot, lambda: app.screen.game.step.get("step") == 1)
        assert app.screen.game.step["observation"] == first
        # An observation, edited, and the action for it.
        await pilot.press("a")
        await until(pilot, lambda: f"Ask {agent}" in screen_text(app))
        line = app.screen.query_one("#asked")
        assert json.loads(line.value) == first
        await pilot.press("enter")
        await until(pilot, lambda: "answered in" in screen_text(app))
        await pilot.press("backspace", "enter")
        await until(pilot, lambda: "no observation at character" in screen_text(app))
        await pilot.press(*["backspace"] * len(line.value))
        await type_text(pilot, "[0.1, 0.2]")
        await pilot.press("enter")
        await until(pilot, lambda: "shape" in screen_text(app) or "4" in screen_text(app))
        await pilot.press("escape")
        # Throughput.
        await pilot.press("t")
        await until(pilot, lambda: "How fast does it answer?" in screen_text(app))
        await pilot.press("tab", *["backspace"] * 4, "1", "enter")
        await until(pilot, lambda: "observations/s" in screen_text(app), 60)
        await pilot.press("enter")
        # A whole episode, as files.
        await pilot.press("v")
        await until(pilot, lambda: "Record an episode" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: (tmp_path / "kept" / f"{agent}-episode.gif").exists(), 60)
        await until(pilot, lambda: "Recorded" in screen_text(app))
        # Elsewhere: another Gymnasium id.
        await pilot.press("e")
        await until(pilot, lambda: "Play in" in screen_text(app))
        await type_text(pilot, "CartPole-v0")
        await pilot.press("enter")
        await until(pilot, lambda: "in CartPole-v0" in screen_lines(app)[2], 60)
        await pilot.press("c")
        await until(pilot, lambda: app.screen.game.summary is not None, 60)
        await until(pilot, lambda: "random mean" in screen_text(app) or size[0] < 100)
    with (tmp_path / "kept" / f"{agent}-episode.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["step"]) for row in rows] == list(range(1, len(rows) + 1))
    assert rows[-1]["terminated"] == "True" or rows[-1]["truncated"] == "True"
    assert float(rows[-1]["return"]) == len(rows)
    assert {"observation[0]", "observation[3]", "action", "reward"} <= set(rows[0])
    with Image.open(tmp_path / "kept" / f"{agent}-episode.gif") as image:
        assert len(list(ImageSequence.Iterator(image))) > 1


@pytest.mark.slow
async def test_the_load_of_an_agent_is_shown_and_it_is_made_the_active_one(
    local_app, agent, until, arena_home
):
    app = local_app
    async with app.run_test(size=(160, 40), notifications=True) as pilot:
        await until(pilot, lambda: "● live" in screen_text(app))
        await pilot.press("7")
        await until(pilot, lambda: "requests" in screen_text(app), 30)
        await until(pilot, lambda: "requests/s" in screen_text(app), 30)
        await pilot.press("a")
        await until(pilot, lambda: "commands mean" in screen_text(app))
    assert (
        json.loads((arena_home / "inference.json").read_text())["active_agent"]["deployment"]
        == agent
    )


def step(number, **more):
    return {"episode": 0, "step": number, "observation": [0.5, {"a": 1}], "action": number,
            "reward": 1.0, "return": float(number), "terminated": False, **more}  # fmt: skip


def test_a_recording_is_one_whole_episode(tmp_path):
    frame = np.zeros((8, 12, 3), np.uint8)
    recording = Recording(tmp_path / "new", "x")
    recording.take(step(5), frame)  # in the middle of an episode: not of the one to record
    assert not recording.is_worth_writing
    recording.begin()
    recording.take_frame(frame)
    for number in (1, 2, 3):
        recording.take(step(number), frame + number * 40)
    paths = recording.write(10.0)
    assert [path.name for path in paths] == ["x.csv", "x.gif"]
    rows = list(csv.DictReader(paths[0].open()))
    assert [row["step"] for row in rows] == ["1", "2", "3"]
    assert rows[0]["observation[0]"] == "0.5"
    assert rows[0]["observation[1].a"] == "1"
    with Image.open(paths[1]) as image:
        assert image.size == (12, 8)
        assert image.info["duration"] == 100
        assert image.n_frames == 4
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"x.csv", "x.gif"}


def test_a_recording_overwrites_nothing(tmp_path):
    (tmp_path / "x.gif").write_bytes(b"mine")
    recording = Recording(tmp_path, "x")
    recording.begin()
    recording.take(step(1), None)
    assert [path.name for path in recording.write(30)] == ["x-2.csv"]
    assert (tmp_path / "x.gif").read_bytes() == b"mine"


@pytest.mark.parametrize("text", ["1", "[1, 2.5]", '{"a": [1]}', "true"])
def test_an_observation_is_read(text):
    assert read_observation(text) == json.loads(text)


@pytest.mark.parametrize("text", ["", "[1,", "null", '"words"', "{a: 1}"])
def test_what_is_no_observation_is_one_sentence(text):
    with pytest.raises(ValueError, match="observation") as caught:
        read_observation(text)
    assert "\n" not in str(caught.value)


def test_a_batch_of_one_observation():
    assert repeated([1.0, 2.0], 3).shape == (3, 2)
    assert repeated({"a": 1, "b": [[1, 2]]}, 4)["b"].shape == (4, 1, 2)
    assert math.prod(repeated(5, 2).shape) == 2
