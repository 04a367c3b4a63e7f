"""AgileRL agents as deterministic functions from a batch of observations to a batch of actions.

An agent's own `get_action` explores: DQN's draws a uniform number even at epsilon 0, and PPO's
always samples its distribution. Serving must do what the policy prefers, every time the same, so
each algorithm has one function here that uses the agent's own networks in evaluation mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces

from arena_sdk.local.training import observations
from arena_sdk.local.training.team import TeamSpace

from .codec import Observation

Array = npt.NDArray[Any]
Policy = Callable[[Observation, Any], Any]
"""(batched observation, action mask or None) to actions of shape (batch, *action_space.shape).

For several agents all three are dicts by agent, and an agent without a mask is left out of them.
"""


Hidden = dict[str, Array]
"""What a recurrent agent remembers, by network: float32, (layers, batch, size)."""
BANDITS = ("NeuralUCB", "NeuralTS")
"""Agents whose observation is a context for each arm."""


class UnsupportedAgent(ValueError):
    """The agent is of an algorithm that cannot be served here."""


def make_policy(agent: Any) -> Policy:
    """Return the deterministic policy of a loaded AgileRL agent, put in evaluation mode.

    Raises:
        UnsupportedAgent: No such function is known for its algorithm.
    """
    agent.set_training_mode(False)
    if is_recurrent(agent):
        return RecurrentPolicy(agent)
    kind = type(agent).__name__
    if kind not in _POLICIES:
        raise UnsupportedAgent(
            f"Agents of algorithm {agent.algo} cannot be served here; those of "
            f"{', '.join(_POLICIES)} can."
        )
    act = _POLICIES[kind]
    return lambda observation, mask: act(agent, observation, mask)


def _greedy_q(agent: Any, observation: Observation, mask: Array | None) -> Array:
    """Return the actions of highest value among the legal ones."""
    # The agent explores when a uniform draw of [0, 1) is not above epsilon. At epsilon 0 that is
    # still once in 2**24 draws; below 0 it is never.
    actions: Array = agent.get_action(observation, epsilon=-1.0, action_mask=mask)
    return actions


def _distribution_mode(agent: Any, observation: Observation, mask: Array | None) -> Array:
    """Return the most likely actions (the mean of a Gaussian) of the agent's distribution."""
    seen = agent.preprocess_observation(observation)
    return _mode(agent.actor, seen, mask, agent.action_space)


def _mode(actor: Any, seen: Any, mask: Array | None, space: spaces.Space[Any]) -> Array:
    """Return the most likely actions of one actor for preprocessed observations."""
    with torch.no_grad():
        latent = actor.extract_features(seen)
    return _mode_of_head(actor, latent, mask, space)


def _mode_of_head(actor: Any, latent: Any, mask: Array | None, space: spaces.Space[Any]) -> Array:
    """Return the most likely actions of one actor for what its encoder made of observations."""
    with torch.no_grad():
        actor.forward_head(latent, action_mask=mask, sample=False)
        distribution = actor.head_net.dist
    if isinstance(space, spaces.Box):
        return _gaussian_mean(actor, distribution, space)
    logits = distribution.logits
    if isinstance(space, spaces.Discrete):
        action = logits.argmax(dim=-1)
    elif isinstance(space, spaces.MultiDiscrete):
        parts = torch.split(logits, [int(n) for n in space.nvec.flat], dim=-1)
        action = torch.stack([part.argmax(dim=-1) for part in parts], dim=-1)
    else:  # MultiBinary: a choice is made when its probability is above a half
        action = (logits > 0).to(torch.int64)
    return np.asarray(action.cpu().numpy())


def _gaussian_mean(actor: Any, distribution: Any, space: spaces.Box) -> Array:
    mean = distribution.mu
    if actor.squash_output:
        mean = actor.scale_action(torch.tanh(mean))
    actions = mean.cpu().numpy().reshape(-1, *space.shape)
    return np.asarray(np.clip(actions, space.low, space.high), dtype=space.dtype)


def _without_noise(agent: Any, observation: Observation, mask: Array | None) -> Array:
    """Return the actions of highest expected value, by networks that are not noisy now."""
    return np.asarray(agent.get_action(observation, action_mask=mask, training=False))


def _deterministic(agent: Any, observation: Observation, mask: Array | None) -> Array:
    """Return the actor's actions within the environment's bounds, without exploration noise."""
    space = agent.action_space
    actions = agent.get_action(observation, training=False).reshape(-1, *space.shape)
    return np.asarray(np.clip(actions, space.low, space.high), dtype=space.dtype)


class RecurrentPolicy:
    """The policy of an agent that remembers, with the memory of the call before or a given one.

    Args:
        agent: A recurrent PPO agent.
    """

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._hidden: Hidden | None = None

    def begin(self) -> None:
        """Forget everything: an episode begins."""
        self._hidden = None

    def __call__(self, observation: Observation, mask: Any) -> Array:
        """Act on the next observation of the same episodes."""
        if self._hidden is None:
            self._hidden = self.blank(_rows(observation))
        actions, self._hidden = self.act(observation, mask, self._hidden)
        return actions

    def blank(self, batch: int) -> Hidden:
        """Return the memory at the beginning of episodes: by name, (layers, batch, size)."""
        state = self._agent.actor.initialize_hidden_state(batch_size=batch)
        return {name: np.asarray(part.cpu().numpy()) for name, part in state.items()}

    def act(self, observation: Observation, mask: Any, hidden: Hidden) -> tuple[Array, Hidden]:
        """Return the most likely actions and the memory to act on next time."""
        agent = self._agent
        state = {name: torch.from_numpy(np.array(part)) for name, part in hidden.items()}
        with torch.no_grad():
            seen = agent.preprocess_observation(observation)
            latent, after = agent.actor.extract_features(seen, hidden_state=state)
        actions = _mode_of_head(agent.actor, latent, mask, agent.action_space)
        return actions, {name: np.asarray(part.cpu().numpy()) for name, part in after.items()}


def _rows(observation: Observation) -> int:
    return len(observations.leaves(observation)[0])


def is_recurrent(agent: Any) -> bool:
    """Tell whether a loaded agent keeps a memory from step to step."""
    return bool(getattr(agent, "recurrent", False))


def _best_arm(agent: Any, observation: Observation, mask: Array | None) -> Array:
    """Return the arms of highest expected pay, of contexts (batch, arms, features)."""
    contexts = np.asarray(observation)
    rows = contexts.reshape(-1, contexts.shape[-1])
    with torch.no_grad():
        pay = agent.actor(agent.preprocess_observation(rows)).cpu().numpy()
    pay = pay.reshape(contexts.shape[0], contexts.shape[1])
    if mask is not None:
        pay = np.where(np.asarray(mask, dtype=np.bool_), pay, -np.inf)
    return np.asarray(pay.argmax(axis=1))


def _greedy_cqn(agent: Any, observation: Observation, mask: Array | None) -> Array:
    """Return the actions of highest value among the legal ones."""
    return np.asarray(agent.get_action(observation, epsilon=0.0, action_mask=mask))


def _team_mode(agent: Any, observation: Any, mask: Any) -> Any:
    """Return the most likely actions of several agents, by agent."""
    actions = {}
    for name, actor, seen in _team(agent, observation):
        legal = None if mask is None else mask.get(name)
        actions[name] = _mode(actor, seen, legal, agent.possible_action_spaces[name])
    return actions


def _team_deterministic(agent: Any, observation: Any, mask: Any) -> Any:
    """Return what the actors of several agents prefer, without any noise, by agent.

    The actor of a choice ends in a Gumbel softmax, which draws anew at every pass; what goes into
    it are the preferences themselves.
    """
    actions = {}
    for name, actor, seen in _team(agent, observation):
        space = agent.possible_action_spaces[name]
        output = _before_gumbel(actor, seen)
        if isinstance(space, spaces.Discrete):
            legal = None if mask is None else mask.get(name)
            if legal is not None:
                output = np.where(np.asarray(legal, dtype=np.bool_), output, -np.inf)
            actions[name] = output.argmax(axis=-1)
        else:
            scaled = actor.rescale_output_action(torch.from_numpy(output)).numpy()
            scaled = scaled.reshape(-1, *space.shape)
            actions[name] = np.asarray(np.clip(scaled, space.low, space.high), dtype=space.dtype)
    return actions


def _team(agent: Any, observation: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield each agent's id, actor and preprocessed observation."""
    for name in agent.agent_ids:
        network = name if name in agent.actors else agent.get_group_id(name)
        seen = agent.preprocess_observation({name: observation[name]}, [network])[network]
        yield name, agent.actors[network], seen


def _before_gumbel(actor: Any, seen: Any) -> Array:
    """Return an actor's output, (rows, numbers), less the drawing of a Gumbel softmax."""
    last = [m for m in actor.modules() if type(m).__name__ == "GumbelSoftmax"][-1:]
    inputs: list[torch.Tensor] = []
    hooks = [m.register_forward_pre_hook(lambda _m, given: inputs.append(given[0])) for m in last]
    try:
        with torch.no_grad():
            output = actor(seen)
    finally:
        for hook in hooks:
            hook.remove()
    return np.asarray((inputs[-1] if inputs else output).cpu().numpy())


def spaces_of(agent: Any) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
    """Return the observation and action spaces of a loaded agent; of several, one Dict each."""
    if type(agent).__name__ in BANDITS:
        context, arms = agent.observation_space, int(agent.action_space.n)
        low, high = float(context.low.min()), float(context.high.max())
        contexts = spaces.Box(low, high, (arms, *context.shape), np.float32)
        return contexts, agent.action_space
    if not is_team(agent):
        return agent.observation_space, agent.action_space
    return TeamSpace(list(agent.possible_observation_spaces.items())), TeamSpace(
        list(agent.possible_action_spaces.items())
    )


def is_team(agent: Any) -> bool:
    """Tell whether a loaded agent acts for several agents of an environment."""
    return hasattr(agent, "possible_action_spaces")


_POLICIES: dict[str, Callable[[Any, Observation, Any], Any]] = {
    "DQN": _greedy_q,
    "RainbowDQN": _without_noise,
    "DDPG": _deterministic,
    "TD3": _deterministic,
    "MADDPG": _team_deterministic,
    "MATD3": _team_deterministic,
    "IPPO": _team_mode,
    "NeuralUCB": _best_arm,
    "NeuralTS": _best_arm,
    "CQN": _greedy_cqn,
    "PPO": _distribution_mode,
}
"""How agents of each class of AgileRL's act when they do not explore."""
