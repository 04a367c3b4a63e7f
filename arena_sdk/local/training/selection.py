"""Who is copied over whom between two generations: tournaments, or several frequencies at once.

A plan says for every slot whether its member goes on or who takes its place. Nothing is copied or
mutated here. Multi-frequency selection is that of Doulazmi et al., "Multiple-Frequencies
Population-Based Training", which AgileRL has for whole agents at hand; here members are only known
by their records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np

from .errors import TrainingError


class Ranked(Protocol):
    """What is known of a member."""

    slot: int


Member = TypeVar("Member", bound=Ranked)
Rank = Callable[[Any], Any]


@dataclass(frozen=True)
class Replacement:
    """What takes a member's place.

    Attributes:
        parent: Who is copied.
        mutate: Whether the copy is mutated.
        settings_of: Whose hyperparameters the copy takes on; None leaves it the parent's.
    """

    parent: Any
    mutate: bool
    settings_of: Any = None


@dataclass(frozen=True)
class Tournament:
    """Every member but the elite gives way to the best of some drawn with replacement."""

    size: int
    elitism: bool

    def plan(
        self, members: Sequence[Member], rank: Rank, generation: int, rng: np.random.Generator
    ) -> dict[int, Replacement]:
        """Return who is replaced, by slot, after a generation."""
        elite = max(members, key=rank) if self.elitism else None
        plan = {}
        for member in members:
            if member is not elite:
                drawn = rng.integers(0, len(members), size=self.size)
                parent = max((members[i] for i in drawn), key=rank)
                plan[member.slot] = Replacement(parent, mutate=True)
        return plan


@dataclass(frozen=True)
class MultiFrequency:
    """Subpopulations that evolve at frequencies of their own and let better strangers in.

    Slots are divided among the subpopulations in order. One of ratio r evolves after every r-th
    generation: its losers give way to mutated copies of winners of its own, its open members to
    better ones of other subpopulations, who keep their hyperparameters unless they come from a
    faster one, whose are too greedy.

    Attributes:
        ratios: After how many generations each subpopulation evolves; increasing.
        winners: Members that are copied over losers.
        survivors: Members that go on untouched.
        open: Members that better strangers may replace.
        losers: Members that are replaced.
    """

    ratios: tuple[int, ...]
    winners: int
    survivors: int
    open: int
    losers: int

    def plan(
        self, members: Sequence[Member], rank: Rank, generation: int, rng: np.random.Generator
    ) -> dict[int, Replacement]:
        """Return who is replaced, by slot, after a generation."""
        size = len(members) // len(self.ratios)
        plan: dict[int, Replacement] = {}
        for number, ratio in enumerate(self.ratios):
            if generation % ratio:
                continue
            own = [m for m in members if m.slot // size == number]
            ranked = sorted(own, key=rank, reverse=True)
            winners = ranked[: self.winners]
            first_open = self.winners + self.survivors
            for loser in ranked[first_open + self.open :]:
                parent = winners[int(rng.integers(len(winners)))]
                plan[loser.slot] = Replacement(parent, mutate=True)
            strangers = sorted(
                (m for m in members if m.slot // size != number), key=rank, reverse=True
            )
            waiting = iter(strangers)
            stranger = next(waiting, None)
            for resident in ranked[first_open : first_open + self.open]:
                if stranger is None or rank(resident) >= rank(stranger):
                    continue
                faster = self.ratios[stranger.slot // size] < ratio
                elite = winners[0] if faster else None
                plan[resident.slot] = Replacement(stranger, mutate=False, settings_of=elite)
                stranger = next(waiting, None)
        return plan


def read_selection(section: dict[str, Any], pop_size: int) -> Tournament | MultiFrequency:
    """Return the strategy of a manifest's selection section.

    Args:
        section: `tournament_selection`.
        pop_size: Members of the population.

    Raises:
        TrainingError: The population cannot be divided as asked for.
    """
    if section.get("strategy", "tournament") == "tournament":
        elitism = bool(section.get("elitism", True))
        return Tournament(int(section.get("tournament_size", 2)), elitism)
    count = int(section.get("n_subpopulations", 2))
    size = pop_size // count
    if pop_size % count or size < 3:
        raise TrainingError(
            f"training.pop_size {pop_size} cannot be divided into {count} subpopulations of at "
            "least 3 members each, as multi-frequency selection needs.",
            "UNSUPPORTED",
        )
    quarter = max(1, round(0.25 * size))
    winners = int(section.get("n_winners") or quarter)
    survivors = int(section.get("n_survivors") or 0)
    free = int(section.get("n_open_for_migration") or quarter)
    losers = int(section.get("n_losers") or size - winners - survivors - free)
    if losers < 1 or winners + survivors + free + losers != size:
        raise TrainingError(
            f"A subpopulation has {size} members; tournament_selection asks for {winners} winners, "
            f"{survivors} survivors, {free} open for migration and {losers} losers.",
            "UNSUPPORTED",
        )
    default = (1, *(5 * number for number in range(1, count)))
    ratios = tuple(int(r) for r in section.get("evolution_frequency_ratios") or default)
    if len(ratios) != count or any(a >= b for a, b in pairwise(ratios)):
        raise TrainingError(
            f"tournament_selection.evolution_frequency_ratios {list(ratios)} must be {count} "
            "increasing numbers.",
            "UNSUPPORTED",
        )
    return MultiFrequency(ratios, winners, survivors, free, losers)
