"""The population: who is in which slot, who descends from whom, and what evolution makes of them.

A member keeps its id for life. Whoever is copied from another is a new member with a new id, the
id of its parent and the mutation that it got, so the lineage is a tree (a forest, with the first
generation for roots). The elite of a generation is not copied: it goes on as it is, in its slot.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from . import agents
from .agents import AgentState
from .seeds import Purpose, derive, seed_everything
from .selection import Replacement
from .spec import RunSpec, build_agent, build_mutations
from .tasks import EvalReport, TrainReport

if TYPE_CHECKING:
    from agilerl.algorithms.core import SingleAgentAlgorithm
    from agilerl.hpo.mutation import Mutations


SETTINGS = "hyperparameters of the elite"
"""What is changed in a member that comes from a faster subpopulation."""
DRAWS = 20
"""Mutations that are tried on an agent before it is left as it is."""


@dataclass
class Effort:
    """What a member has done so far in the present generation."""

    steps: int = 0
    seconds: float = 0.0
    scores: list[float] = field(default_factory=list)
    losses: dict[str, float] = field(default_factory=dict)
    """Mean of each loss, weighted by the steps of each piece of work."""


@dataclass
class MemberRecord:
    """One member, without its agent.

    Attributes:
        member: Its id.
        parent: Id of whom it was copied from; None in the first generation.
        mutation: What was changed in it at birth; None for a plain copy.
        slot: Its place.
        generation: The first generation that it trains in.
        steps: Environment steps of itself and, up to its birth, of its ancestors.
        episodes: Episodes likewise.
        epsilon: Present exploration.
        fitness: At its last evaluation; None before the first.
        hyperparameters: Those that evolution may change.
        effort: In the present generation.
        evaluation: Statistics of the last evaluation's episodes.
    """

    member: int
    parent: int | None
    mutation: str | None
    slot: int
    generation: int
    steps: int = 0
    episodes: int = 0
    epsilon: float = 1.0
    fitness: float | None = None
    hyperparameters: dict[str, float | int] = field(default_factory=dict)
    effort: Effort = field(default_factory=Effort)
    evaluation: dict[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float | None:
        """Mean return of the training episodes that ended in this generation."""
        return float(np.mean(self.effort.scores)) if self.effort.scores else None


class Population:
    """All members of the present generation.

    Attributes:
        members: By slot.
        agents: The last known agent of every member, by id.
        fresh: Ids whose slot does not hold them yet; their agents must be sent along.
        total_steps: Environment steps of all members there ever were.
    """

    def __init__(self, spec: RunSpec, members: list[MemberRecord], next_id: int) -> None:
        self.members = members
        self.agents: dict[int, AgentState] = {}
        self.fresh: set[int] = {record.member for record in members}
        self.total_steps = 0
        self._spec = spec
        self._next_id = next_id
        self._mutations = build_mutations(spec)

    @classmethod
    def first(cls, spec: RunSpec, observation_space: Any, action_space: Any) -> Population:
        """Build the first generation; with mutations on, each member begins with one."""
        start = spec.exploration.start
        records = [
            MemberRecord(slot, None, None, slot, 1, epsilon=start) for slot in range(spec.pop_size)
        ]
        population = cls(spec, records, next_id=spec.pop_size)
        for record in records:
            generator = seed_everything(derive(spec.seed, Purpose.BUILD, record.member))
            agent = build_agent(spec, observation_space, action_space, record.member)
            if population._mutations is not None and spec.pop_size > 1:
                agent = population._mutate(agent, generator, before_training=True)
                record.mutation = _mutation_of(agent)
            population._keep(record, agent)
        return population

    @classmethod
    def restored(
        cls, spec: RunSpec, state: Mapping[str, Any], states: dict[int, AgentState]
    ) -> Population:
        """Return the population that `state()` described."""
        records = [
            MemberRecord(**{**entry, "effort": Effort(**entry["effort"])})
            for entry in state["members"]
        ]
        population = cls(spec, records, int(state["next_id"]))
        population.total_steps = int(state["total_steps"])
        population.agents = states
        return population

    def state(self) -> dict[str, Any]:
        """Return everything but the agents, as JSON has it."""
        return {
            "members": [asdict(record) for record in self.members],
            "next_id": self._next_id,
            "total_steps": self.total_steps,
        }

    @property
    def steps(self) -> int:
        """Steps of the member that has made the most."""
        return max(record.steps for record in self.members)

    def best(self) -> MemberRecord:
        """Return the member of highest fitness; of highest score where none was evaluated."""
        return max(self.members, key=_rank)

    @property
    def mean_steps(self) -> int:
        """Mean of the members' steps: how far a generation that is under way has come."""
        return sum(record.steps for record in self.members) // len(self.members)

    def note_training(self, report: TrainReport) -> None:
        """Add a piece of work to the member's records."""
        record = self.members[report.slot]
        effort = record.effort
        weight = report.steps / max(1, effort.steps + report.steps)
        for name, mean in report.losses.items():
            before = effort.losses.get(name, mean)
            effort.losses[name] = before + (mean - before) * weight
        effort.steps += report.steps
        effort.seconds += report.seconds
        effort.scores.extend(report.scores)
        record.steps += report.steps
        record.episodes += len(report.scores)
        record.epsilon = report.epsilon
        record.hyperparameters = report.hyperparameters
        self.total_steps += report.steps
        self.fresh.discard(record.member)

    def note_fitness(self, report: EvalReport) -> None:
        """Note how a member did in its evaluation."""
        self.members[report.slot].fitness = report.fitness
        self.members[report.slot].evaluation = dict(report.statistics)

    def begin_generation(self) -> None:
        """Forget what was done in the generation before."""
        for record in self.members:
            record.effort = Effort()

    def evolve(self, generation: int) -> None:
        """Replace members by copies of better ones, as the run's selection says.

        Args:
            generation: The one that ended; the copies train from the next.
        """
        spec = self._spec
        generator = seed_everything(derive(spec.seed, Purpose.EVOLVE, generation))
        before, known = list(self.members), dict(self.agents)
        plan = spec.selection.plan(before, _rank, generation, generator)
        for slot, replacement in sorted(plan.items()):
            child = self._offspring(replacement, known, slot, generation + 1, generator)
            self.members[slot] = child
        alive = {record.member for record in self.members}
        self.agents = {m: agent for m, agent in self.agents.items() if m in alive}
        self.begin_generation()

    def _offspring(
        self,
        replacement: Replacement,
        known: dict[int, AgentState],
        slot: int,
        generation: int,
        generator: np.random.Generator,
    ) -> MemberRecord:
        """Put a copy of a member into a slot, mutated or with another's hyperparameters."""
        parent: MemberRecord = replacement.parent
        record = MemberRecord(
            member=self._next_id,
            parent=parent.member,
            mutation=None,
            slot=slot,
            generation=generation,
            steps=parent.steps,
            episodes=parent.episodes,
            epsilon=parent.epsilon,
            fitness=parent.fitness,
            hyperparameters=dict(parent.hyperparameters),
        )
        self._next_id += 1
        self.fresh.add(record.member)
        state = known[parent.member]
        if replacement.settings_of is not None:
            agent = agents.restore(state, record.member)
            agents.take_settings(agent, replacement.settings_of.hyperparameters)
            record.mutation = SETTINGS
            self._keep(record, agent)
            return record
        if self._mutations is None or not replacement.mutate:
            self.agents[record.member] = state
            return record
        agent = self._mutated(state, record.member, generator)
        record.mutation = _mutation_of(agent)
        if record.mutation is None:
            self.agents[record.member] = state
        else:
            self._keep(record, agent)
        return record

    def _mutated(
        self, state: AgentState, member: int, generator: np.random.Generator
    ) -> SingleAgentAlgorithm[Any]:
        """Return a mutated agent, drawing again where AgileRL cannot carry a mutation through.

        It changes the architecture of one network and looks for the like of that change in the
        others, in vain where their encoders are of different kinds (as of actor and critic of a
        team). A draw that was given up may have changed the agent, so each begins with a new one.
        """
        from agilerl.hpo.mutation import MutationError

        for _ in range(DRAWS):
            try:
                return self._mutate(agents.restore(state, member), generator)
            except MutationError:
                continue
        return agents.restore(state, member)

    def _mutate(
        self,
        agent: SingleAgentAlgorithm[Any],
        generator: np.random.Generator,
        *,
        before_training: bool = False,
    ) -> SingleAgentAlgorithm[Any]:
        """Return the agent after one of AgileRL's mutations, all drawn from one generator."""
        mutations: Mutations | None = self._mutations
        assert mutations is not None
        mutations.rng = generator
        mutations._fp_rng = generator
        for network in agent.evolvable_attributes(networks_only=True).values():
            network.rng = generator
            _sort_mutations(network)
        (mutated,) = mutations.mutation([agent], pre_training_mut=before_training)
        result: SingleAgentAlgorithm[Any] = mutated
        return result

    def _keep(self, record: MemberRecord, agent: SingleAgentAlgorithm[Any]) -> None:
        self.agents[record.member] = agents.dump(agent)
        record.hyperparameters = agents.hyperparameters(agent)


def _rank(record: MemberRecord) -> tuple[float, float]:
    """Return what members are compared by: fitness, then score; none and NaN are the lowest."""
    return _comparable(record.fitness), _comparable(record.score)


def _comparable(value: float | None) -> float:
    return -math.inf if value is None or math.isnan(value) else value


def _sort_mutations(network: Any) -> None:
    """Put a network's mutation methods in order.

    AgileRL lists a set of names, whose order differs from process to process, and draws from the
    list; only its private lists can be put in order.
    """
    for module in network.modules():
        for methods in ("_layer_mutation_methods", "_node_mutation_methods"):
            found = getattr(module, methods, None)
            if isinstance(found, list):
                found.sort()


def _mutation_of(agent: SingleAgentAlgorithm[Any]) -> str | None:
    name = agent.mut
    return None if name in (None, "None") else str(name)
