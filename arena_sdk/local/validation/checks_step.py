"""The check of `step`: every step of several seeded episodes is watched, and one run repeated."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from arena_sdk.local.validation.actions import Actions
from arena_sdk.local.validation.budget import Budget
from arena_sdk.local.validation.checks_reset import (
    blame,
    judge_observation,
    refuse_changed_spaces,
)
from arena_sdk.local.validation.compare import Difference, find_difference
from arena_sdk.local.validation.masks import judge_mask
from arena_sdk.local.validation.problems import CheckFailed
from arena_sdk.local.validation.subject import Subject, Warn, snapshot
from arena_sdk.local.validation.transition import Transition, judge, kind_of, split

EPISODES = 4
EPISODE_STEPS = 500
WATCH_SECONDS = 1.0
REPEATED_STEPS = 50
REPEAT_SECONDS = 1.0
MORE_RUNS = 6
"""Runs that are compared with each other once two of them differed."""


def step(subject: Subject, warn: Warn) -> None:
    """Every step of several seeded episodes returns what it should; the same seed, the same."""
    budget = Budget(WATCH_SECONDS)
    steps = 0
    for number in range(EPISODES):
        steps += _watch_episode(subject, number, budget, warn)
    refuse_changed_spaces(subject)
    subject.facts["steps_watched"] = steps
    if "Reset seed" not in subject.failed:
        _check_determinism(subject, warn)


def _watch_episode(subject: Subject, number: int, budget: Budget, warn: Warn) -> int:
    """Play an episode, or some of it, and judge every step; return how many there were."""
    observation, info = subject.reset(number)
    actions = Actions(subject.env, number, extremes=number % 2 == 1)
    where = subject.where("step")
    for index in range(1, EPISODE_STEPS + 1):
        at = f"step {index} of the episode with seed {number}"
        action = actions.next(info)
        kept = snapshot((observation, info, action))
        result = take_step(subject, action, at)
        transition = split(result, where)
        for oddity in judge(result, at):
            warn(oddity)
        judge_observation(subject, transition.observation, f" at {at}", warn)
        _warn_of_altered(kept, (observation, info, action), warn)
        if index == 1:
            warn_of_unsendable(transition.info, warn)
        space = getattr(subject.env, "action_space", None)
        judge_mask(space, transition.info, at, ended=transition.ended)
        observation, info = transition.observation, transition.info
        if transition.ended or budget.is_spent:
            return index
    return EPISODE_STEPS


def _warn_of_altered(kept: tuple[Any, ...], now: tuple[Any, ...], warn: Warn) -> None:
    """Warn when `step` changed what it had returned before, or was given."""
    for before, after, what, fix in zip(kept, now, WHAT, FIXES, strict=True):
        if find_difference(before, after) is not None:
            warn(f"step changes the {what}, so whoever keeps one finds it altered. {fix}")


WHAT = ("observation that it returned before", "info that it returned before", "action it is given")
FIXES = (
    "Return a copy: self._state.copy().",
    "Return a new dict at every step.",
    "Work on a copy: action = action.copy().",
)


def warn_of_unsendable(info: Any, warn: Warn, owner: str = "") -> None:
    """Warn of what an environment in a process of its own could not send."""
    for key, value in info.items():
        try:
            pickle.dumps(value)
        except Exception:  # each library has its own words for it
            warn(
                f"{owner}info[{key!r}] is {kind_of(value)}, which no process can send to another;"
                " copies in processes of their own would fail. Leave it out."
            )


def take_step(subject: Subject, action: Any, at: str) -> Any:
    return subject.call(lambda: _doing(action, at), subject.env.step, action)


def _doing(action: Any, at: str) -> str:
    if not _plain(action):
        return f"step(…), {at},"
    shown = np.array2string(np.asarray(action), threshold=8, precision=4).replace("\n", "")
    return f"step({shown}), {at},"


def _plain(action: Any) -> bool:
    return isinstance(action, int | float | np.generic | np.ndarray)


def _check_determinism(subject: Subject, warn: Warn) -> None:
    """The same seed and the same actions must give the same transitions."""
    found = _difference_of_runs(subject)
    if found is None:
        return
    index, part, difference = found
    place = f"{part}{difference.path}"
    told = f"{place} at step {index} is {difference.first} one time and {difference.second} another"
    if part == "info":
        warn(f"{told}, with the same seed and actions; a clock reading, perhaps.")
    elif difference.slight:
        warn(f"{told}, with the same seed and actions: the same but for rounding.")
    elif _some_runs_agree(subject):
        warn(
            f"{told}, with the same seed and actions, though other runs agree; a physics engine"
            " that orders contacts by their place in memory, perhaps."
        )
    else:
        cause = blame(subject, _difference_of_runs)
        raise CheckFailed(f"With the same seed and the same actions {told}. {cause}")


def _some_runs_agree(subject: Subject) -> bool:
    """Tell whether any two of several runs are the same, which numbers drawn unseeded are not."""
    runs: list[list[Transition]] = []
    for _ in range(MORE_RUNS):
        run = list(seeded_run(subject))
        for other in runs:
            found = _difference_between(other, run)
            if found is None or found[2].slight or found[1] == "info":
                return True
        runs.append(run)
    return False


def _difference_of_runs(subject: Subject) -> tuple[int, str, Difference] | None:
    return _difference_between(list(seeded_run(subject)), seeded_run(subject))


def _difference_between(
    first: Iterable[Transition], second: Iterable[Transition]
) -> tuple[int, str, Difference] | None:
    slight = None
    for index, (one, two) in enumerate(zip(first, second, strict=False)):
        for part in ("observation", "reward", "terminated", "truncated", "info"):
            found = find_difference(getattr(one, part), getattr(two, part))
            if found is None:
                continue
            if part != "info" and not found.slight:
                return index, f"the {part}" if part in ("observation", "reward") else part, found
            slight = slight or (index, part, found)
    return slight


def seeded_run(subject: Subject) -> Iterator[Transition]:
    """Yield the transitions of a seeded run; number 0 is the reset."""
    observation, info = subject.reset(7)
    actions = Actions(subject.env, 7)
    yield Transition(snapshot(observation), 0.0, False, False, snapshot(info))
    budget = Budget(REPEAT_SECONDS)
    for index in range(1, REPEATED_STEPS + 1):
        result = take_step(subject, actions.next(info), f"step {index} of the episode with seed 7")
        transition = split(result, "")
        info = transition.info
        yield Transition(
            snapshot(transition.observation),
            transition.reward,
            transition.terminated,
            transition.truncated,
            snapshot(info),
        )
        if transition.ended or budget.is_spent:
            return
