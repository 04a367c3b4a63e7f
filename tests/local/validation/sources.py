"""Sources of environments for tests: one that is sound, and ways to spoil it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

Report = dict[str, Any]

HEAD = """
import gymnasium as gym
import numpy as np
from gymnasium import spaces
"""

WALK = '''
class Walk(gym.Env):
    """A line of ten cells, walked to its right end."""

    metadata = {"render_modes": []}

    def __init__(self, size=10):
        self.size = size
        self.observation_space = spaces.Box(0.0, 1.0, (2,), np.float32)
        self.action_space = spaces.Discrete(2)

    def look(self):
        return np.array([self.at / self.size, self.steps / 50], np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.steps = int(self.np_random.integers(0, self.size - 1)), 0
        return self.look(), {}

    def step(self, action):
        self.at = min(max(self.at + (1 if action else -1), 0), self.size)
        self.steps += 1
        return self.look(), -0.1, self.at == self.size, self.steps >= 50, {}
'''

PAIR = """
import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv


class Pair(ParallelEnv):
    metadata = {"name": "pair"}

    def __init__(self):
        self.possible_agents = ["a", "b"]
        self.spaces = {agent: spaces.Box(0.0, 1.0, (1,), np.float32) for agent in "ab"}
        self.moves = {agent: spaces.Discrete(2) for agent in "ab"}

    def observation_space(self, agent):
        return self.spaces[agent]

    def action_space(self, agent):
        return self.moves[agent]

    def reset(self, seed=None, options=None):
        self.rng = np.random.default_rng(seed)
        self.agents = ["a", "b"]
        self.steps = 0
        return self.look(), {agent: {} for agent in self.agents}

    def look(self):
        return {agent: np.array([self.steps / 30], np.float32) for agent in self.agents}

    def step(self, actions):
        self.steps += 1
        agents = list(self.agents)
        observations = self.look()
        rewards = {agent: float(actions[agent]) for agent in agents}
        done = {agent: self.steps >= (10 if agent == "a" else 20) for agent in agents}
        never = {agent: False for agent in agents}
        self.agents = [agent for agent in agents if not done[agent]]
        return observations, rewards, done, never, {agent: {} for agent in agents}
"""


def walk(**replacements: str) -> str:
    """Return the sound environment with parts of it replaced: `old` spelt by keyword below."""
    text = HEAD + WALK
    for name, new in replacements.items():
        old = PARTS[name]
        assert old in text
        text = text.replace(old, new)
    return text


PARTS = {
    "imports": HEAD,
    "base": "(gym.Env)",
    "init": "    def __init__(self, size=10):\n",
    "space": "spaces.Box(0.0, 1.0, (2,), np.float32)",
    "actions": "spaces.Discrete(2)",
    "look": "        return np.array([self.at / self.size, self.steps / 50], np.float32)\n",
    "reset_head": (
        "    def reset(self, *, seed=None, options=None):\n        super().reset(seed=seed)\n"
    ),
    "start": "int(self.np_random.integers(0, self.size - 1))",
    "reset_return": "        return self.look(), {}\n",
    "step_head": "    def step(self, action):\n",
    "step_return": (
        "        return self.look(), -0.1, self.at == self.size, self.steps >= 50, {}\n"
    ),
}


def failures(report: Report) -> dict[str, str]:
    """Return the errors of the checks that failed, by name."""
    return {c["check"]: c["error"] for c in report["checks"] if not c["success"]}


def warnings(report: Report) -> dict[str, list[str]]:
    """Return the warnings, by check."""
    return {c["check"]: c["warnings"] for c in report["checks"] if c["warnings"]}


def write_source(folder: Path, text: str | dict[str, str]) -> Path:
    """Write a source tree: one `env.py`, or files by name."""
    files = {"env.py": text} if isinstance(text, str) else text
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(content))
    return folder


def returning(
    observation: str = "self.look()",
    reward: str = "-0.1",
    terminated: str = "self.at == self.size",
    truncated: str = "self.steps >= 50",
    info: str = "{}",
) -> str:
    """Return the sound environment with a part of what `step` returns replaced."""
    parts = f"{observation}, {reward}, {terminated}, {truncated}, {info}"
    return walk(step_return=f"        return {parts}\n")


def before_step(*lines: str) -> str:
    """Return the sound environment with lines at the start of `step`."""
    body = "".join(f"        {line}\n" for line in lines)
    return walk(step_head=f"    def step(self, action):\n{body}")


def at_start(*lines: str) -> str:
    """Return the sound environment with lines at the start of its constructor."""
    body = "".join(f"        {line}\n" for line in lines)
    return walk(init=f"    def __init__(self, size=10):\n{body}")
