"""How agents that learn by replay choose what to try, and what of it they learn from.

An algorithm may learn from another action than the environment gets: DDPG's critic is taught the
actor's own output, between -1 and 1, and the environment gets it stretched to its bounds.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces

from .catalogue import ALGORITHMS
from .observations import Batch
from .spec import Exploration, RunSpec
from .team import TeamSpace, as_infos
from .vectorize import Step

Array = npt.NDArray[Any]


class Explorer(Protocol):
    """Chooses the actions of training."""

    epsilon: float

    def act(self, obs: Batch, mask: Any) -> tuple[Any, Any]:
        """Return the action to learn from and the one for the environment, of every copy."""

    def note(self, step: Step) -> None:
        """Take note of the episodes that a step ended."""


def make_explorer(agent: Any, spec: RunSpec, epsilon: float) -> Explorer:
    """Return how an agent explores.

    Args:
        agent: Of the spec's algorithm.
        spec: The run.
        epsilon: Present chance of a random action, for those that explore by it.
    """
    algorithm = ALGORITHMS[spec.algorithm]
    if algorithm.multi_agent:
        return TeamNoise(agent, epsilon)
    if algorithm.noisy:
        return ActionNoise(agent, epsilon)
    if algorithm.greedy:
        return EpsilonGreedy(agent, spec.exploration, epsilon)
    return NoisyNetworks(agent, epsilon)


def learned_action_space(name: str, space: spaces.Space[Any]) -> spaces.Space[Any]:
    """Return the space of the actions that an algorithm learns from.

    Args:
        name: The algorithm, of the catalogue.
        space: The environment's action space.
    """
    if isinstance(space, TeamSpace):
        return TeamSpace([(a, learned_action_space(name, part)) for a, part in space.items()])
    if not ALGORITHMS[name].noisy:
        return space
    shape = (int(space.n),) if isinstance(space, spaces.Discrete) else space.shape
    return spaces.Box(-1.0, 1.0, shape, np.float32)


class EpsilonGreedy:
    """A random action with chance epsilon, which decays at every step of the copies together."""

    def __init__(self, agent: Any, exploration: Exploration, epsilon: float) -> None:
        self.epsilon = epsilon
        self._agent = agent
        self._exploration = exploration

    def act(self, obs: Batch, mask: Any) -> tuple[Array, Array]:
        """Return the agent's choice twice."""
        action = self._agent.get_action(obs, epsilon=self.epsilon, action_mask=mask)
        self.epsilon = max(self._exploration.end, self.epsilon * self._exploration.decay)
        return action, action

    def note(self, step: Step) -> None:
        """Nothing depends on episodes."""


class NoisyNetworks:
    """The agent's own networks are noisy in training, so their best action explores."""

    def __init__(self, agent: Any, epsilon: float) -> None:
        self.epsilon = epsilon
        self._agent = agent

    def act(self, obs: Batch, mask: Any) -> tuple[Array, Array]:
        """Return the agent's choice twice."""
        action = np.asarray(self._agent.get_action(obs, action_mask=mask))
        return action, action

    def note(self, step: Step) -> None:
        """Nothing depends on episodes."""


class ActionNoise:
    """Noise is added to a deterministic action; that of a copy starts afresh with its episode."""

    def __init__(self, agent: Any, epsilon: float) -> None:
        self.epsilon = epsilon
        self._agent = agent

    def act(self, obs: Batch, mask: Any) -> tuple[Array, Array]:
        """Return the noisy output of the actor, and the same within the environment's bounds."""
        agent = self._agent
        raw = np.asarray(agent.get_action(obs), dtype=np.float32)
        return raw, within_bounds(agent, raw)

    def note(self, step: Step) -> None:
        """Let the noise of finished copies start afresh."""
        ended = np.flatnonzero(step.terminated | step.truncated)
        if ended.size:
            self._agent.reset_action_noise(ended)


class TeamNoise:
    """Noise is added to what every agent's actor prefers; of a choice, to all its preferences."""

    def __init__(self, agent: Any, epsilon: float) -> None:
        self.epsilon = epsilon
        self._agent = agent

    def act(self, obs: Batch, mask: Any) -> tuple[dict[str, Array], dict[str, Array]]:
        """Return the noisy outputs of the actors, and the actions that they mean, by agent."""
        actions, raw = self._agent.get_action(obs, infos=as_infos(mask))
        return raw, {agent: np.asarray(action) for agent, action in actions.items()}

    def note(self, step: Step) -> None:
        """Let the noise of finished copies start afresh."""
        ended = np.flatnonzero(step.terminated | step.truncated)
        if ended.size:
            self._agent.reset_action_noise(ended.tolist())


def within_bounds(agent: Any, raw: Array) -> Array:
    """Return an actor's output stretched to the bounds of the environment's actions."""
    scaled = agent.actor.rescale_output_action(torch.from_numpy(raw))
    return np.asarray(scaled.numpy())
