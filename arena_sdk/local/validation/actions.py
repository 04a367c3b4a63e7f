"""Random actions for environments under examination.

They are drawn from copies of the environment's spaces: several copies of an environment often share
one space, as an attribute of the class, and would take each other's actions otherwise; and a space
that is made afresh at every call cannot be seeded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from arena_sdk.local.validation.masks import obey
from arena_sdk.local.validation.subject import snapshot

EXTREMES = 0.3
"""Share of steps of every other episode that take an action at the bounds of a Box."""


class Actions:
    """Random actions that also go to the bounds, and obey an action mask.

    Args:
        env: The environment.
        seed: Of the actions.
        extremes: Whether Box actions are at times exactly at their bounds.
    """

    def __init__(self, env: Any, seed: int, *, extremes: bool = False) -> None:
        self._env = env
        self._space = snapshot(getattr(env, "action_space", None))
        self._random = np.random.default_rng(seed)
        self._extremes = extremes
        if self._space is not None:
            self._space.seed(seed)

    def next(self, info: Any = None) -> Any:
        """Return an action."""
        if self._space is None:
            return self._env.sample_random_action()
        action = obey(self._space, info)
        if action is not None:
            return action
        return _sample(self._space, self._random if self._extremes else None)


class TeamActions:
    """Random actions of all live agents of a parallel environment; masks are obeyed.

    Args:
        env: The environment.
        seed: Of the actions.
        extremes: Whether Box actions are at times exactly at their bounds.
    """

    def __init__(self, env: Any, seed: int, *, extremes: bool = False) -> None:
        self._env = env
        self._spaces = {agent: snapshot(env.action_space(agent)) for agent in env.possible_agents}
        self._random = np.random.default_rng(seed)
        self._extremes = extremes
        for index, space in enumerate(self._spaces.values()):
            space.seed(seed * 1_000 + index)

    def next(self, observations: dict[Any, Any], infos: dict[Any, Any]) -> dict[Any, Any]:
        """Return an action of every live agent; a mask may be in its observation or its info."""
        return {
            agent: self._one(self._spaces[agent], observations.get(agent), infos.get(agent))
            for agent in self._env.agents
        }

    def _one(self, space: Any, observation: Any, info: Any) -> Any:
        for holder in (observation, info):
            action = obey(space, holder)
            if action is not None:
                return action
        return _sample(space, self._random if self._extremes else None)


def _sample(space: Any, extremes: np.random.Generator | None) -> Any:
    """Return a sample; now and then one at the bounds, where a generator for that is given."""
    action = space.sample()
    if extremes is None or not isinstance(space, spaces.Box) or not space.is_bounded():
        return action
    if extremes.random() >= EXTREMES:
        return action
    side = extremes.integers(0, 2, size=space.shape).astype(bool)
    return np.where(side, space.high, space.low).astype(space.dtype)
