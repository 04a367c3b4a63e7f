"""Which algorithm can be trained on what: one table, read without importing torch or AgileRL.

Submission refuses by it, validation reports by it which algorithms fit an environment, and the
engine chooses by it how to train. What it says of AgileRL is checked against AgileRL by a test
that builds, runs and teaches an agent for every combination.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

BOX, DISCRETE = "Box", "Discrete"
MULTI_DISCRETE, MULTI_BINARY = "MultiDiscrete", "MultiBinary"
PLAIN_SPACES = (BOX, DISCRETE, MULTI_DISCRETE, MULTI_BINARY)
COMPOSITE_SPACES = ("Dict", "Tuple")
IMAGE_DIMENSIONS = 3


class Family(StrEnum):
    """How an algorithm comes by what it learns from."""

    REPLAY = "replay"
    ROLLOUT = "rollout"
    BANDIT = "bandit"
    OFFLINE = "offline"


@dataclass(frozen=True)
class Algorithm:
    """What is known of one algorithm.

    Attributes:
        name: As a manifest has it.
        cls: Name of its class in `agilerl.algorithms`.
        family: How it comes by what it learns from.
        actions: Kinds of action space that AgileRL trains it on.
        observations: Kinds of observation space that it is trained on here.
        multi_agent: It trains all agents of a PettingZoo parallel environment together.
        masks: It keeps to `info["action_mask"]`.
        recurrent: It keeps a hidden state from step to step.
        greedy: It explores by the manifest's epsilon.
        noisy: It explores by noise on its actions.
        fixed_activations: AgileRL does not mutate its activation functions.
    """

    name: str
    cls: str
    family: Family
    actions: tuple[str, ...]
    observations: tuple[str, ...] = (*PLAIN_SPACES, *COMPOSITE_SPACES)
    multi_agent: bool = False
    masks: bool = False
    recurrent: bool = False
    greedy: bool = False
    noisy: bool = False
    fixed_activations: bool = False


_TABLE = (
    Algorithm("DQN", "DQN", Family.REPLAY, (DISCRETE,), masks=True, greedy=True),
    Algorithm("Rainbow DQN", "RainbowDQN", Family.REPLAY, (DISCRETE,), masks=True),
    Algorithm("DDPG", "DDPG", Family.REPLAY, (BOX,), noisy=True, fixed_activations=True),
    Algorithm("TD3", "TD3", Family.REPLAY, (BOX,), noisy=True, fixed_activations=True),
    Algorithm(
        "MADDPG",
        "MADDPG",
        Family.REPLAY,
        (BOX, DISCRETE),
        multi_agent=True,
        masks=True,
        noisy=True,
        fixed_activations=True,
    ),
    Algorithm(
        "MATD3",
        "MATD3",
        Family.REPLAY,
        (BOX, DISCRETE),
        multi_agent=True,
        masks=True,
        noisy=True,
        fixed_activations=True,
    ),
    Algorithm(
        "IPPO",
        "IPPO",
        Family.ROLLOUT,
        PLAIN_SPACES,
        multi_agent=True,
        masks=True,
        fixed_activations=True,
    ),
    Algorithm("NeuralUCB", "NeuralUCB", Family.BANDIT, (DISCRETE,)),
    Algorithm("NeuralTS", "NeuralTS", Family.BANDIT, (DISCRETE,)),
    Algorithm("CQN", "CQN", Family.OFFLINE, (DISCRETE,), (BOX,), masks=True),
    Algorithm(
        "Recurrent PPO",
        "RecurrentPPO",
        Family.ROLLOUT,
        PLAIN_SPACES,
        PLAIN_SPACES,
        masks=True,
        recurrent=True,
        fixed_activations=True,
    ),
    Algorithm("PPO", "PPO", Family.ROLLOUT, PLAIN_SPACES, masks=True, fixed_activations=True),
)
ALGORITHMS: dict[str, Algorithm] = {algorithm.name: algorithm for algorithm in _TABLE}
"""Every algorithm that is trained here, by the name that a manifest has."""


def agilerl_class(name: str) -> str:
    """Return the class in `agilerl.algorithms` for a manifest's name, or for that class itself."""
    return ALGORITHMS[name].cls if name in ALGORITHMS else name


def kind_of(space: Any) -> str:
    """Return what a space is called: the name of its class."""
    return type(space).__name__


def space_problem(name: str, observation: Any, action: Any) -> str | None:
    """Say why AgileRL cannot train an algorithm on these spaces, or None when it can.

    Args:
        name: The algorithm, of `ALGORITHMS`.
        observation: Space of one observation; of several agents, a mapping by agent.
        action: Space of one action; likewise.

    Returns:
        A sentence for each obstacle, of observations and of actions; they begin with the
        algorithm's name, and the last has no full stop at its end.
    """
    algorithm = ALGORITHMS[name]
    several = isinstance(action, dict)
    if several != algorithm.multi_agent:
        wants = "several agents" if algorithm.multi_agent else "one agent"
        return f"{name} trains {wants} and the environment has {_number(action)}"
    for agent, seen, done in _pairs(observation, action):
        of = f" of {agent}" if agent else ""
        found = [_seen_problem(algorithm, seen, of), _done_problem(algorithm, done, of)]
        told = [f"{name} {problem}" for problem in found if problem is not None]
        if told:
            return ". ".join(told)
    return None


def _seen_problem(algorithm: Algorithm, space: Any, of: str) -> str | None:
    """Say in a clause without its subject why an algorithm cannot observe a space."""
    if (problem := _observation_problem(space)) is not None:
        return f"cannot train on observations{of} of {problem}"
    if kind_of(space) in algorithm.observations:
        return None
    listed = ", ".join(algorithm.observations)
    return f"cannot train on observations{of} of {_short(space)}; it can on {listed}"


def _done_problem(algorithm: Algorithm, space: Any, of: str) -> str | None:
    """Say in a clause without its subject why an algorithm cannot act in a space."""
    if kind_of(space) not in algorithm.actions:
        listed = ", ".join(algorithm.actions)
        return f"cannot train on actions{of} of {_short(space)}; it can on {listed}"
    if kind_of(space) != DISCRETE and len(space.shape) != 1:
        return f"needs actions{of} in one dimension, unlike {_short(space)}"
    return None


def encoder_problem(arch: str | None, observation: Any, *, recurrent: bool = False) -> str | None:
    """Say why AgileRL cannot read an observation with an encoder, or None when it can.

    Args:
        arch: The manifest's `network.encoder_config.arch`; None leaves the choice to AgileRL.
        observation: Space of one observation.
        recurrent: The algorithm keeps a hidden state.
    """
    if arch is None:
        return None
    fitting = encoders_for(observation, recurrent=recurrent)
    if arch in fitting:
        return None
    with_state = " with a hidden state" if recurrent else ""
    return (
        f"network.encoder_config.arch {arch} cannot read observations of {_short(observation)}"
        f"{with_state}; use {' or '.join(fitting)}, or leave arch out"
    )


def encoders_for(observation: Any, *, recurrent: bool = False) -> tuple[str, ...]:
    """Return the values of `arch` that fit a space, AgileRL's own choice first."""
    if kind_of(observation) in COMPOSITE_SPACES:
        return ("multiinput",)
    image = kind_of(observation) == BOX and len(observation.shape) == IMAGE_DIMENSIONS
    if recurrent:
        return ("cnn_lstm",) if image else ("lstm",)
    return ("cnn",) if image else ("mlp", "simba")


def fitting_algorithms(observation: Any, action: Any) -> dict[str, str | None]:
    """Return for every algorithm None when it can be trained on the spaces, else why it cannot."""
    return {name: space_problem(name, observation, action) for name in ALGORITHMS}


def _pairs(observation: Any, action: Any) -> Iterator[tuple[str, Any, Any]]:
    if not isinstance(action, dict):
        yield "", observation, action
        return
    for agent in action:
        yield str(agent), observation[agent], action[agent]


def _number(action: Any) -> str:
    return f"{len(action)} agents" if isinstance(action, dict) else "one"


def _observation_problem(space: Any) -> str | None:
    """Name a space that no encoder of AgileRL reads and say why, or return None."""
    if kind_of(space) not in COMPOSITE_SPACES:
        return _part_problem(space, inside=False)
    content = space.spaces
    named = content.items() if isinstance(content, Mapping) else enumerate(content)
    for key, part in named:
        if kind_of(part) in COMPOSITE_SPACES:
            return (
                f"a {kind_of(part)} nested inside of a {kind_of(space)}, at {key!r}: AgileRL reads"
                " one level only; flatten it, as with gymnasium.wrappers.FlattenObservation"
            )
        if (problem := _part_problem(part, inside=True)) is not None:
            return f"{problem}, at {key!r} of a {kind_of(space)}"
    return None


def _part_problem(space: Any, *, inside: bool) -> str | None:
    """Name a space without parts and say why AgileRL cannot read it, or return None.

    Args:
        space: The space.
        inside: It is part of a Dict or Tuple.
    """
    kind = kind_of(space)
    dimensions = len(space.shape or ())
    if kind not in PLAIN_SPACES:
        why = f"the spaces that it can use are {', '.join(PLAIN_SPACES)}, and a Dict or Tuple of"
        return f"{_short(space)}: {why} them"
    if kind == BOX and dimensions not in ((0, 1, 3) if inside else (1, 3)):
        return f"{_short(space)}: a Box is a vector (one dimension) or an image (three); reshape it"
    if kind in (MULTI_DISCRETE, MULTI_BINARY) and dimensions != 1:
        return f"{_short(space)}: it has to have one dimension; flatten it"
    if kind == MULTI_BINARY and inside:
        return f"{_short(space)}: AgileRL reads it by itself only; make it a Box from 0 to 1"
    start = getattr(space, "start", 0)
    if any(int(first) != 0 for first in (start.flat if hasattr(start, "flat") else (start,))):
        return f"{_short(space)}: AgileRL counts from 0; subtract the start"
    return None


def _short(space: Any) -> str:
    text = str(space)
    return text if len(text) <= 80 else f"{text[:77]}..."
