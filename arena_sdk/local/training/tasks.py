"""What passes between the coordinator and the executor: plain values that can be pickled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .agents import AgentState
from .spec import RunSpec


@dataclass(frozen=True)
class Setup:
    """What an executor needs to know before the first generation.

    Attributes:
        spec: The run.
        environment: The environment reference that `make_env` takes.
        observation_space: Of one environment.
        action_space: Of one environment.
        vectorization: "sync" or "async".
        eval_limit: Steps after which an evaluation episode is cut off.
        seed_steps: Steps at which this process took up the run, part of environment seeds.
    """

    spec: RunSpec
    environment: dict[str, Any]
    observation_space: Any
    action_space: Any
    vectorization: str
    eval_limit: int
    seed_steps: int = 0


@dataclass(frozen=True)
class TrainTask:
    """One member's part of a generation, or what is left of it.

    Attributes:
        slot: The place in the population; it has environment copies and a replay buffer.
        member: Id of the member that is in it now.
        agent: The member itself; None when the slot holds it already.
        steps: Environment steps to train for.
        epsilon: Present exploration.
        seed: Of this piece of work.
    """

    slot: int
    member: int
    agent: AgentState | None
    steps: int
    epsilon: float
    seed: int


@dataclass
class TrainReport:
    """What came of a `TrainTask`.

    Attributes:
        steps: Environment steps made and learned from.
        scores: Returns of the episodes that ended: the member's own, or where there were none,
            those begun by the member that was in the slot before.
        losses: Mean of every loss by name; a loss of which there was none is absent.
        seconds: Wall time.
        stopped: It ended early because the run is being stopped.
        hyperparameters: Those that evolution may change.
        load: What it cost the system; see `load.measured`.
    """

    slot: int
    member: int
    steps: int
    scores: list[float]
    losses: dict[str, float]
    seconds: float
    epsilon: float
    stopped: bool
    hyperparameters: dict[str, float | int] = field(default_factory=dict)
    load: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class EvalTask:
    """The evaluation of the member in a slot, from given environment seeds."""

    slot: int
    seed: int


@dataclass
class EvalReport:
    """What came of an `EvalTask`.

    Attributes:
        fitness: Mean return of the deterministic policy; None when the run is being stopped.
        episodes: How many there were.
        cut_off: Episodes that the step limit ended.
        statistics: Of the episodes, by the name of the metric; see `evaluation.statistics`.
    """

    slot: int
    fitness: float | None
    episodes: int
    cut_off: int
    statistics: dict[str, float] = field(default_factory=dict)
