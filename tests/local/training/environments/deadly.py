"""An environment that ends its process, or fails, a given number of times."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Deadly(gym.Env[Any, Any]):
    """Episodes of ten steps; at its 80th step a copy dies, `times` times in all.

    Args:
        deaths: A folder in which each death leaves a file.
        times: How often.
        how: "kill" ends the process, "raise" raises.
    """

    def __init__(self, deaths: str, times: int, how: str = "kill") -> None:
        self.observation_space = spaces.Box(-1, 1, (2,), np.float32)
        self.action_space = spaces.Discrete(2)
        self._deaths, self._times, self._how = Path(deaths), times, how
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._steps += 1
        if self._steps == 80 and len(list(self._deaths.iterdir())) < self._times:
            (self._deaths / f"{os.getpid()}-{id(self)}").touch()
            if self._how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError("the camera was unplugged")
        return self._observation(), float(action), self._steps % 10 == 0, False, {}

    def _observation(self) -> Any:
        return self.np_random.uniform(-1, 1, 2).astype(np.float32)
