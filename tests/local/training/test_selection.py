"""Selection: who is copied over whom, by tournament and by subpopulations at several paces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from arena_sdk.local.training.agents import restore
from arena_sdk.local.training.errors import TrainingError
from arena_sdk.local.training.population import SETTINGS, Population
from arena_sdk.local.training.selection import MultiFrequency, Tournament, read_selection
from arena_sdk.local.training.spec import read_manifest

from .support import dqn


@dataclass
class Known:
    slot: int
    fitness: float


def members(*fitness: float) -> list[Known]:
    return [Known(slot, value) for slot, value in enumerate(fitness)]


def plan_of(selection: Any, population: list[Known], generation: int = 1) -> dict[int, Any]:
    rng = np.random.default_rng(0)
    found = selection.plan(population, lambda m: m.fitness, generation, rng)
    return dict(found)


def test_all_but_the_elite_give_way_in_a_tournament() -> None:
    population = members(1, 5, 3)
    assert plan_of(Tournament(2, elitism=True), population).keys() == {0, 2}
    assert plan_of(Tournament(2, elitism=False), population).keys() == {0, 1, 2}
    every = plan_of(Tournament(200, elitism=False), population)
    assert {r.parent.slot for r in every.values()} == {1}
    assert all(r.mutate and r.settings_of is None for r in every.values())


def test_subpopulations_evolve_in_their_own_time() -> None:
    selection = MultiFrequency((1, 3), winners=1, survivors=0, open=1, losers=1)
    population = members(3, 2, 1, 9, 8, 7)
    assert plan_of(selection, population, 1).keys() == {1, 2}
    assert plan_of(selection, population, 3).keys() == {1, 2, 5}  # nobody better for slot 4
    loser, resident = plan_of(selection, population, 1)[2], plan_of(selection, population, 1)[1]
    assert (loser.parent.slot, loser.mutate) == (0, True)
    assert (resident.parent.slot, resident.mutate, resident.settings_of) == (3, False, None)


def test_who_comes_from_a_faster_subpopulation_takes_on_settings() -> None:
    selection = MultiFrequency((1, 3), winners=1, survivors=1, open=1, losers=1)
    found = plan_of(selection, members(90, 80, 70, 60, 5, 4, 3, 2), 3)
    assert (found[6].parent.slot, found[6].settings_of.slot) == (0, 4)
    assert found[7].parent.slot == 4
    assert 4 not in found
    assert 5 not in found


@pytest.mark.parametrize(
    ("section", "pop_size", "words"),
    [
        ({}, 7, "pop_size 7 cannot be divided into 2"),
        ({"n_winners": 2, "n_losers": 2}, 8, "asks for 2 winners, 0 survivors, 1 open"),
        ({"evolution_frequency_ratios": [5, 1]}, 8, "must be 2 increasing numbers"),
    ],
)
def test_populations_that_cannot_be_divided_are_refused(
    section: dict[str, Any], pop_size: int, words: str
) -> None:
    with pytest.raises(TrainingError, match=words):
        read_selection({"strategy": "multi_frequency", **section}, pop_size)


def test_brackets_are_a_quarter_where_the_manifest_leaves_them_open() -> None:
    found = read_selection({"strategy": "multi_frequency", "n_subpopulations": 3}, 24)
    assert found == MultiFrequency((1, 5, 10), winners=2, survivors=0, open=2, losers=4)


def test_members_keep_their_lineage_across_subpopulations() -> None:
    manifest = dqn(pop_size=8)
    manifest["tournament_selection"] = {
        "strategy": "multi_frequency",
        "evolution_frequency_ratios": [1, 2],
        "n_survivors": 1,
        "n_losers": 1,
    }
    spec = read_manifest({"manifest": manifest})
    population = Population.first(spec, spaces.Box(-1, 1, (4,), np.float32), spaces.Discrete(2))
    fitness = (90.0, 80.0, 70.0, 60.0, 5.0, 4.0, 3.0, 2.0)
    for record, value in zip(population.members, fitness, strict=True):
        record.fitness = value
    elite = population.members[4].hyperparameters
    population.evolve(2)
    migrant, child = population.members[6], population.members[7]
    assert (migrant.parent, migrant.mutation, migrant.hyperparameters) == (0, SETTINGS, elite)
    agent = restore(population.agents[migrant.member])
    assert agent.lr == elite["lr"]
    assert agent.optimizer.optimizer.param_groups[0]["lr"] == elite["lr"]
    assert child.parent == 4
    assert [record.member for record in population.members[:3]] == [0, 1, 2]
    assert {record.generation for record in (migrant, child)} == {3}
