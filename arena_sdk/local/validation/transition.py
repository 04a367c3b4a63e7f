"""One transition, as `step` returned it, judged part by part."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from arena_sdk.local.validation.problems import CheckFailed

STEP_FORM = "(observation, reward, terminated, truncated, info)"


@dataclass(frozen=True)
class Transition:
    """What `step` returned.

    Attributes:
        observation: As it came.
        reward: As it came.
        terminated: Truth of it.
        truncated: Truth of it.
        info: As it came.
    """

    observation: Any
    reward: Any
    terminated: bool
    truncated: bool
    info: Any

    @property
    def ended(self) -> bool:
        """True when the episode is over."""
        return self.terminated or self.truncated


def split(result: Any, where: str) -> Transition:
    """Take a result of `step` apart.

    Args:
        result: What `step` returned.
        where: Where `step` is defined, as ` (env.py:12)`.

    Raises:
        CheckFailed: It has not five parts.
    """
    if not isinstance(result, tuple | list):
        raise CheckFailed(
            f"step{where} returned {kind_of(result)}. Return {STEP_FORM}.", fatal=True
        )
    if len(result) == 4:
        raise CheckFailed(
            f"step{where} returned four values, as in the old API. Return {STEP_FORM}: terminated"
            " when the task ended, truncated when a time limit did.",
            fatal=True,
        )
    if len(result) != 5:
        raise CheckFailed(
            f"step{where} returned {len(result)} values. Return {STEP_FORM}.", fatal=True
        )
    observation, reward, terminated, truncated, info = result
    return Transition(observation, reward, _flag(terminated), _flag(truncated), info)


def _flag(value: Any) -> bool:
    try:
        return bool(value)
    except ValueError:  # an array of several
        return False


def judge(result: Any, at: str) -> list[str]:
    """Judge everything but the observation of a five-part result.

    Args:
        result: What `step` returned.
        at: When, as in "step 3 of the episode with seed 1".

    Returns:
        What is unusual but does no harm.

    Raises:
        CheckFailed: A part is of a type or value that training cannot use.
    """
    _, reward, terminated, truncated, info = result
    problem = reward_problem(reward)
    if problem:
        raise CheckFailed(f"The reward at {at} {problem}")
    odd = []
    for name, value in (("terminated", terminated), ("truncated", truncated)):
        if isinstance(value, bool | np.bool_):
            continue
        if isinstance(value, int | np.integer) and value in (0, 1):
            odd.append(f"{name} is {kind_of(value)}, not a bool. Return bool({name}).")
        else:
            raise CheckFailed(
                f"{name} at {at} is {kind_of(value)}, not a bool. Return bool({name})."
            )
    if not isinstance(info, dict):
        raise CheckFailed(f"info at {at} is {kind_of(info)}, not a dict. Return {{}} at least.")
    return odd


def reward_problem(reward: Any) -> str | None:
    """Return what is wrong with a reward, as a predicate and a fix, or None."""
    if isinstance(reward, np.ndarray):
        return f"is an array of shape {reward.shape}, not a number. Return float(reward)."
    if not isinstance(reward, int | float | np.integer | np.floating | np.bool_):
        shown = f" ({reward!r:.40})" if isinstance(reward, str) else ""
        return f"is {kind_of(reward)}{shown}, not a number. Return a float."
    if not math.isfinite(reward):
        return f"is {float(reward)}. Find where it comes from: a division by zero, a logarithm?"
    return None


def kind_of(value: Any) -> str:
    """Return what a value is, with its article, as in "an int" or "None"."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    name = type(value).__name__
    return "None" if value is None else f"an {name}" if name[0] in "aeiou" else f"a {name}"
