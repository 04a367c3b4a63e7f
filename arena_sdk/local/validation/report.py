"""The fifteen checks of the contract, in its order, and the run that makes a report of them.

Where they disagree with `gymnasium.utils.env_checker.check_env`, and why. They fail, and it lets
pass:

- what happens after the first step: bounds left, NaN, exceptions, no end, no reset after an end;
- rewards that are arrays, text, None, complex, NaN or infinite, of which it warns at most: returns
  are sums, and one such reward spoils the fitness of a whole generation;
- actions at the bounds of a Box that the environment cannot take, and masks of the wrong length:
  policies choose the bounds often;
- state on the class, spaces of the environment's own classes and spaces that change: it sees one
  copy in one process, training has many, and serving lacks the environment's files;
- closed file descriptors of others, endless calls, `os._exit` and the like, which end `check_env`
  itself or harm whoever runs it.

They only warn of, and it fails:

- an observation or info that is returned again and altered: trainers copy what they keep;
- a generator of its own instead of `np_random`, when the seed governs it all the same;
- info that differs between equal runs, such as a clock reading: no algorithm learns from it.

A difference that other equal runs do not show (Box2D orders contacts by their place in memory) is a
warning here, and would fail there on the run that shows it. `tests/local/validation/
test_check_env.py` holds both to exactly this list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arena_sdk.local.validation import (
    checks,
    checks_life,
    checks_parallel,
    checks_reset,
    checks_step,
)
from arena_sdk.local.validation.names import CHECK_NAMES
from arena_sdk.local.validation.problems import CheckFailed, explain
from arena_sdk.local.validation.subject import Check, Subject

MAX_WARNINGS = 8

SINGLE_AGENT: tuple[tuple[str, Check], ...] = tuple(
    zip(
        CHECK_NAMES,
        (
            checks.class_path,
            checks.class_exists,
            checks.preliminary,
            checks.action_space,
            checks.action_limits,
            checks.observation_space,
            checks.observation_limits,
            checks.seed_deprecation,
            checks.return_info_deprecation,
            checks_reset.return_type,
            checks_reset.seed,
            checks_reset.options,
            checks_reset.reset,
            checks_step.step,
            checks_life.lifecycle,
        ),
        strict=True,
    )
)

PARALLEL_CHECKS: dict[str, Check] = {
    "Preliminary environment": checks_parallel.preliminary,
    "Action space": checks_parallel.action_space,
    "Action space limits": checks_parallel.action_limits,
    "Observation space": checks_parallel.observation_space,
    "Observation space limits": checks_parallel.observation_limits,
    "Reset return type": checks_parallel.return_type,
    "Reset seed": checks_parallel.seed,
    "Reset": checks_parallel.reset,
    "Step": checks_parallel.step,
    "Episode lifecycle": checks_parallel.lifecycle,
}
MULTI_AGENT: tuple[tuple[str, Check], ...] = tuple(
    (name, PARALLEL_CHECKS.get(name, check)) for name, check in SINGLE_AGENT
)


def run_checks(
    subject: Subject,
    begin: Callable[[str], None],
    tell: Callable[[str, dict[str, Any]], None],
) -> bool:
    """Run the checks in order, until one fails after which nothing can be judged.

    Args:
        subject: What to check.
        begin: Called with a check's name before it runs.
        tell: Called with its name and result, `{"success", "warnings", "error"}`, after it.

    Returns:
        True when all of them passed.
    """
    passed = True
    for name, check in MULTI_AGENT if subject.multi_agent else SINGLE_AGENT:
        begin(name)
        result, fatal = run_check(check, subject)
        tell(name, result)
        if not result["success"]:
            passed = False
            subject.failed.add(name)
        if fatal:
            return False
    return passed


def run_check(check: Check, subject: Subject) -> tuple[dict[str, Any], bool]:
    """Run one check and return its result, and whether to stop after it."""
    warnings: list[str] = []

    def warn(text: str) -> None:
        if text not in warnings and len(warnings) < MAX_WARNINGS:
            warnings.append(text)

    try:
        check(subject, warn)
    except CheckFailed as failure:
        return {"success": False, "warnings": warnings, "error": failure.message}, failure.fatal
    except Exception as error:  # user objects may raise in any place: comparing, copying, printing
        text = explain("Looking at what the environment returned", error, subject.source)
        return {"success": False, "warnings": warnings, "error": text}, True
    return {"success": True, "warnings": warnings}, False
