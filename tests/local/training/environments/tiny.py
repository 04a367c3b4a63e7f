"""Small environments whose every transition can be checked, and some that misbehave."""

from __future__ import annotations

import time
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Corridor(gym.Env[Any, Any]):
    """Walks t = 0, 1, 2, …; observes (episode, t). Ends at `length` by `end`.

    Every true transition leads from (e, t) to (e, t + 1); anything else is junk.
    """

    def __init__(self, length: int = 7, end: str = "terminated") -> None:
        self.observation_space = spaces.Box(-1, 1e6, (2,), np.float32)
        self.action_space = spaces.Discrete(2)
        self._length, self._end = length, end
        self._episode, self._t = -1, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._episode, self._t = self._episode + 1, 0
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        self._t += 1
        over = self._t >= self._length
        terminated, truncated = (
            over and self._end == "terminated",
            over and self._end != "terminated",
        )
        return self._observe(), 1.0, terminated, truncated, {}

    def _observe(self) -> Any:
        return np.array([self._episode, self._t], dtype=np.float32)


class Endless(Corridor):
    """Never ends."""

    def __init__(self) -> None:
        super().__init__(length=10**9)


class Slow(Corridor):
    """Takes a while for every step."""

    def __init__(self, seconds: float = 0.005) -> None:
        super().__init__(length=20)
        self._seconds = seconds

    def step(self, action: Any) -> Any:
        time.sleep(self._seconds)
        return super().step(action)


class Stuck(Corridor):
    """Is not made in any time that one would wait for."""

    def __init__(self) -> None:
        time.sleep(600)
        super().__init__()


class Images(gym.Env[Any, Any]):
    """Shows noise as images of 12x12x3 bytes."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0, 255, (12, 12, 3), np.uint8)
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._t = 0
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        self._t += 1
        return self._observe(), float(action == 1), self._t >= 10, False, {}

    def _observe(self) -> Any:
        return self.np_random.integers(0, 256, (12, 12, 3), dtype=np.uint8)


class Parts(Images):
    """Observes a Dict of a vector and an image."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = spaces.Dict(
            {"place": spaces.Box(-1, 1, (3,), np.float32), "view": self.observation_space}
        )

    def _observe(self) -> Any:
        place = self.np_random.uniform(-1, 1, 3).astype(np.float32)
        return {"place": place, "view": super()._observe()}


class Bandit(gym.Env[Any, Any]):
    """One step an episode, observes a number of 5, actions count from 3; the second one pays."""

    def __init__(self) -> None:
        self.observation_space = spaces.Discrete(5)
        self.action_space = spaces.Discrete(2, start=3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return int(self.np_random.integers(5)), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action), f"illegal action {action!r}"
        return int(self.np_random.integers(5)), float(action == 4), True, False, {}


class Masked(Corridor):
    """Allows only action 1, by its action mask, and fails on any other."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        observation, _ = super().reset(seed=seed)
        return observation, {"action_mask": np.array([0, 1], dtype=np.int8)}

    def step(self, action: Any) -> Any:
        assert action == 1, "an illegal action was taken"
        *rest, _ = super().step(action)
        return (*rest, {"action_mask": np.array([0, 1], dtype=np.int8)})


class Faulty(Corridor):
    """Raises in the middle of an episode, after enough steps to be well under way."""

    made = 0

    def step(self, action: Any) -> Any:
        Faulty.made += 1
        if Faulty.made > 200:
            raise ValueError("the arm is off its rail")
        return super().step(action)


class Broken(gym.Env[Any, Any]):
    """Raises in its constructor."""

    def __init__(self) -> None:
        raise RuntimeError("no licence found")
