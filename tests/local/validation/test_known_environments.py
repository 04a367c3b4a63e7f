"""Environments that are known to be sound get no false failure; parallel ones keep their books."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from arena_sdk.local.services.provided import provided_environments
from arena_sdk.local.validation.names import CHECK_NAMES
from arena_sdk.local.validation.report import run_checks
from arena_sdk.local.validation.subject import Subject
from tests.local.validation.sources import PAIR, Report, failures, walk, warnings

SLOW = ("CarRacing-v3", "BipedalWalker-v3", "BipedalWalkerHardcore-v3")
MUJOCO = "gymnasium.envs.mujoco"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo writes its warnings into the working directory."""
    monkeypatch.chdir(tmp_path)


def is_slow(name: str) -> bool:
    return name in SLOW or str(gymnasium.registry[name].entry_point).startswith(MUJOCO)


def report_on(factory: Callable[[], Any], *, multi_agent: bool = False) -> Report:
    """Run the checks on an installed environment, in this process."""
    subject = Subject(None, "installed", {}, multi_agent=multi_agent, factory=factory)
    checks: list[dict[str, Any]] = []
    passed = run_checks(
        subject, lambda name: None, lambda name, result: checks.append({"check": name, **result})
    )
    return {"validated": passed, "checks": checks}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if is_slow(name) else [])
        for name in provided_environments()
    ],
)
def test_gymnasiums_own_environments_pass_every_check(name: str) -> None:
    report = report_on(partial(gymnasium.make, name, disable_env_checker=True))
    assert failures(report) == {}
    assert [check["check"] for check in report["checks"]] == list(CHECK_NAMES)


OTHERS = sorted(set(gymnasium.registry) - set(provided_environments()))


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_every_other_environment_of_gymnasium_that_can_be_made_here_passes(name: str) -> None:
    """MuJoCo's and JAX's, where those are installed; the rest says what it lacks."""
    make = partial(gymnasium.make, name, disable_env_checker=True)
    try:
        make().close()
    except (gymnasium.error.Error, ImportError, TypeError) as lacking:
        pytest.skip(str(lacking).splitlines()[0])
    report = report_on(make)
    assert failures(report) == {}
    assert [check["check"] for check in report["checks"]] == list(CHECK_NAMES)


@pytest.mark.parametrize("name", ["simple_spread_v3", "simple_tag_v3", "simple_adversary_v3"])
def test_pettingzoos_particle_environments_pass_every_check(name: str) -> None:
    import importlib

    module = importlib.import_module(f"mpe2.{name}")
    report = report_on(module.parallel_env, multi_agent=True)
    assert failures(report) == {}
    assert [check["check"] for check in report["checks"]] == list(CHECK_NAMES)


def test_copies_that_share_a_space_do_not_take_each_others_actions(
    check: Callable[..., Report],
) -> None:
    shared = walk(
        init="    action_space = spaces.Discrete(2)\n\n    def __init__(self, size=10):\n"
    )
    report = check(shared.replace("        self.action_space = spaces.Discrete(2)\n", ""))
    assert (failures(report), warnings(report)) == ({}, {})


AT = "at step 1 of the episode with seed 0"


def test_a_sound_parallel_environment_passes_every_check(check: Callable[..., Report]) -> None:
    report = check(PAIR, multi_agent=True)
    assert failures(report) == {}
    assert report["validated"] is True
    assert report["entrypoint"] == "env:Pair"
    assert report["spaces"]["action"] == {
        "type": "Dict",
        "spaces": {agent: {"type": "Discrete", "n": 2, "start": 0} for agent in "ab"},
    }


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "[agent for agent in agents if not done[agent]]",
            "agents if self.steps < 20 else []",
            {
                "Step": "Agent 'a' is still in self.agents after step 10 of the episode with seed"
                " 0, though it is done. Remove an agent in the step in which it terminates or is"
                " truncated."
            },
        ),
        (
            "float(actions[agent]) for agent in agents}",
            'float(actions[agent]) for agent in agents if agent == "a"}',
            {
                "Step": f"Rewards {AT} lack the live agent 'b'. Give each of the five dicts an"
                " entry for every agent that was live before the step."
            },
        ),
        (
            "not done[agent]]",
            'not done[agent] and (agent == "b" or self.steps < 5)]',
            {
                "Step": "Agent 'a' left self.agents at step 5 of the episode with seed 0 without"
                " being terminated or truncated. Set its flag in the step in which it leaves."
            },
        ),
        (
            "np.array([self.steps / 30], np.float32)",
            "np.array([self.steps / 30])",
            {
                "Reset": "The observation of 'a' at reset(seed=0) is float64 where its space"
                " declares float32. Return it .astype(np.float32), or declare dtype=np.float64.",
                "Step": f"The observation of 'a' {AT} is float64 where its space declares float32."
                " Return it .astype(np.float32), or declare dtype=np.float64.",
            },
        ),
        (
            "float(actions[agent]) for",
            "None for",
            {"Step": f"The reward of 'a' {AT} is None, not a number. Return a float."},
        ),
        (
            "        return observations, rewards, done, never, {agent: {} for agent in agents}",
            "        return observations, rewards, done, {agent: {} for agent in agents}",
            {
                "Step": "step (env.py:30) returned 4 values. Return (observations, rewards,"
                " terminations, truncations, infos), each a dict by agent."
            },
        ),
        (
            'done = {agent: self.steps >= (10 if agent == "a" else 20) for agent in agents}',
            "done = dict(never := {agent: False for agent in agents})\n        self.steps %= 9",
            {
                "Episode lifecycle": "No episode ended within 5,000 steps of 2 random episodes;"
                " evaluating a policy would never end. Truncate every agent after a set number of"
                " steps."
            },
        ),
        (
            'self.possible_agents = ["a", "b"]',
            "pass",
            {
                "Preliminary environment": "The environment has no possible_agents. Set"
                " self.possible_agents, a list of every agent's name, in __init__."
            },
        ),
        (
            "np.array([self.steps / 30], np.float32)",
            "np.random.rand(1).astype(np.float32)",
            {},
        ),
    ],
    ids=["undead", "no reward", "lost", "float64", "None", "four", "endless", "agents", "random"],
)
def test_the_books_of_a_parallel_environment_are_kept(
    check: Callable[..., Report], old: str, new: str, expected: dict[str, str]
) -> None:
    assert old in PAIR
    found = failures(check(PAIR.replace(old, new), multi_agent=True))
    if expected:
        assert found == expected
    else:
        assert list(found) == ["Reset seed"]
        assert found["Reset seed"].endswith(
            "It draws from the global np.random, which the seed does not govern. Keep a generator"
            " of your own: self.rng = np.random.default_rng(seed)."
        )


def test_agents_whose_spaces_are_made_afresh_at_every_call_get_the_same_actions_again(
    check: Callable[..., Report],
) -> None:
    fresh = PAIR.replace("return self.moves[agent]", "return spaces.Discrete(2)")
    report = check(fresh, multi_agent=True)
    assert failures(report) == {}
    assert warnings(report) == {
        "Action space": [
            "action_space('a') makes a new space at every call, so that seeding it has no effect."
            " Keep the spaces, or decorate it with functools.lru_cache."
        ]
    }


def test_agents_whose_observations_are_altered_later_are_named(
    check: Callable[..., Report],
) -> None:
    source = PAIR.replace(
        "return {agent: np.array([self.steps / 30], np.float32) for agent in self.agents}",
        "return {agent: self.buffer(agent) for agent in self.agents}",
    ).replace(
        "    def look(self):",
        "    kept = {agent: np.zeros(1, np.float32) for agent in 'ab'}\n\n"
        "    def buffer(self, agent):\n"
        "        self.kept[agent][:] = self.steps / 30\n"
        "        return self.kept[agent]\n\n"
        "    def look(self):",
    )
    report = check(source, multi_agent=True)
    assert failures(report) == {}
    assert warnings(report) == {
        "Step": [
            f"step changes the observations['{agent}'][0] that it returned before, so whoever keeps"
            " them finds them altered. Return copies, and work on copies: value.copy()."
            for agent in "ab"
        ]
    }


def test_an_aec_environment_is_told_how_to_become_parallel(check: Callable[..., Report]) -> None:
    turns = """
    from pettingzoo import AECEnv

    class Turns(AECEnv):
        def step(self, action):
            pass
    """
    assert failures(check(turns, multi_agent=True)) == {
        "Class exists in path": "Turns is a PettingZoo AEC environment, where a ParallelEnv is"
        " needed. Convert it in a function with pettingzoo.utils.conversions.aec_to_parallel, and"
        " name that as the entrypoint."
    }


def test_the_wrong_number_of_agents_names_the_flag(check: Callable[..., Report]) -> None:
    assert failures(check(PAIR)) == {
        "Class exists in path": "Pair is a PettingZoo ParallelEnv. Validate it with --multi-agent."
    }
