"""Which members go on to the next generation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

from arena_sdk.manifest.base import Fault, Named, about, fault


class Tournament(Named):
    """Every place goes to the fittest of a few members drawn at random."""

    strategy: Literal["tournament"] = about("Kind of selection: `tournament`.", "tournament")
    tournament_size: int = about("Members drawn for one place.", 2, ge=1)
    elitism: bool = about("The fittest member always goes on unchanged.", True)


class MultiFrequency(Named):
    """Subpopulations that evolve at frequencies of their own and exchange members."""

    strategy: Literal["multi_frequency"] = about(
        "Kind of selection: `multi_frequency`.", "multi_frequency"
    )
    n_subpopulations: int = about("Subpopulations of equal size.", 2, ge=2)
    n_winners: int | None = about("Members of each that are copied.", None, ge=1)
    n_survivors: int | None = about("Members of each that go on as they are.", None, ge=0)
    n_open_for_migration: int | None = about("Places of each for members of others.", None, ge=1)
    n_losers: int | None = about("Members of each that winners replace.", None, ge=1)
    evolution_frequency_ratios: list[int] | None = about(
        "Generations between two selections, for each subpopulation.", None
    )

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rules of the frequencies."""
        yield from super().faults()
        ratios, here = self.evolution_frequency_ratios, ("evolution_frequency_ratios",)
        if not ratios:
            return
        if len(ratios) != self.n_subpopulations:
            yield fault(f"{len(ratios)} ratios for {self.n_subpopulations} subpopulations.", *here)
        if any(ratio < 1 for ratio in ratios):
            yield fault("Every ratio must be at least 1.", *here)
        elif any(first >= second for first, second in pairwise(ratios)):
            yield fault("The ratios must grow from one subpopulation to the next.", *here)

    def frequencies(self) -> list[int]:
        """Return the ratios, or those of a section that has none: 1, 5, 10, 15 and so on."""
        later = [5 * index for index in range(1, self.n_subpopulations)]
        return self.evolution_frequency_ratios or [1, *later]

    def brackets(self, pop_size: int) -> dict[str, int] | str:
        """Fill in how many members of a subpopulation win, survive, migrate and lose.

        Returns:
            The four numbers, or a sentence that says why there are none.
        """
        groups = self.n_subpopulations
        if pop_size < 6:
            return f"multi_frequency needs training.pop_size of at least 6; it is {pop_size}."
        if pop_size % groups:
            return (
                f"training.pop_size ({pop_size}) must be a multiple of n_subpopulations ({groups})."
            )
        size = pop_size // groups
        if size < 3:
            return (
                f"{groups} subpopulations of {size} are too small; each needs at least 3 members,"
                f" so training.pop_size of {3 * groups}."
            )
        share = max(1, round(size / 4))
        winners = share if self.n_winners is None else self.n_winners
        survivors = 0 if self.n_survivors is None else self.n_survivors
        migrants = share if self.n_open_for_migration is None else self.n_open_for_migration
        rest = size - winners - survivors - migrants
        losers = rest if self.n_losers is None else self.n_losers
        if losers < 1:
            return f"No place is left for losers in a subpopulation of {size}."
        if losers != rest:
            total = winners + survivors + migrants + losers
            return (
                f"n_winners, n_survivors, n_open_for_migration and n_losers are {total} together;"
                f" they must be {size}, the size of a subpopulation."
            )
        return {
            "n_winners": winners, "n_survivors": survivors, "n_open_for_migration": migrants,
            "n_losers": losers,
        }  # fmt: skip
