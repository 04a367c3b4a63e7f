"""Random episodes of a valid environment: what is told of them, and what bounds them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.local.validation.sources import PAIR, Report, before_step, walk

Check = Callable[..., Report]
ROLLOUTS = "arena_sdk.local.validation.rollouts"


def drawn(source: str, size: str = "(8, 8, 3)") -> str:
    """Return a source whose environment draws frames."""
    return (
        source.replace(
            "def __init__(self, size=10)", "def __init__(self, size=10, render_mode=None)"
        )
        .replace("def __init__(self):", "def __init__(self, render_mode=None):")
        .replace('"render_modes": []', '"render_modes": ["rgb_array"]')
        .replace('"name": "pair"', '"name": "pair", "render_modes": ["rgb_array"]')
        + f"\n    def render(self):\n        return np.full({size}, self.steps, np.uint8)\n"
    )


def test_a_hundred_episodes_are_played_and_told(check: Check) -> None:
    rollouts = check(walk(), do_rollouts=True)["rollouts"]
    assert rollouts["episodes"] == len(rollouts["returns"]) == 100
    assert (rollouts["cut"], rollouts["agents"], rollouts["animation"]) == (0, {}, None)
    assert 1 <= rollouts["length"]["min"] <= rollouts["length"]["max"] <= 50
    assert rollouts["return"]["min"] <= rollouts["return"]["mean"] <= rollouts["return"]["max"]
    assert sum(rollouts["returns"]) / 100 == pytest.approx(rollouts["return"]["mean"])


def test_agents_of_a_parallel_environment_are_told_one_by_one(check: Check, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    report = check(drawn(PAIR), multi_agent=True, do_rollouts=True, rollouts_dir=str(folder))
    rollouts: dict[str, Any] = report["rollouts"]
    assert (rollouts["episodes"], rollouts["cut"]) == (100, 0)
    assert rollouts["length"] == {"mean": 20.0, "std": 0.0, "min": 20, "max": 20}
    assert list(rollouts["agents"]) == ["a", "b"]
    means = [each["mean"] for each in rollouts["agents"].values()]
    assert 4 < means[0] < 6 < means[1] < 14  # a coin at every step, for 10 and for 20 of them
    assert sum(means) == pytest.approx(rollouts["return"]["mean"])
    assert rollouts["frames"] == 21
    assert (folder / rollouts["animation"]).read_bytes().startswith(b"GIF89a")


def test_an_episode_that_takes_too_long_is_cut_off(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{ROLLOUTS}.SECONDS", 0.0)
    rollouts = check(walk(), do_rollouts=True)["rollouts"]
    assert (rollouts["episodes"], rollouts["cut"]) == (1, 1)
    assert rollouts["length"]["max"] < 50


def test_one_that_is_cut_off_does_not_count_beside_whole_ones(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{ROLLOUTS}.SECONDS", 2.0)
    slow = before_step("import time", "time.sleep(0.001)").replace("self.at == self.size", "False")
    rollouts = check(slow, do_rollouts=True)["rollouts"]
    assert rollouts["episodes"] < 100
    assert rollouts["cut"] == 0
    assert rollouts["length"]["min"] == 50


def test_what_fails_late_is_told_and_the_verdict_stands(check: Check) -> None:
    late = walk().replace(
        "super().reset(seed=seed)", "super().reset(seed=seed)\n        assert seed != 60, 'no map'"
    )
    report = check(late, do_rollouts=True)
    assert report["validated"] is True
    assert report["rollouts"] == {
        "error": "reset(seed=60) raised AssertionError: no map (env.py:21)."
    }
