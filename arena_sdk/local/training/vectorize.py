"""Several copies of an environment stepped together, with the true successor of every step.

Gymnasium's own vector environments reset a finished copy by themselves. In their default mode the
step after an episode's end is not a step at all (its action is ignored), and what `step` returns as
the next observation may belong to the next episode. Learning from either is wrong. Here a step
gives both: `next_obs`, the true successor for learning, and `obs`, what to act on next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from . import observations
from .observations import Batch

COSTLY_STEP_US = 1_000.0
"""A step at least this long pays for the exchange with a process of its own (about 100 us)."""

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
MakeEnv = Callable[[], Any]


@dataclass
class Step:
    """One step of all copies.

    Attributes:
        next_obs: The observation that the step led to, the last one of an episode included.
        obs: What to act on next: `next_obs`, or the first observation of a new episode.
        reward: float64, (copies,).
        terminated: The episode ended in a terminal state; bool, (copies,).
        truncated: The episode was cut off by a limit and has a future; bool, (copies,).
        mask: Legal actions for `obs`, (copies, actions), or None.
    """

    next_obs: Batch
    obs: Batch
    reward: Floats
    terminated: Flags
    truncated: Flags
    mask: Any


class Vector(Protocol):
    """Copies of one environment."""

    count: int

    def reset(self, seed: int | None) -> tuple[Batch, Any]:
        """Begin an episode in every copy; return the observations and the action mask or None."""

    def step(self, actions: Any) -> Step:
        """Act in every copy; finished ones begin a new episode."""

    def close(self) -> None:
        """Close all copies."""


def choose(step_us: float, copies: int, *, forced_sync: bool = False) -> str:
    """Return "sync" (stepped in the member's process) or "async" (a process a copy).

    Args:
        step_us: Measured time of one step, in microseconds.
        copies: Environment copies a member.
        forced_sync: The manifest says `environment.sync: true`.
    """
    if forced_sync or copies == 1 or step_us < COSTLY_STEP_US:
        return "sync"
    return "async"


def make_vector(make: MakeEnv, copies: int, kind: str) -> Vector:
    """Return the copies, stepped in this process ("sync") or each in its own ("async")."""
    return InProcessVector(make, copies) if kind == "sync" else ProcessVector(make, copies)


class InProcessVector:
    """Copies stepped one after the other in this process, with nothing between."""

    def __init__(self, make: MakeEnv, count: int) -> None:
        self.count = count
        self._envs = [make() for _ in range(count)]
        self._space: spaces.Space[Any] = self._envs[0].observation_space
        self._masks: list[Any] = [None] * count

    def reset(self, seed: int | None) -> tuple[Batch, Any]:
        """Begin an episode in every copy; copy i gets seed + i."""
        first = []
        for i, env in enumerate(self._envs):
            obs, info = env.reset(seed=None if seed is None else seed + i)
            self._masks[i] = info.get("action_mask")
            first.append(obs)
        return observations.stack(self._space, first), self._mask()

    def step(self, actions: npt.NDArray[Any]) -> Step:
        """Act in every copy; finished ones are reset at once."""
        count = self.count
        nexts: list[Any] = [None] * count
        reward = np.empty(count)
        terminated = np.zeros(count, dtype=np.bool_)
        truncated = np.zeros(count, dtype=np.bool_)
        ended: list[int] = []
        firsts: list[Any] = []
        for i, env in enumerate(self._envs):
            nexts[i], reward[i], term, trunc, info = env.step(actions[i])
            if term or trunc:
                terminated[i] = term
                truncated[i] = trunc and not term
                ended.append(i)
                first, info = env.reset()
                firsts.append(first)
            self._masks[i] = info.get("action_mask")
        next_obs = observations.stack(self._space, nexts)
        obs = next_obs
        if ended:
            begun = observations.stack(self._space, firsts)
            obs = observations.replace_rows(next_obs, np.asarray(ended), begun)
        return Step(next_obs, obs, reward, terminated, truncated, self._mask())

    def close(self) -> None:
        """Close all copies; one that fails to close is no reason to fail."""
        for env in self._envs:
            try:
                env.close()
            except Exception as problem:
                print(f"An environment failed to close: {problem}", flush=True)

    def _mask(self) -> Any:
        if any(mask is None for mask in self._masks):
            return None
        return np.stack([np.asarray(mask) for mask in self._masks])


class ProcessVector:
    """Copies in processes of their own, by Gymnasium's AsyncVectorEnv in same-step mode."""

    def __init__(self, make: MakeEnv, count: int) -> None:
        from gymnasium.vector import AsyncVectorEnv, AutoresetMode

        self.count = count
        self._env = AsyncVectorEnv(
            [make] * count, context="fork", autoreset_mode=AutoresetMode.SAME_STEP
        )
        self._space: spaces.Space[Any] = self._env.single_observation_space

    def reset(self, seed: int | None) -> tuple[Batch, Any]:
        """Begin an episode in every copy; copy i gets seed + i."""
        obs, info = self._env.reset(seed=seed)
        return obs, _full_mask(info)

    def step(self, actions: npt.NDArray[Any]) -> Step:
        """Act in every copy; a finished one is reset within the same step."""
        obs, reward, terminated, truncated, info = self._env.step(actions)
        next_obs = obs
        ended = np.flatnonzero(terminated | truncated)
        if ended.size:
            last = observations.stack(self._space, [info["final_obs"][i] for i in ended])
            next_obs = observations.replace_rows(obs, ended, last)
        return Step(
            next_obs,
            obs,
            np.asarray(reward, dtype=np.float64),
            terminated,
            truncated & ~terminated,
            _full_mask(info),
        )

    def close(self) -> None:
        """End the processes."""
        self._env.close(terminate=True)


def _full_mask(info: dict[str, Any]) -> Any:
    """Return the action masks if every copy gave one."""
    if "action_mask" not in info or not np.all(info.get("_action_mask", True)):
        return None
    mask = info["action_mask"]
    return np.stack(list(mask)) if mask.dtype == object else np.asarray(mask)


class ActionAdapter:
    """Turns an agent's actions into the environment's: shape, type, and where counting starts."""

    def __init__(self, space: spaces.Space[Any]) -> None:
        self._space = space
        self._start: Any = 0
        if isinstance(space, spaces.Discrete | spaces.MultiDiscrete):
            self._start = space.start

    def __call__(self, actions: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return actions of shape (copies, *space.shape) that the environment accepts."""
        space = self._space
        if isinstance(space, spaces.Box):
            clipped = np.clip(actions.reshape(-1, *space.shape), space.low, space.high)
            return np.asarray(clipped, dtype=space.dtype)
        if isinstance(space, spaces.Discrete):
            return np.asarray(actions.reshape(-1) + self._start, dtype=space.dtype)
        shaped = actions.reshape(-1, *space.shape) if space.shape else actions
        return np.asarray(shaped + self._start, dtype=space.dtype)


class TeamAdapter:
    """Turns the actions of several agents into the environment's, each by its own space."""

    def __init__(self, space: spaces.Dict) -> None:
        self._adapters = {agent: ActionAdapter(part) for agent, part in space.spaces.items()}

    def __call__(self, actions: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
        """Return actions by agent that the environment accepts."""
        return {agent: adapt(actions[agent]) for agent, adapt in self._adapters.items()}


def make_adapter(space: spaces.Space[Any]) -> ActionAdapter | TeamAdapter:
    """Return what turns actions into those of a space; a Dict is of several agents."""
    return TeamAdapter(space) if isinstance(space, spaces.Dict) else ActionAdapter(space)
