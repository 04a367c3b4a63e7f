"""Several agents as one: PettingZoo parallel environments in the clothes of Gymnasium ones.

A `TeamEnv` observes and takes dicts by agent and returns the sum of their rewards, so that looking
at an environment, evaluating and playing need not know how many agents act in it. What learning
needs beyond that, each agent's own reward and end, is in `info` and in `TeamStep`.

All agents that may ever act are in every observation. One that is not (yet, or any longer) acting
observes zeros, gets nothing, and is done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from . import observations
from .observations import Batch
from .vectorize import Flags, Floats, MakeEnv, Step

REWARDS, DONES, MASKS = "team_rewards", "team_dones", "action_mask"
"""Keys of a `TeamEnv`'s info: arrays in the order of `agents`, and masks by agent."""


class TeamSpace(spaces.Dict):  # type: ignore[misc]
    """The spaces of all agents, in the order of the environment's `possible_agents`."""

    @property
    def agents(self) -> tuple[str, ...]:
        """Their ids."""
        return tuple(self.spaces)


@dataclass
class TeamStep(Step):
    """One step of all copies of a team's environment.

    `reward` is the sum over agents, `terminated` and `truncated` are of whole episodes.

    Attributes:
        rewards: float64, (copies, agents).
        dones: The agent's part ended in a terminal state, or it does not act; bool,
            (copies, agents).
    """

    rewards: Floats
    dones: Flags


def is_parallel(env: Any) -> bool:
    """Tell whether an environment is a PettingZoo parallel one."""
    return callable(getattr(env, "observation_space", None)) and hasattr(env, "possible_agents")


def as_one(env: Any) -> Any:
    """Return a parallel environment as a `TeamEnv`, and any other as it is."""
    return TeamEnv(env) if is_parallel(env) else env


class TeamEnv:
    """A parallel environment with the interface of a Gymnasium one.

    Args:
        env: A `pettingzoo.ParallelEnv`.
    """

    def __init__(self, env: Any) -> None:
        self._env = env
        self.agents = tuple(str(agent) for agent in env.possible_agents)
        self.observation_space = TeamSpace([(a, env.observation_space(a)) for a in self.agents])
        self.action_space = TeamSpace([(a, env.action_space(a)) for a in self.agents])
        self.metadata = getattr(env, "metadata", {})
        self.render_mode = getattr(env, "render_mode", None)
        self.spec = None
        self._absent = {
            agent: observations.map_leaves(observations.first_of(space), lambda leaf: leaf[0] * 0)
            for agent, space in self.observation_space.spaces.items()
        }

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        seen, infos = self._env.reset(seed=seed, options=options)
        dones = np.array([agent not in self._env.agents for agent in self.agents])
        return self._all(seen), self._info(infos, np.zeros(len(self.agents)), dones)

    def step(self, action: dict[str, Any]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act with every agent that still does.

        Returns:
            Observations by agent, the sum of rewards, whether all agents ended in a terminal
            state, whether the episode is over otherwise, and the info.
        """
        acting = list(self._env.agents)
        chosen = {agent: _scalar(action[agent]) for agent in acting}
        seen, rewards, terminations, truncations, infos = self._env.step(chosen)
        dones = np.array(
            [agent not in acting or bool(terminations.get(agent)) for agent in self.agents]
        )
        values = np.array([float(rewards.get(agent, 0.0)) for agent in self.agents])
        over = not self._env.agents or all(
            agent not in acting or terminations.get(agent) or truncations.get(agent)
            for agent in self.agents
        )
        terminated = bool(over and dones.all())
        info = self._info(infos, values, dones)
        return self._all(seen), float(values.sum()), terminated, over and not terminated, info

    def render(self) -> Any:
        """Return a frame."""
        return self._env.render()

    def close(self) -> None:
        """Close the environment."""
        self._env.close()

    def _all(self, seen: dict[str, Any]) -> dict[str, Any]:
        return {agent: seen.get(agent, self._absent[agent]) for agent in self.agents}

    def _info(self, infos: Any, rewards: Floats, dones: Flags) -> dict[str, Any]:
        info: dict[str, Any] = {REWARDS: rewards, DONES: dones}
        given = {a: (infos or {}).get(a, {}).get("action_mask") for a in self.agents}
        if any(mask is not None for mask in given.values()):
            info[MASKS] = {
                agent: np.ones(_choices(self.action_space[agent])) if mask is None else mask
                for agent, mask in given.items()
            }
        return info


class TeamVector:
    """Copies of a team's environment, stepped one after the other in this process.

    Args:
        make: Makes a `TeamEnv`.
        count: How many copies.
    """

    def __init__(self, make: MakeEnv, count: int) -> None:
        self.count = count
        self._envs = [make() for _ in range(count)]
        self._space: TeamSpace = self._envs[0].observation_space
        self._infos: list[dict[str, Any]] = [{}] * count

    def reset(self, seed: int | None) -> tuple[Batch, Any]:
        """Begin an episode in every copy; copy i gets seed + i."""
        first = []
        for i, env in enumerate(self._envs):
            obs, self._infos[i] = env.reset(seed=None if seed is None else seed + i)
            first.append(obs)
        return observations.stack(self._space, first), self._masks()

    def step(self, actions: dict[str, npt.NDArray[Any]]) -> TeamStep:
        """Act in every copy; finished ones are reset at once.

        Args:
            actions: By agent, first axis the copy.
        """
        results = [
            env.step({agent: chosen[i] for agent, chosen in actions.items()})
            for i, env in enumerate(self._envs)
        ]
        nexts, reward, terminated, truncated, infos = (
            list(part) for part in zip(*results, strict=True)
        )
        rewards = np.stack([info[REWARDS] for info in infos])
        dones = np.stack([info[DONES] for info in infos])
        next_obs = observations.stack(self._space, nexts)
        obs, ended = next_obs, np.flatnonzero(np.array(terminated) | np.array(truncated))
        self._infos = infos
        if ended.size:
            firsts = []
            for i in ended:
                first, self._infos[i] = self._envs[i].reset()
                firsts.append(first)
            begun = observations.stack(self._space, firsts)
            obs = observations.replace_rows(next_obs, ended, begun)
        return TeamStep(
            next_obs,
            obs,
            np.array(reward, dtype=np.float64),
            np.array(terminated, dtype=np.bool_),
            np.array(truncated, dtype=np.bool_),
            self._masks(),
            rewards,
            dones,
        )

    def close(self) -> None:
        """Close all copies; one that fails to close is no reason to fail."""
        for env in self._envs:
            try:
                env.close()
            except Exception as problem:
                print(f"An environment failed to close: {problem}", flush=True)

    def _masks(self) -> Any:
        """Return the action masks by agent, (copies, actions), or None."""
        if any(MASKS not in info for info in self._infos):
            return None
        masks = [info[MASKS] for info in self._infos]
        agents = self._space.agents
        return {agent: np.stack([np.asarray(mask[agent]) for mask in masks]) for agent in agents}


def as_infos(mask: Any) -> dict[str, dict[str, Any]] | None:
    """Return masks by agent as AgileRL's agents of several take them."""
    return None if mask is None else {agent: {"action_mask": m} for agent, m in mask.items()}


def _scalar(action: Any) -> Any:
    """Return an action as PettingZoo environments take it: a plain int where it is one number."""
    array = np.asarray(action)
    return int(array) if array.ndim == 0 and array.dtype.kind in "iu" else action


def _choices(space: Any) -> int:
    return int(space.n) if isinstance(space, spaces.Discrete) else int(np.sum(space.nvec))
