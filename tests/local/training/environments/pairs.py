"""Parallel environments of two agents: one whose steps are known, one that is quick to learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv


class Pair(ParallelEnv):
    """Each agent sees (agent, t) and gets 1 + its number a step; `second` leaves at `leaves`.

    The episode of `first` lasts `length` steps and ends by `end`.
    """

    metadata = {"name": "pair"}

    def __init__(self, length: int = 6, leaves: int = 3, end: str = "terminated") -> None:
        self.possible_agents = ["second", "first"]
        self._length, self._leaves, self._end = length, leaves, end

    def observation_space(self, agent: str) -> Any:
        return spaces.Box(0, 1e6, (2,), np.float32)

    def action_space(self, agent: str) -> Any:
        return spaces.Discrete(2)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents, self._t = list(self.possible_agents), 0
        return self._observe(), {agent: {} for agent in self.agents}

    def step(self, actions: Any) -> Any:
        assert set(actions) == set(self.agents)
        self._t += 1
        acting = list(self.agents)
        over = self._t >= self._length
        terminations = {
            "first": over and self._end == "terminated",
            "second": self._t == self._leaves,
        }
        truncations = {"first": over and self._end == "truncated", "second": False}
        rewards = {"first": 1.0, "second": 2.0}
        seen = self._observe()
        self.agents = [a for a in acting if not (terminations[a] or truncations[a])]
        part = {a: a for a in acting}
        return (
            {a: seen[a] for a in part},
            {a: rewards[a] for a in part},
            {a: terminations[a] for a in part},
            {a: truncations[a] for a in part},
            {a: {} for a in part},
        )

    def _observe(self) -> Any:
        return {
            agent: np.array([number + 1, self._t], dtype=np.float32)
            for number, agent in enumerate(self.possible_agents)
        }


class Signals(ParallelEnv):
    """Each agent is shown a number of three and is paid 1 a step for choosing the same.

    Ten steps; both return 20 together when they know it, chance 20 / 3. With `continuous` they are
    paid by how near to the number (of -0.5, 0, 0.5) they come.
    """

    metadata = {"name": "signals"}

    def __init__(self, continuous: bool = False) -> None:
        self.possible_agents = ["a_0", "b_0"]
        self._continuous = continuous

    def observation_space(self, agent: str) -> Any:
        return spaces.Box(0, 1, (3,), np.float32)

    def action_space(self, agent: str) -> Any:
        return spaces.Box(-1, 1, (1,), np.float32) if self._continuous else spaces.Discrete(3)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None or not hasattr(self, "_random"):
            self._random = np.random.default_rng(seed)
        self.agents, self._t = list(self.possible_agents), 0
        return self._observe(), {agent: {} for agent in self.agents}

    def step(self, actions: Any) -> Any:
        rewards = {agent: self._pay(agent, actions[agent]) for agent in self.agents}
        self._t += 1
        over = self._t >= 10
        ends, never = dict.fromkeys(self.agents, over), dict.fromkeys(self.agents, False)
        infos: dict[str, Any] = {agent: {} for agent in self.agents}
        self.agents = [] if over else self.agents
        return self._observe(), rewards, ends, never, infos

    def _pay(self, agent: str, action: Any) -> float:
        if self._continuous:
            return 1.0 - min(1.0, abs(float(action[0]) - 0.5 * (self._shown[agent] - 1)))
        return float(action == self._shown[agent])

    def _observe(self) -> Any:
        self._shown = {agent: int(self._random.integers(3)) for agent in self.possible_agents}
        return {a: np.eye(3, dtype=np.float32)[shown] for a, shown in self._shown.items()}
