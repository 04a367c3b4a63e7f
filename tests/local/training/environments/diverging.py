"""An environment whose rewards end in no finite number."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Diverging(gym.Env[Any, Any]):
    """Gives `reward` at every step of episodes of ten steps."""

    def __init__(self, reward: str = "nan") -> None:
        self.observation_space = spaces.Box(-1, 1, (2,), np.float32)
        self.action_space = spaces.Discrete(2)
        self._reward = float(reward)
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._steps = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._steps += 1
        return np.zeros(2, np.float32), self._reward, self._steps >= 10, False, {}
