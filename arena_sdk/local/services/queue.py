"""Which run is trained next, and why the others wait.

Runs of higher priority go first. Among equals it is the turn of the project that holds the fewest
cores, then of the one that has had a turn longest ago, so that projects share a machine however
many runs each submits; within a project the older run goes first. Nobody is overtaken because it
needs more than is free: what it waits for comes free in the end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from arena_sdk.local.memory import default_limit_gb
from arena_sdk.local.run_options import RunOptions

MEMORY_GB = 1.0
"""GiB held for a run that does not say what it needs: a small population has that at most."""
NAMED = 3
"""Runs that a sentence names."""


@dataclass(frozen=True)
class Demand:
    """A run and what it needs.

    Attributes:
        experiment_id: The run.
        name: Its name.
        project: Its project's name.
        priority: Higher goes first.
        cpus: Cores that are held for it.
        memory_gb: GiB that are held for it.
    """

    experiment_id: int
    name: str
    project: str
    priority: int = 0
    cpus: int = 1
    memory_gb: float = MEMORY_GB

    @classmethod
    def of(cls, experiment_id: int, name: str, project: str, options: RunOptions) -> Demand:
        """Return what a run with these options needs."""
        memory = MEMORY_GB if options.memory_gb is None else options.memory_gb
        return cls(experiment_id, name, project, options.priority, options.cpus or 1, memory)


@dataclass(frozen=True)
class Capacity:
    """What runs may take of this machine: cores, and GiB of memory."""

    cpus: int
    memory_gb: float

    @classmethod
    def of_this_machine(cls, cpus: int | None = None, memory_gb: float | None = None) -> Capacity:
        """Return what is given, and of the rest what the machine has."""
        return cls(cpus or max(1, os.cpu_count() or 1), memory_gb or default_limit_gb())


class RunQueue:
    """Runs that wait and runs that are trained.

    Args:
        capacity: What they may take together. A run that needs more is trained alone.
    """

    def __init__(self, capacity: Capacity) -> None:
        self.capacity = capacity
        self._waiting: dict[int, Demand] = {}
        self._running: dict[int, Demand] = {}
        self._turns: dict[str, int] = {}

    def __contains__(self, experiment_id: int) -> bool:
        return experiment_id in self._waiting

    def __iter__(self) -> Iterator[int]:
        return iter(list(self._waiting))

    def add(self, demand: Demand) -> None:
        """Let a run wait."""
        self._waiting[demand.experiment_id] = demand

    def remove(self, experiment_id: int) -> bool:
        """Let a run wait no longer; return whether it did."""
        return self._waiting.pop(experiment_id, None) is not None

    def take(self) -> int | None:
        """Return the run that is next and may start now; it holds what it needs from then on."""
        following = min(self._waiting.values(), key=self._rank, default=None)
        if following is None or self._lacking(following) is not None:
            return None
        del self._waiting[following.experiment_id]
        self._running[following.experiment_id] = following
        self._turns[following.project] = max(self._turns.values(), default=0) + 1
        return following.experiment_id

    def release(self, experiment_id: int) -> None:
        """Let a run that has ended hold nothing more."""
        self._running.pop(experiment_id, None)

    def why_waiting(self, experiment_id: int) -> str | None:
        """Say in a sentence what a run waits for; None when it does not wait."""
        demand = self._waiting.get(experiment_id)
        if demand is None:
            return None
        rank = self._rank(demand)
        before = [d for d in sorted(self._waiting.values(), key=self._rank) if self._rank(d) < rank]
        first = before[0] if before else demand
        lack = self._lacking(first) or "It is about to start"
        if not before:
            return f"{lack}."
        count = "1 run goes" if len(before) == 1 else f"{len(before)} runs go"
        priority = f" (priority {first.priority})" if first.priority > demand.priority else ""
        lack = f"{lack[0].lower()}{lack[1:]}"
        return f"{count} before it, first {first.name}{priority}: {lack}."

    def _rank(self, demand: Demand) -> tuple[int, int, int, int]:
        held = sum(d.cpus for d in self._running.values() if d.project == demand.project)
        turn = self._turns.get(demand.project, 0)
        return (-demand.priority, held, turn, demand.experiment_id)

    def _lacking(self, demand: Demand) -> str | None:
        """Say what a run lacks to be started, if anything."""
        if not self._running:
            return None
        holders = _listed([d.name for d in self._running.values()])
        cpus = sum(d.cpus for d in self._running.values())
        if cpus + demand.cpus > self.capacity.cpus:
            needed = "a core" if demand.cpus == 1 else f"{demand.cpus} cores"
            return f"It waits for {needed}: {cpus} of {self.capacity.cpus} are held by {holders}"
        memory = sum(d.memory_gb for d in self._running.values())
        if memory + demand.memory_gb > self.capacity.memory_gb:
            return (
                f"It waits for {demand.memory_gb:.3g} GiB of memory: {memory:.3g} of"
                f" {self.capacity.memory_gb:.3g} are held by {holders}"
            )
        return None


def _listed(names: list[str]) -> str:
    shown = names[:NAMED]
    rest = len(names) - len(shown)
    if rest:
        return f"{', '.join(shown)} and {rest} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
