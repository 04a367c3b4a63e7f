"""A first look at an environment, in a process of its own that is forked before torch is imported.

The look gives the spaces, the cost of one step and whether episodes have a limit. It runs beside
the import of torch, and what the user's code does on import (threads, prints, a crash) stays out of
the coordinator, which forks its member processes later and must be free of threads until then.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import statistics
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import TrainingError

STEPS = 64
"""Steps that are timed."""
SECONDS = 0.5
"""Timing ends after this long, however few steps were made."""
POLL = 0.1
"""Seconds between two looks at whether the probe is still wanted."""


@dataclass
class Probe:
    """What was found: the spaces, the median step in microseconds, the step limit if declared."""

    observation_space: Any
    action_space: Any
    step_us: float
    max_episode_steps: int | None


class PendingProbe:
    """A probe under way; `result()` waits for it."""

    def __init__(self, pid: int, fd: int) -> None:
        self._pid = pid
        self._fd = fd

    def result(self, given_up: Callable[[], bool] = lambda: False) -> Probe | None:
        """Wait for the end of the look; return what was found.

        Args:
            given_up: Asked while waiting; once true, the look is ended and None returned.

        Raises:
            TrainingError: The environment could not be made or stepped.
        """
        with os.fdopen(self._fd, "rb") as pipe:
            while not select.select([pipe], [], [], POLL)[0]:
                if given_up():
                    os.kill(self._pid, signal.SIGKILL)
                    os.waitpid(self._pid, 0)
                    return None
            data = pipe.read()
        _, status = os.waitpid(self._pid, 0)
        if not data:
            raise TrainingError(
                f"The environment ended its process when it was tried ({_how(status)}); see the "
                "log for what it wrote last.",
                "ENVIRONMENT_CRASHED",
            )
        try:
            found = pickle.loads(data)
        except Exception as problem:
            raise TrainingError(
                "The environment's spaces cannot be read outside of its own module "
                f"({type(problem).__name__}: {problem}); use the spaces of gymnasium.spaces.",
                "ENVIRONMENT_SPACES",
            ) from None
        if isinstance(found, Probe):
            return found
        raise TrainingError(str(found), "ENVIRONMENT_FAILED")


def start_probe(reference: dict[str, Any], adopt_child: Callable[[], None]) -> PendingProbe:
    """Fork a process that makes and steps the environment; return at once."""
    read_fd, write_fd = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write_fd)
        return PendingProbe(pid, read_fd)
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.close(read_fd)
        adopt_child()
        data = _look(reference)
        with os.fdopen(write_fd, "wb") as pipe:
            pipe.write(data)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def _look(reference: dict[str, Any]) -> bytes:
    """Return the pickled probe, or the pickled sentence that says what failed."""
    stage = "made"
    try:
        from arena_sdk.local.validation.loading import make_env

        from .team import as_one

        env = as_one(make_env(reference))
        stage = "reset"
        _, info = env.reset(seed=0)
        stage = "stepped"
        step_us = _time_steps(env, info)
        limit = getattr(getattr(env, "spec", None), "max_episode_steps", None)
        data = pickle.dumps(Probe(env.observation_space, env.action_space, step_us, limit))
        env.close()
        return data
    except Exception as problem:
        traceback.print_exc()
        name = reference.get("id") or reference.get("name")
        reason = f"{type(problem).__name__}: {problem}".rstrip(". ")
        return pickle.dumps(f"Environment {name} could not be {stage}: {reason}.")


def _time_steps(env: Any, info: dict[str, Any]) -> float:
    """Return the median time of a step with random (legal) actions, in microseconds."""
    env.action_space.seed(0)
    times: list[float] = []
    begun = time.perf_counter()
    while len(times) < STEPS and time.perf_counter() - begun < SECONDS:
        action = _random_action(env.action_space, info)
        before = time.perf_counter()
        _, _, terminated, truncated, info = env.step(action)
        times.append(time.perf_counter() - before)
        if terminated or truncated:
            _, info = env.reset()
    return statistics.median(times) * 1e6


def _random_action(space: Any, info: dict[str, Any]) -> Any:
    mask = info.get("action_mask")
    if type(space).__name__ == "TeamSpace":
        masks = mask or {}
        return {
            agent: _random_action(part, {"action_mask": masks.get(agent)})
            for agent, part in space.items()
        }
    if mask is None or type(space).__name__ != "Discrete":
        return space.sample()
    return space.sample(mask=np.asarray(mask, dtype=np.int8))


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}"
    return f"exit code {os.waitstatus_to_exitcode(status)}"
