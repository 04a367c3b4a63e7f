"""An environment whose step costs 10 ms, of computing or of waiting for something elsewhere."""

from __future__ import annotations

import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

STEP_SECONDS = 0.010
EPISODE_STEPS = 50


class Costly(gymnasium.Env[Any, Any]):
    """A point to keep near the middle.

    Args:
        waits: Wait for the time of a step instead of using the processor for it.
    """

    def __init__(self, waits: bool = False) -> None:
        self.observation_space = spaces.Box(-1.0, 1.0, (4,), np.float32)
        self.action_space = spaces.Discrete(2)
        self._waits = waits
        self._state = np.zeros(4, dtype=np.float32)
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin at random."""
        super().reset(seed=seed)
        self._steps = 0
        self._state = self.np_random.uniform(-0.5, 0.5, 4).astype(np.float32)
        return self._state.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Move the point by the action."""
        self._cost()
        self._steps += 1
        self._state[0] = np.clip(self._state[0] + (0.1 if action else -0.1), -1.0, 1.0)
        ended = self._steps >= EPISODE_STEPS
        return self._state.copy(), 1.0 - float(abs(self._state[0])), False, ended, {}

    def _cost(self) -> None:
        if self._waits:
            time.sleep(STEP_SECONDS)
            return
        until = time.thread_time() + STEP_SECONDS
        while time.thread_time() < until:
            pass
