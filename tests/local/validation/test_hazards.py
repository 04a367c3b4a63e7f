"""An environment for each hazard, and the exact report that it gets."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from arena_sdk.local.validation.names import CHECK_NAMES
from arena_sdk.local.workers.channel import WorkerError
from tests.local.validation.hazards_failing import FAILING
from tests.local.validation.hazards_found import BROKEN, ODD
from tests.local.validation.hazards_warned import WARNED
from tests.local.validation.sources import (
    WALK,
    Report,
    before_step,
    failures,
    returning,
    walk,
    warnings,
)

Check = Callable[..., Report]


def test_a_sound_environment_passes_every_check_without_a_word(check: Check) -> None:
    report = check(walk())
    assert [result["check"] for result in report["checks"]] == list(CHECK_NAMES)
    assert (failures(report), warnings(report)) == ({}, {})
    assert report["validated"] is True
    assert report["not_run"] == []
    assert report["spaces"] == {
        "observation": {
            "type": "Box",
            "shape": [2],
            "dtype": "float32",
            "low": 0.0,
            "high": 1.0,
        },
        "action": {"type": "Discrete", "n": 2, "start": 0},
    }
    assert [event["detail"]["check"] for event in report["events"]] == list(CHECK_NAMES)


NOT_ITS_DRAW = "which the seed does not govern. Use self.np_random, after super().reset(seed=seed)."


FAILURES = {**FAILING, **BROKEN}
WARNINGS = {**WARNED, **ODD}


@pytest.mark.parametrize("hazard", FAILURES)
def test_what_breaks_training_fails_with_the_place_and_the_fix(check: Check, hazard: str) -> None:
    source, expected = FAILURES[hazard]
    report = check(source)
    assert failures(report) == expected
    assert report["validated"] is False


@pytest.mark.parametrize("hazard", WARNINGS)
def test_what_does_not_break_training_is_a_warning(check: Check, hazard: str) -> None:
    source, expected = WARNINGS[hazard]
    report = check(source)
    assert failures(report) == {}
    assert warnings(report) == expected
    assert report["validated"] is True


@pytest.mark.parametrize(
    ("source", "where", "cause"),
    [
        (walk(start="np.random.rand() * 9"), "Reset seed", "the global np.random, "),
        (walk(start="__import__('random').random() * 9"), "Reset seed", "the module random, "),
        (before_step("self.at = 9 * np.random.rand()"), "Step", "the global np.random, "),
    ],
    ids=["np.random in reset", "random in reset", "np.random in step"],
)
def test_chance_that_the_seed_does_not_govern_is_traced_to_its_source(
    check: Check, source: str, where: str, cause: str
) -> None:
    found = failures(check(source))
    assert list(found) == [where]
    assert found[where].endswith(f". It draws from {cause}{NOT_ITS_DRAW}")


def test_an_observation_that_is_a_sample_of_its_space_is_traced_to_it(check: Check) -> None:
    source = walk(
        look="        return self.observation_space.sample()\n",
        step_return="        return self.look(), 0.0, False, self.steps >= 50, {}\n",
    )
    found = failures(check(source))
    assert list(found) == ["Reset seed"]
    assert found["Reset seed"].endswith(
        ". It samples its own space, whose generator the seed does not govern."
        f"{NOT_ITS_DRAW.removeprefix('which the seed does not govern.')}"
    )


def test_a_clock_in_info_is_a_warning_that_names_the_key(check: Check) -> None:
    report = check(returning(info='{"now": __import__("time").time()}'))
    assert failures(report) == {}
    (warning,) = warnings(report)["Step"]
    number = r"\d+\.\d+"
    pattern = (
        rf"info\['now'\] at step 1 is {number} one time and {number} another, with the same seed"
        r" and actions; a clock reading, perhaps\."
    )
    assert re.fullmatch(pattern, warning)


def test_growth_at_every_reset_is_measured(check: Check) -> None:
    grows = walk(
        reset_head="    kept = []\n\n    def reset(self, *, seed=None, options=None):\n"
        "        super().reset(seed=seed)\n        self.kept.append(np.ones(125_000))\n"
    )
    (warning,) = warnings(check(grows))["Reset"]
    found = re.fullmatch(
        r"Memory grows by (\d\.\d) MB at every reset \(measured over \d+\)\. Release what the last"
        r" episode held\.",
        warning,
    )
    assert found is not None
    assert 0.9 <= float(found[1]) <= 1.1


def test_an_unknown_argument_is_named_with_those_that_there_are(check: Check) -> None:
    assert failures(check(walk(), env_config={"sise": 3})) == {
        "Preliminary environment": "Walk takes no argument 'sise' of env_config; it takes size."
    }


@pytest.mark.parametrize(
    ("entrypoint", "expected"),
    [
        ("env:Run", {"Class exists in path": "Module 'env' has no 'Run'. It has: Walk."}),
        (
            "other:Walk",
            {
                "Environment class path": "The source has no module 'other'; its Python files are:"
                " env.py."
            },
        ),
        (
            "env.Walk",
            {
                "Environment class path": "The entrypoint 'env.Walk' is not of the form"
                " module:Class."
            },
        ),
    ],
)
def test_an_entrypoint_that_leads_nowhere(
    check: Check, entrypoint: str, expected: dict[str, str]
) -> None:
    assert failures(check(walk(), entrypoint=entrypoint)) == expected


def test_an_installed_old_gym_is_named_by_its_class(check: Check) -> None:
    source = {
        "env.py": walk(imports="import gym\nimport numpy as np\nfrom gymnasium import spaces\n"),
        "gym/__init__.py": "from gym.core import Env\n",
        "gym/core.py": "class Env:\n    pass\n",
    }
    assert failures(check(source, entrypoint="env:Walk")) == {
        "Class exists in path": "Walk derives from gym.Env of the old Gym. Use import gymnasium as"
        " gym instead."
    }


def test_several_environments_are_ambiguous(check: Check) -> None:
    with pytest.raises(WorkerError) as caught:
        check(walk() + WALK.replace("Walk", "Other"))
    assert caught.value.body() == {
        "message": "The source has 2 environments (env:Walk, env:Other); name the one to validate,"
        " as in --entrypoint env:Walk.",
        "error_code": "AMBIGUOUS_ENTRYPOINT",
        "available_entrypoints": ["env:Walk", "env:Other"],
    }


LANGUAGE = """
class Riddle:
    def reset(self, seed=None, options=None):
        self.left = 3
        return "What has roots as nobody sees?", {}

    def step(self, action):
        self.left -= 1
        return "No.", float(action == "a mountain"), action == "a mountain", self.left == 0, {}

    def sample_random_action(self):
        return "a tree"

    def close(self):
        pass
"""


def test_a_language_environment_needs_no_spaces(check: Check) -> None:
    report = check(LANGUAGE, language_based=True, entrypoint="env:Riddle")
    assert failures(report) == {}
    assert report["validated"] is True
    assert report["spaces"] == {}


def test_a_language_environment_is_looked_for_by_its_base(check: Check) -> None:
    assert failures(check(LANGUAGE, language_based=True)) == {
        "Environment class path": "No class that derives from gem.env.GemEnv was found in the 1"
        " Python file of the source. Derive one that defines step, or name it with"
        " --entrypoint module:Class."
    }
