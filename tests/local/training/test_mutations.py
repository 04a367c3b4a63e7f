"""Every kind of mutation on every algorithm: what comes of it still acts, within its bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from arena_sdk.local.serving.policy import make_policy, spaces_of
from arena_sdk.local.training import observations
from arena_sdk.local.training.agents import restore
from arena_sdk.local.training.catalogue import ALGORITHMS, BOX, Family
from arena_sdk.local.training.population import Population
from arena_sdk.local.training.spec import RunSpec, read_manifest
from arena_sdk.local.training.vectorize import make_adapter

VECTOR = spaces.Box(-1, 1, (4,), np.float32)
KINDS = {
    "arch_mut": ("encoder.", "head_net.", "latent_node", "add_", "remove_"),
    "params_mut": ("param",),
    "act_mut": ("act",),
    "rl_hp_mut": ("lr", "batch_size"),
}
ALONE = [name for name, known in ALGORITHMS.items() if not known.multi_agent]


def spec_of(name: str, kind: str) -> RunSpec:
    rate = "lr_actor" if ALGORITHMS[name].noisy else "lr"
    probabilities = {"no_mut": 0.0, "arch_mut": 0.0, "params_mut": 0.0, "rl_hp_mut": 0.0, kind: 1.0}
    selection = {rate: {"min": 0.0005, "max": 0.002}, "batch_size": {"min": 8, "max": 16}}
    manifest = {
        "algorithm": {"name": name, "batch_size": 12, rate: 0.001, "learn_step": 16},
        "environment": {"name": "any", "num_envs": 2},
        "training": {"pop_size": 2},
        "network": {
            "latent_dim": 16,
            "min_latent_dim": 8,
            "max_latent_dim": 32,
            **({} if ALGORITHMS[name].recurrent else {"encoder_config": {"hidden_size": [16]}}),
            "head_config": {"hidden_size": [16]},
        },
        "mutation": {"probabilities": probabilities, "rl_hp_selection": selection, "rand_seed": 4},
    }
    return read_manifest({"manifest": manifest})


def spaces_for(name: str) -> tuple[Any, Any]:
    known = ALGORITHMS[name]
    seen = spaces.Box(-1, 1, (3, 6), np.float32) if known.family is Family.BANDIT else VECTOR
    box = spaces.Box(-2, 2, (2,), np.float32)
    return seen, box if known.actions == (BOX,) else spaces.Discrete(3)


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize("kind", KINDS)
def test_mutants_act_and_keep_to_their_bounds(name: str, kind: str) -> None:
    spec = spec_of(name, kind)
    population = Population.first(spec, *spaces_for(name))
    for record in population.members:
        record.fitness = float(record.member)
    population.evolve(1)
    for record in population.members:
        values = record.hyperparameters
        assert 8 <= values["batch_size"] <= 16
        assert all(0.0005 <= v <= 0.002 for key, v in values.items() if key.startswith("lr"))
        agent = restore(population.agents[record.member])
        assert 8 <= agent.actor.latent_dim <= 32
        observation_space, action_space = spaces_of(agent)
        batch = observations.stack(observation_space, [observation_space.sample()] * 3)
        actions = make_adapter(action_space)(make_policy(agent)(batch, None))
        assert all(action_space.contains(one) for one in actions)
    born = [record for record in population.members if record.parent is not None]
    if kind == "act_mut" and ALGORITHMS[name].fixed_activations:
        assert all(record.mutation is None for record in born)
    else:
        told = {str(record.mutation) for record in born}
        assert any(word in mutation for mutation in told for word in KINDS[kind]), told
