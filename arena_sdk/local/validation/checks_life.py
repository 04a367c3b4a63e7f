"""The check of whole episodes: they end, copies do not meddle, closing leaves nothing behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from arena_sdk.local.validation.actions import Actions
from arena_sdk.local.validation.budget import Budget
from arena_sdk.local.validation.checks_reset import judge_observation
from arena_sdk.local.validation.checks_step import seeded_run, take_step
from arena_sdk.local.validation.closing import check_close, children
from arena_sdk.local.validation.compare import find_difference
from arena_sdk.local.validation.loading import construct
from arena_sdk.local.validation.problems import CheckFailed, explain
from arena_sdk.local.validation.spawned import check_spawn
from arena_sdk.local.validation.subject import Subject, Warn
from arena_sdk.local.validation.transition import Transition, judge, kind_of, split

ENDLESS_STEPS = 10_000
ENDLESS_EPISODES = 2
LIFE_SECONDS = 6.0
COPY_STEPS = 21
"""Transitions, with that of the reset, that are compared with and without a second copy."""


def lifecycle(subject: Subject, warn: Warn) -> None:
    """Episodes end, another one can follow, frames can be drawn, and closing leaves nothing."""
    lengths = _play_to_the_end(subject, warn)
    if lengths and max(lengths) == 1:
        warn("Every episode ended at its first step, so there is nothing to learn from later ones.")
    _check_frames(subject, warn)
    _check_copies(subject, warn)
    if subject.spawns:
        check_spawn(subject, warn)
    check_close(subject, warn)


def _play_to_the_end(subject: Subject, warn: Warn) -> list[int]:
    """Play random episodes and return the lengths of those that ended."""
    budget = Budget(LIFE_SECONDS)
    lengths: list[int] = []
    endless: list[int] = []
    for number in range(100, 103):
        length, ended = _play_one(subject, number, budget)
        (lengths if ended else endless).append(length)
        if budget.is_spent or len(endless) >= ENDLESS_EPISODES:
            break
    if lengths:
        subject.reset(1, doing="reset() after the end of an episode")
    elif len(endless) >= ENDLESS_EPISODES and min(endless) >= ENDLESS_STEPS:
        raise CheckFailed(
            f"No episode ended within {ENDLESS_STEPS:,} steps of {len(endless)} random episodes;"
            " evaluating a policy would never end. Return truncated=True after a set number of"
            " steps, or wrap it in gymnasium.wrappers.TimeLimit."
        )
    else:
        warn(
            f"No episode ended within {max(endless):,} random steps, which is as many as there was"
            " time for; make sure that there is a time limit."
        )
    return lengths


def _play_one(subject: Subject, number: int, budget: Budget) -> tuple[int, bool]:
    _, info = subject.reset(number)
    actions = Actions(subject.env, number)
    for index in range(1, ENDLESS_STEPS + 1):
        at = f"step {index} of the episode with seed {number}"
        result = take_step(subject, actions.next(info), at)
        transition = split(result, "")
        if "Step" not in subject.failed:
            judge(result, at)
            if index % 97 == 0 or transition.ended:
                judge_observation(subject, transition.observation, f" at {at}", lambda text: None)
        info = transition.info
        if transition.ended:
            return index, True
        if budget.is_spent:
            return index, False
    return ENDLESS_STEPS, False


def _check_frames(subject: Subject, warn: Warn) -> None:
    """Warn when an environment that says it can draw frames cannot."""
    metadata = getattr(subject.env, "metadata", None)
    if subject.source is None or not isinstance(metadata, dict):
        return
    if "rgb_array" not in (metadata.get("render_modes") or []):
        return
    config = {key: value for key, value in subject.env_config.items() if key != "render_mode"}
    subject.pulse()
    try:
        env = construct(subject.factory, config, render_mode="rgb_array")
        env.reset(seed=0)
        frame = env.render()
        env.close()
    except Exception as error:
        text = (str(error).splitlines() or [""])[0]
        warn(f'Drawing with render_mode="rgb_array" raised {type(error).__name__}: {text}')
        return
    good = (
        isinstance(frame, np.ndarray)
        and frame.dtype == np.uint8
        and frame.ndim == 3
        and frame.shape[2] == 3
    )
    if not good:
        shape = f"{frame.dtype} {frame.shape}" if isinstance(frame, np.ndarray) else kind_of(frame)
        warn(f"render() returned {shape}, not a uint8 array of shape (height, width, 3).")


def _check_copies(subject: Subject, warn: Warn) -> None:
    """Raise a finding when stepping a second copy changes what the first one does."""
    if subject.shares_chance or subject.failed & {"Reset seed", "Step"}:
        return
    alone = list(islice(seeded_run(subject), COPY_STEPS))
    subject.pulse()
    before = children()
    try:
        other = construct(subject.factory, subject.env_config)
        other.reset()
    except Exception as error:
        said = explain("Making a second copy while the first is open", error, subject.source)
        warn(f"{said} Several copies in one process will fail so.")
        return
    try:
        for index, (one, two) in enumerate(zip(alone, _run_beside(subject, other), strict=False)):
            for part in ("observation", "reward", "terminated", "truncated"):
                found = find_difference(getattr(one, part), getattr(two, part))
                if found is not None and not found.slight:
                    raise CheckFailed(
                        f"A second copy in the same process changes the first: {part}{found.path}"
                        f" at step {index} is {found.first} alone and {found.second} beside it."
                        " Keep all state on self, not on the class or the module."
                    )
    finally:
        with suppress(Exception):
            other.close()
        for pid in children().keys() - before.keys():  # those of the first are told of later
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _run_beside(subject: Subject, other: Any) -> Iterator[Transition]:
    """Yield a seeded run during which another copy is stepped too, as far as that one goes."""
    actions = Actions(other, 9)
    info: Any = {}
    live = False
    for transition in seeded_run(subject):
        yield transition
        subject.pulse()
        with suppress(Exception):  # the other one is only there to be in the way
            if live:
                _, _, terminated, truncated, info = other.step(actions.next(info))
                live = not (terminated or truncated)
            else:
                _, info = other.reset()
                live = True
