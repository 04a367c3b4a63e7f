"""An environment that is learned in a moment: repeat the number that is shown."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

LENGTH = 10


class Echo(gym.Env[Any, Any]):
    """Ten steps, each paid 1 for the number of three that is shown; chance returns 10 / 3.

    With `continuous` the numbers are -0.5, 0 and 0.5 and nearness is paid; chance returns about 5.
    With `recall` the number is shown once, at the beginning, and stays the same.
    """

    def __init__(self, continuous: bool = False, recall: bool = False) -> None:
        self.observation_space = spaces.Box(0, 1, (3,), np.float32)
        self.action_space = (
            spaces.Box(-1, 1, (1,), np.float32) if continuous else spaces.Discrete(3)
        )
        self._continuous, self._recall = continuous, recall

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._t = 0
        return self._show(), {}

    def step(self, action: Any) -> Any:
        if self._continuous:
            distance = abs(float(action[0]) - 0.5 * (self._shown - 1))
            reward = 1.0 - min(1.0, 2 * distance)
        else:
            reward = float(action == self._shown)
        self._t += 1
        return self._show(), reward, self._t >= LENGTH, False, {}

    def _show(self) -> Any:
        if self._recall and self._t > 0:
            return np.zeros(3, np.float32)
        self._shown = int(self.np_random.integers(3))
        return np.eye(3, dtype=np.float32)[self._shown]
