"""Manifests to begin with, and networks that fit an observation space."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from arena_sdk.manifest import ManifestError, TrainingManifest, algorithms
from arena_sdk.manifest.starting import starting_text


@pytest.mark.parametrize("name", [*algorithms.NAMES, *algorithms.ALIASES])
def test_every_algorithm_has_defaults_that_are_valid(name: str) -> None:
    manifest = TrainingManifest.defaults_for(name)
    assert manifest.algorithm.name == algorithms.canonical(name)
    assert manifest.warnings == []


@pytest.mark.parametrize("name", algorithms.NAMES)
def test_a_starting_manifest_is_valid_and_says_what_its_fields_are(name: str) -> None:
    text = starting_text(name, "CartPole-v1")
    assert TrainingManifest.validate(text) == []
    assert text.count("#") > 10


@pytest.mark.parametrize(
    ("space", "arch"),
    [
        (gym.spaces.Box(-1, 1, (4,)), "mlp"),
        (gym.spaces.Discrete(5), "mlp"),
        (gym.spaces.Box(0, 255, (3, 84, 84), np.uint8), "cnn"),
        (gym.spaces.Dict({"a": gym.spaces.Box(0, 1, (2,))}), "multiinput"),
        (gym.spaces.Tuple([gym.spaces.Box(0, 1, (2,))]), "multiinput"),
        ({"type": "Box", "shape": [84, 84, 3]}, "cnn"),
        ({"type": "dict", "spaces": {}}, "multiinput"),
    ],
)
def test_the_network_fits_the_observations(space: Any, arch: str) -> None:
    manifest = TrainingManifest.defaults_for("PPO", observation_space=space)
    assert manifest.network.encoder_config.arch == arch


def test_an_unknown_algorithm_is_answered_with_the_closest() -> None:
    with pytest.raises(ManifestError, match=r"Did you mean 'Rainbow DQN'\?"):
        TrainingManifest.defaults_for("Rainbow DQNN")


def test_sections_are_typed() -> None:
    manifest = TrainingManifest.defaults_for("DQN")
    assert manifest.algorithm.lr == 1e-4
    assert manifest.training.evo_steps == 10_000
    assert manifest.environment.env_type == "gym"
    assert manifest.mutation.probabilities.no_mut == 1.0
    assert manifest.tournament_selection.tournament_size == 2
    assert manifest.network is None
    assert manifest.replay_buffer is None


def test_a_tournament_larger_than_the_population_is_advised_against() -> None:
    document = {
        "algorithm": {"name": "DQN"}, "environment": {"name": "CartPole-v1"},
        "training": {"pop_size": 1}, "tournament_selection": {"tournament_size": 20},
    }  # fmt: skip
    (found,) = TrainingManifest.load(document).warnings
    assert str(found) == (
        "tournament_selection.tournament_size: tournament_size (20) is above training.pop_size (1),"
        " so members are drawn more than once and the fittest wins nearly every place."
    )
    assert (found.kind, found.severity) == ("advice", "warning")
    document["tournament_selection"] = {"tournament_size": 2}
    assert TrainingManifest.load(document).warnings == []


@pytest.mark.parametrize("name", ["DQN", "PPO", "GRPO"])
def test_a_manifest_to_begin_with_writes_every_kind_of_mutation(name: str) -> None:
    from arena_sdk.manifest.mutation import MutationProbabilities
    from arena_sdk.manifest.source import parse

    written = parse(starting_text(name, "CartPole-v1")).document["mutation"]["probabilities"]
    assert list(written) == list(MutationProbabilities.model_fields)
