"""Evolution: ids for life, a lineage without loops, and the same outcome for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from arena_sdk.local.training.population import Population
from arena_sdk.local.training.spec import RunSpec, read_manifest
from arena_sdk.local.training.tasks import EvalReport, TrainReport

from .support import dqn, ppo

OBSERVATION = spaces.Box(-1, 1, (4,), np.float32)
ACTION = spaces.Discrete(2)


def spec_of(manifest: dict[str, Any], **changes: Any) -> RunSpec:
    manifest["tournament_selection"].update(changes)
    return read_manifest({"manifest": manifest})


def live(population: Population, generation: int, rng: np.random.Generator) -> None:
    """Let every member train and be evaluated, at random."""
    for record in population.members:
        report = TrainReport(
            slot=record.slot,
            member=record.member,
            steps=100,
            scores=[1.0],
            losses={"loss": 0.5},
            seconds=1.0,
            epsilon=0.5,
            stopped=False,
            hyperparameters=record.hyperparameters,
        )
        population.note_training(report)
        population.note_fitness(EvalReport(record.slot, float(rng.normal()), 1, 0))


@pytest.mark.parametrize("elitism", [True, False])
@pytest.mark.parametrize("manifest", [dqn, ppo])
def test_the_lineage_is_a_tree_and_ids_are_for_life(manifest: Any, elitism: bool) -> None:
    spec = spec_of(manifest(pop_size=4), elitism=elitism)
    population, rng = Population.first(spec, OBSERVATION, ACTION), np.random.default_rng(3)
    born: dict[int, tuple[int | None, str | None, int]] = {}
    for generation in range(1, 7):
        for record in population.members:
            facts = (record.parent, record.mutation, record.generation)
            assert born.setdefault(record.member, facts) == facts, "a member changed its origin"
            assert record.parent is None or record.parent < record.member
            assert record.parent is None or record.parent in born
        assert len({record.member for record in population.members}) == 4
        assert [record.slot for record in population.members] == [0, 1, 2, 3]
        assert set(population.agents) == {record.member for record in population.members}
        live(population, generation, rng)
        best, alive = population.best(), {record.member for record in population.members}
        population.evolve(generation)
        if elitism:
            assert population.members[best.slot].member == best.member
        newcomers = [r for r in population.members if r.member not in alive]
        assert len(newcomers) == (3 if elitism else 4)
        assert all(r.parent in alive and r.generation == generation + 1 for r in newcomers)
        assert all(r.steps == 100 * generation for r in population.members)
    assert sum(1 for parent, _, _ in born.values() if parent is None) == 4


def test_the_same_seed_evolves_the_same_population() -> None:
    outcomes = []
    for _ in range(2):
        spec = spec_of(dqn(pop_size=4))
        population, rng = Population.first(spec, OBSERVATION, ACTION), np.random.default_rng(3)
        for generation in range(1, 4):
            live(population, generation, rng)
            population.evolve(generation)
        outcomes.append(population.state())
    assert outcomes[0] == outcomes[1]
    assert any(m["mutation"] for m in outcomes[0]["members"])


def test_hyperparameters_stay_within_their_bounds() -> None:
    manifest = dqn(pop_size=4)
    manifest["mutation"]["probabilities"] = {"rl_hp_mut": 1.0}
    spec = spec_of(manifest)
    population, rng = Population.first(spec, OBSERVATION, ACTION), np.random.default_rng(0)
    seen = set()
    for generation in range(1, 9):
        live(population, generation, rng)
        population.evolve(generation)
        for record in population.members:
            assert 1e-4 <= record.hyperparameters["lr"] <= 1e-2
            assert 8 <= record.hyperparameters["batch_size"] <= 64
            seen.add(record.mutation)
    assert {"lr", "batch_size"} <= seen


def test_without_mutation_members_are_copies() -> None:
    manifest = dqn()
    manifest["mutation"]["probabilities"] = {"no_mut": 0.0, "arch_mut": 0.0}
    population = Population.first(spec_of(manifest), OBSERVATION, ACTION)
    live(population, 1, np.random.default_rng(0))
    population.evolve(1)
    assert all(record.mutation is None for record in population.members)
    assert len({record.member for record in population.members}) == 3


def test_one_member_stays_itself() -> None:
    population = Population.first(spec_of(dqn(pop_size=1)), OBSERVATION, ACTION)
    live(population, 1, np.random.default_rng(0))
    population.evolve(1)
    (record,) = population.members
    assert (record.member, record.mutation, record.effort.steps) == (0, None, 0)


def test_a_member_without_a_fitness_never_wins() -> None:
    population = Population.first(spec_of(dqn()), OBSERVATION, ACTION)
    for record, fitness in zip(population.members, (float("nan"), None, -5.0), strict=True):
        record.fitness = fitness
    assert population.best().member == 2


def test_its_state_brings_it_back() -> None:
    spec = spec_of(dqn())
    population = Population.first(spec, OBSERVATION, ACTION)
    live(population, 1, np.random.default_rng(1))
    again = Population.restored(spec, population.state(), dict(population.agents))
    assert again.state() == population.state()
    again.evolve(1)
    population.evolve(1)
    assert again.state() == population.state()


def test_losses_are_means_over_the_steps_of_a_generation() -> None:
    population = Population.first(spec_of(dqn()), OBSERVATION, ACTION)
    for steps, loss in ((100, 1.0), (300, 2.0)):
        report = TrainReport(0, 0, steps, [], {"loss": loss}, 1.0, 0.5, False)
        population.note_training(report)
    assert population.members[0].effort.losses == {"loss": pytest.approx(1.75)}
