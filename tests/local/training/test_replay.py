"""Replay: what comes out went in, old transitions give way, and files of it are checked."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces

from arena_sdk.local.training import experience
from arena_sdk.local.training.priorities import Priorities
from arena_sdk.local.training.replay import Replay
from arena_sdk.local.training.vectorize import Step

OBSERVATION = spaces.Box(-1, 1e6, (2,), np.float32)
ACTION = spaces.Discrete(2)


def fill(replay: Replay, steps: int, copies: int = 3) -> None:
    for t in range(steps):
        obs = np.full((copies, 2), t, dtype=np.float32)
        none = np.zeros(copies, dtype=np.bool_)
        step = Step(obs + 1, obs + 1, np.full(copies, float(t)), none | (t % 5 == 4), none, None)
        replay.add(obs, np.arange(copies) % 2, step)


def test_samples_are_transitions_that_were_added() -> None:
    replay = Replay(100, OBSERVATION, ACTION)
    fill(replay, 10)
    batch = replay.sample(64, np.random.default_rng(0))
    assert len(replay) == 30
    assert np.array_equal(batch["next_obs"], batch["obs"] + 1)
    assert np.array_equal(batch["reward"][:, 0], batch["obs"][:, 0])
    assert np.array_equal(batch["done"][:, 0], (batch["obs"][:, 0] % 5 == 4).float())
    assert batch["action"].shape == (64, 1)


def test_the_oldest_give_way() -> None:
    replay = Replay(8, OBSERVATION, ACTION)
    fill(replay, 10)
    assert len(replay) == 8
    rewards = replay.recent(8)[-2][:, 0]
    assert rewards.tolist() == [7, 7, 8, 8, 8, 9, 9, 9]


def test_a_dict_observation_comes_back_as_a_dict() -> None:
    space = spaces.Dict({"a": OBSERVATION, "b": spaces.Box(0, 255, (2, 2, 1), np.uint8)})
    replay = Replay(10, space, ACTION)
    obs = {"a": np.ones((2, 2), np.float32), "b": np.full((2, 2, 2, 1), 7, np.uint8)}
    none = np.zeros(2, dtype=np.bool_)
    replay.add(obs, np.zeros(2), Step(obs, obs, np.zeros(2), none, none, None))
    batch = replay.sample(4, np.random.default_rng(0))
    assert batch["obs"]["b"].shape == (4, 2, 2, 1)
    assert int(batch["next_obs"]["b"].max()) == 7


def test_processes_share_a_shared_buffer() -> None:
    replay = Replay(100, OBSERVATION, ACTION, shared=True)
    children = [
        multiprocessing.get_context("fork").Process(target=fill, args=(replay, 10))
        for _ in range(2)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert len(replay) == 60
    batch = replay.sample(60, np.random.default_rng(0))
    assert np.array_equal(batch["next_obs"], batch["obs"] + 1)


def test_it_comes_back_from_disk(tmp_path: Path) -> None:
    replay = Replay(20, OBSERVATION, ACTION)
    fill(replay, 10)
    assert experience.save(replay, tmp_path / "r.npy", experience.LIMIT) == 20
    other = Replay(20, OBSERVATION, ACTION)
    assert experience.load(other, tmp_path / "r.npy") is None
    for mine, theirs in zip(replay.recent(20), other.recent(20), strict=True):
        assert np.array_equal(mine, theirs)


def test_only_the_latest_part_is_kept_within_the_limit(tmp_path: Path) -> None:
    replay = Replay(100, OBSERVATION, ACTION)
    fill(replay, 30)
    rows = experience.save(replay, tmp_path / "r.npy", 10 * replay.row_bytes)
    other = Replay(100, OBSERVATION, ACTION)
    experience.load(other, tmp_path / "r.npy")
    assert rows == len(other) == 10
    assert other.recent(1)[-2][0, 0] == 29


@pytest.mark.parametrize("damage", ["truncate", "flip", "foreign", "shapes"])
def test_a_file_that_cannot_be_used_is_said_and_not_used(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "r.npy"
    replay = Replay(20, OBSERVATION, ACTION)
    fill(replay, 5)
    experience.save(replay, path, experience.LIMIT)
    data = bytearray(path.read_bytes())
    if damage == "truncate":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        data[-3] ^= 4
        path.write_bytes(data)
    elif damage == "foreign":
        path.write_bytes(b"something else")
    space = spaces.Box(-1, 1, (5,), np.float32) if damage == "shapes" else OBSERVATION
    other = Replay(20, space, ACTION)
    problem = experience.load(other, path)
    assert problem is not None
    assert str(path) in problem
    assert len(other) == 0


def episodes(replay: Replay, lengths: list[int], ends: str) -> None:
    """Play one copy through episodes; observation and reward count all steps from 1."""
    after, number = None, 0
    for length in lengths:
        for t in range(length):
            number += 1
            last = np.array([t == length - 1])
            none = np.zeros(1, dtype=np.bool_)
            obs = np.full((1, 2), number, dtype=np.float32)
            flags = (last, none) if ends == "terminated" else (none, last)
            step = Step(obs + 1, obs + 1, np.array([float(number)]), *flags, None)
            after = replay.add(obs, np.zeros(1), step, after)


@pytest.mark.parametrize("ends", ["terminated", "truncated"])
@pytest.mark.parametrize("capacity", [100, 9])
def test_steps_ahead_are_those_of_the_same_episode(ends: str, capacity: int) -> None:
    """The target that a learner makes is the definition's, also where fewer steps follow."""
    replay, gamma, worth = Replay(capacity, OBSERVATION, ACTION, n_step=3), 0.9, 100.0
    episodes(replay, [4, 2, 5], ends)
    batch = replay.steps_ahead(np.arange(len(replay)), gamma)
    target = batch["reward"] + gamma * (1 - batch["done"]) * worth
    last_of = {n: last for first, last in ((1, 4), (5, 6), (7, 11)) for n in range(first, last + 1)}
    for row in range(len(replay)):
        number = int(batch["obs"][row, 0])
        made = [n for n in range(number, number + 3) if n <= last_of[number]]
        expected = sum(gamma**k * n for k, n in enumerate(made))
        if not (ends == "terminated" and made[-1] == last_of[number]):
            expected += gamma ** len(made) * worth
        assert float(target[row, 0]) == pytest.approx(expected, rel=1e-5)
        assert int(batch["next_obs"][row, 0]) == made[-1] + 1


def test_steps_ahead_survive_a_file(tmp_path: Path) -> None:
    replay = Replay(9, OBSERVATION, ACTION, n_step=3)
    episodes(replay, [4, 2, 5], "truncated")
    experience.save(replay, tmp_path / "slot_0.npy", limit=7 * replay.row_bytes)
    again = Replay(5, OBSERVATION, ACTION, n_step=3)
    assert experience.load(again, tmp_path / "slot_0.npy") is None
    batch = again.steps_ahead(np.arange(5), 1.0)
    assert batch["obs"][:, 0].tolist() == [7, 8, 9, 10, 11]
    assert batch["reward"][:, 0].tolist() == [24, 27, 30, 21, 11]


def test_rows_are_drawn_in_proportion_to_their_priorities() -> None:
    priorities = Priorities(5, 0.5, lambda shape, dtype: np.zeros(shape, dtype))
    priorities.add(np.arange(5))
    priorities.update(np.arange(5), np.array([1.0, 4.0, 9.0, 16.0, 0.0]))
    rows = priorities.draw(10_000, 5, np.random.default_rng(0))
    shares = np.bincount(rows, minlength=5) / 10_000
    assert shares.tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.0], abs=0.01)
    weights = priorities.weights(np.arange(4), 5, beta=1.0)
    assert weights.tolist() == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])


def test_new_rows_are_drawn_as_often_as_the_most_urgent() -> None:
    replay = Replay(8, OBSERVATION, ACTION, alpha=1.0)
    fill(replay, 1)
    assert replay.priorities is not None
    replay.priorities.update(np.arange(3), np.array([1.0, 1.0, 6.0]))
    fill(replay, 1)
    rows, weights = replay.draw(6000, np.random.default_rng(0), beta=0.0)
    counts = np.bincount(rows, minlength=6) / 6000 * 26
    assert counts.tolist() == pytest.approx([1, 1, 6, 6, 6, 6], abs=0.3)
    assert set(weights.tolist()) == {1.0}
