"""The checks of `reset`: its form, its seed, its options, what it returns, what it leaks."""

from __future__ import annotations

import gc
import inspect
import itertools
import random
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from arena_sdk.local.validation.budget import Budget
from arena_sdk.local.validation.compare import Difference, find_difference
from arena_sdk.local.validation.loading import accepts
from arena_sdk.local.validation.masks import judge_mask
from arena_sdk.local.validation.problems import CheckFailed
from arena_sdk.local.validation.spaces import find_misfit, find_oddity, space_tree
from arena_sdk.local.validation.subject import Subject, Warn, snapshot
from arena_sdk.local.validation.transition import kind_of

SIGNATURE = "def reset(self, *, seed=None, options=None)"
RESETS = 60
REPEATS = 5
"""Runs that must agree before a generator is blamed; two may do so by chance."""
RESET_SECONDS = 0.6
LEAK_BYTES = 64 << 10
"""Growth per reset below this is the allocator's, not a leak."""


def return_type(subject: Subject, warn: Warn) -> None:
    """`reset` returns (observation, info)."""
    result = subject.call("reset()", subject.env.reset)
    where = subject.where("reset")
    if not isinstance(result, tuple) or len(result) != 2:
        what = _described(result)
        raise CheckFailed(
            f"reset{where} returned {what}, as in the old API. Return (observation, info), where"
            " info is a dict, which may be empty."
        )
    if not isinstance(result[1], dict):
        raise CheckFailed(
            f"reset{where} returned {kind_of(result[1])} as info. Return a dict, which may"
            " be empty."
        )


def _described(result: Any) -> str:
    if isinstance(result, tuple):
        return f"a tuple of {len(result)}"
    return "None" if result is None else f"only an observation ({type(result).__name__})"


def seed(subject: Subject, warn: Warn) -> None:
    """`reset(seed=…)` governs all that is random."""
    if not accepts(subject.env.reset, "seed"):
        raise CheckFailed(
            f"reset{subject.where('reset')} takes no seed. Declare {SIGNATURE}, and begin with"
            " super().reset(seed=seed)."
        )
    parameter = inspect.signature(subject.env.reset).parameters.get("seed")
    if parameter is not None and parameter.default not in (None, parameter.empty):
        warn(
            f"reset's seed is {parameter.default!r} by default, so every episode is the same one."
            " Make it None."
        )
    found = _difference_of_resets(subject)
    if found is None:
        _warn_of_unseeded(subject, warn)
        warn_of_global_chance(subject, warn)
    if found is not None and found.slight:
        warn(f"The observation{found.path} of reset(seed=123) varies slightly from time to time.")
    elif found is not None:
        raise CheckFailed(
            f"reset(seed=123) twice gave different observations: {found.first} and {found.second}"
            f"{' at ' + found.path if found.path else ''}. " + blame(subject, _difference_of_resets)
        )
    base = getattr(subject.env, "unwrapped", subject.env)
    if isinstance(base, gymnasium.Env) and base._np_random is None:
        warn(
            f"reset{subject.where('reset')} does not call super().reset(seed=seed), so"
            " self.np_random is not seeded."
        )


def _difference_of_resets(subject: Subject) -> Difference | None:
    first = snapshot(subject.reset(123)[0])
    return find_difference(first, subject.reset(123)[0])


def _warn_of_unseeded(subject: Subject, warn: Warn) -> None:
    """Warn when the episodes after a seeded one are not determined by its seed."""
    drawn = []
    for _ in range(2):
        subject.reset(123)
        drawn.append(snapshot(subject.reset()[0]))
    if find_difference(*drawn) is not None:
        warn(
            f"reset(){subject.where('reset')} after reset(seed=123) is not determined by that seed."
            " Make a new generator only when seed is not None."
        )


def blame(subject: Subject, difference: Any) -> str:
    """Say which source of randomness the seed does not govern.

    Args:
        subject: The environment.
        difference: Runs something seeded twice and returns where the two differ.
    """
    if _vanishes(subject, difference, lambda: np.random.seed(0)):
        return (
            "It draws from the global np.random, which the seed does not govern. Use"
            " self.np_random, after super().reset(seed=seed)."
        )
    if _vanishes(subject, difference, lambda: random.seed(0)):
        return (
            "It draws from the module random, which the seed does not govern. Use self.np_random,"
            " after super().reset(seed=seed)."
        )
    if _vanishes(subject, difference, lambda: _seed_spaces(subject)):
        return (
            "It samples its own space, whose generator the seed does not govern. Use"
            " self.np_random, after super().reset(seed=seed)."
        )
    return "Take all randomness from self.np_random, after super().reset(seed=seed)."


def _seed_spaces(subject: Subject) -> None:
    for kind in ("observation_space", "action_space"):
        space = getattr(subject.env, kind, None)
        if isinstance(space, spaces.Space):
            space.seed(0)


def warn_of_global_chance(subject: Subject, warn: Warn) -> None:
    """Warn when `reset` seeds, or draws from, a generator that all copies share."""
    for name, state in (
        ("np.random", lambda: np.random.get_state(legacy=False)),
        ("the module random", random.getstate),
    ):
        before = snapshot(state())
        subject.reset(123)
        if find_difference(before, state()) is not None:
            subject.shares_chance = True
            warn(
                f"reset{subject.where('reset')} uses the generator of {name}, which all copies of"
                " the environment in a process share. Keep a generator on self."
            )


def _vanishes(subject: Subject, difference: Any, pin: Any) -> bool:
    """Tell whether two runs agree once a global generator is pinned before every reset."""
    original = subject.env.reset

    def pinned(*args: Any, **kwargs: Any) -> Any:
        pin()
        return original(*args, **kwargs)

    try:
        subject.env.reset = pinned
        return all(difference(subject) is None for _ in range(REPEATS))
    except (CheckFailed, AttributeError):
        return False
    finally:
        subject.env.__dict__.pop("reset", None)


def options(subject: Subject, warn: Warn) -> None:
    """`reset(options=…)` is accepted."""
    if not accepts(subject.env.reset, "options"):
        raise CheckFailed(f"reset{subject.where('reset')} takes no options. Declare {SIGNATURE}.")
    subject.call("reset(options={})", lambda: subject.env.reset(options={}))


def reset(subject: Subject, warn: Warn) -> None:
    """What `reset` returns is in the observation space, for several seeds, and does not leak."""
    for number in range(5):
        observation, info = subject.reset(number)
        judge_observation(subject, observation, f" of reset(seed={number})", warn)
        space = getattr(subject.env, "action_space", None)
        judge_mask(space, info, f"reset(seed={number})")
    refuse_changed_spaces(subject)
    watch_memory(subject, warn)


def refuse_changed_spaces(subject: Subject) -> None:
    """Raise a finding when a space is no longer the one that the environment began with."""
    for kind in ("action", "observation"):
        space = getattr(subject.env, f"{kind}_space", None)
        if kind in subject.facts and space_tree(space) != subject.facts[kind]:
            raise CheckFailed(
                f"{kind}_space has become {space} while the environment ran, and networks cannot"
                " follow. Declare it in __init__, large enough for all that comes."
            )


def judge_observation(subject: Subject, observation: Any, when: str, warn: Warn) -> None:
    """Raise a finding when an observation is not in its space.

    Args:
        subject: The environment.
        observation: What it returned.
        when: Where it comes from, as in " of reset(seed=1)".
        warn: Takes what is unusual about one that fits.
    """
    space = getattr(subject.env, "observation_space", None)
    if space is None:
        return
    misfit = find_misfit(observation, space)
    if misfit is not None:
        raise CheckFailed(misfit.sentence("The observation", when))
    oddity = find_oddity(observation, space)
    if oddity is not None:
        warn(f"The observation{oddity}")


def watch_memory(subject: Subject, warn: Warn) -> None:
    """Warn when the process grows with every reset."""
    import psutil

    process = psutil.Process()
    for _ in range(5):
        subject.reset()
    gc.collect()
    marks = [process.memory_info().rss]
    budget = Budget(RESET_SECONDS)
    resets = 0
    for _ in range(3):
        for _ in range(RESETS // 3):
            subject.reset()
            resets += 1
            if budget.is_spent:
                break
        gc.collect()
        marks.append(process.memory_info().rss)
    grown = (marks[-1] - marks[0]) / max(resets, 1)
    steady = all(later > earlier for earlier, later in itertools.pairwise(marks))
    if steady and grown > LEAK_BYTES and resets >= 3:
        warn(
            f"Memory grows by {grown / 1e6:.1f} MB at every reset (measured over {resets})."
            " Release what the last episode held."
        )
