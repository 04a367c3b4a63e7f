"""From manifest to agents: what can be trained is built as asked, the rest is refused by name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml
from gymnasium import spaces

from arena_sdk.local.training.errors import TrainingError
from arena_sdk.local.training.spec import build_agent, build_mutations, read_manifest

from .support import dqn, ppo

VECTOR = spaces.Box(-1, 1, (4,), np.float32)
IMAGE = spaces.Box(0, 255, (12, 12, 3), np.uint8)
PARTS = spaces.Dict({"place": VECTOR, "view": IMAGE})
TWO = spaces.Discrete(2)

LUNAR_LANDER = """
algorithm: {name: DQN}
environment: {name: LunarLander-v3, num_envs: 16}
training: {max_steps: 1_000_000, target_score: 200.0, pop_size: 4, evo_steps: 10_000}
network:
  latent_dim: 128
  encoder_config: {hidden_size: [128], activation: ReLU}
  head_config: {hidden_size: [128], activation: ReLU}
replay_buffer: {max_size: 100_000}
mutation:
  probabilities:
    {no_mut: 0.4, arch_mut: 0.2, new_layer: 0.2, params_mut: 0.2, act_mut: 0.2, rl_hp_mut: 0.2}
  rl_hp_selection:
    lr: {min: 0.0000625, max: 0.01}
    batch_size: {min: 8, max: 512}
  mutation_sd: 0.1
  rand_seed: 42
tournament_selection: {tournament_size: 2, elitism: true}
"""


def without_network(manifest: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in manifest.items() if key != "network"}


def agent_of(manifest: dict[str, Any], observation: Any = VECTOR, action: Any = TWO) -> Any:
    return build_agent(read_manifest({"manifest": manifest}), observation, action, 5)


def test_the_lunar_lander_example_is_built_as_written() -> None:
    spec = read_manifest({"manifest": yaml.safe_load(LUNAR_LANDER)})
    assert (spec.num_envs, spec.evo_steps, spec.pop_size, spec.seed) == (16, 10_000, 4, 42)
    assert (spec.target_score, spec.buffer_size, spec.max_steps) == (200.0, 100_000, 1_000_000)
    agent = build_agent(spec, spaces.Box(-1, 1, (8,), np.float32), spaces.Discrete(4), 3)
    assert agent.index == 3
    assert agent.actor.latent_dim == 128
    assert sorted(agent.hp_config.names()) == ["batch_size", "lr"]
    assert agent.hp_config["lr"].min == 0.0000625
    mutations = build_mutations(spec)
    assert mutations is not None
    assert (mutations.no_mut, mutations.activation_mut, mutations.mutation_sd) == (0.4, 0.2, 0.1)


@pytest.mark.parametrize("make", [dqn, ppo])
@pytest.mark.parametrize(
    ("space", "encoder"),
    [(VECTOR, "EvolvableMLP"), (IMAGE, "EvolvableCNN"), (PARTS, "EvolvableMultiInput")],
)
def test_the_encoder_follows_from_the_observations(make: Any, space: Any, encoder: str) -> None:
    agent = agent_of(without_network(make()), space)
    assert type(agent.actor.encoder).__name__ == encoder


def test_an_encoder_is_built_as_the_manifest_says() -> None:
    manifest = dqn()
    manifest["network"] = {
        "encoder_config": {
            "arch": "cnn",
            "channel_size": [8],
            "kernel_size": [3],
            "stride_size": [1],
            "min_channel_size": 4,
        }
    }
    agent = agent_of(manifest, IMAGE)
    assert agent.actor.encoder.channel_size == [8]
    manifest["network"] = {
        "encoder_config": {"arch": "simba", "hidden_size": 32, "num_blocks": 1},
    }
    assert type(agent_of(manifest).actor.encoder).__name__ == "EvolvableSimBa"


def test_settings_have_agilerls_defaults_when_absent() -> None:
    spec = read_manifest({"manifest": {"algorithm": {"name": "DQN"}, "environment": {}}})
    assert (spec.num_envs, spec.evo_steps, spec.pop_size) == (1, 10_000, 1)
    assert (spec.exploration.start, spec.exploration.end, spec.exploration.decay) == (
        1,
        0.01,
        0.999,
    )
    assert build_mutations(spec) is None


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("training", "max_steps", 10**40),
        ("training", "pop_size", 10**6),
        ("environment", "num_envs", 10**6),
    ],
)
def test_runs_beyond_any_machine_are_refused(section: str, key: str, value: int) -> None:
    manifest = dqn()
    manifest[section][key] = value
    with pytest.raises(TrainingError, match=rf"^{section}\.{key} is .* at most"):
        read_manifest({"manifest": manifest})


def test_want_of_memory_is_told_as_such() -> None:
    from arena_sdk.local.training import host

    setup: Any = SimpleNamespace(environment={"id": "CartPole-v1"})
    for problem in (
        MemoryError("Unable to allocate 14.6 TiB"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried 9 bytes."),
    ):
        told = host.failure(problem, setup)
        assert told.message.startswith("The run needs more memory than this machine has (")
        assert told.error_code == "OUT_OF_MEMORY"


def test_other_spellings_mean_the_same() -> None:
    manifest = dqn()
    training = manifest["training"]
    training["population_size"] = training.pop("pop_size")
    training["metrics_interval"] = training.pop("evo_steps")
    manifest["replay_buffer"] = {"memory_size": 77}
    spec = read_manifest({"manifest": manifest})
    assert (spec.pop_size, spec.evo_steps, spec.buffer_size) == (3, 400, 77)


def test_the_jobs_own_budget_and_seed_come_first() -> None:
    spec = read_manifest({"manifest": dqn(), "max_steps": 99, "seed": 4})
    assert (spec.max_steps, spec.evo_steps, spec.seed) == (99, 99, 4)


def _with(section: str, **values: Any) -> dict[str, Any]:
    manifest = dqn()
    manifest.setdefault(section, {}).update(values)
    return manifest


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (_with("algorithm", name="GRPO"), "GRPO cannot be trained"),
        (
            {"algorithm": {"name": "IPPO"}, "training": {"sum_scores": False}},
            "training.sum_scores false is not offered on this Arena",
        ),
        (_with("environment", env_wrappers=["FlattenObservation"]), "environment.env_wrappers"),
        (
            _with("tournament_selection", strategy="multi_frequency"),
            "pop_size 3 cannot be divided into 2 subpopulations",
        ),
    ],
)
def test_what_cannot_be_trained_is_refused_by_name(manifest: dict[str, Any], words: str) -> None:
    with pytest.raises(TrainingError, match=words) as caught:
        read_manifest({"manifest": manifest})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("observation", "action"),
    [
        (VECTOR, spaces.Box(-1, 1, (1,), np.float32)),
        (spaces.Text(5), TWO),
        (spaces.Dict({"word": spaces.Text(5)}), TWO),
        (spaces.Dict({"deep": spaces.Dict({"er": VECTOR})}), TWO),
        (VECTOR, spaces.Dict({"move": TWO})),
    ],
)
def test_spaces_that_agilerl_cannot_train_on_are_one_sentence(
    observation: Any, action: Any
) -> None:
    with pytest.raises(TrainingError, match=r"DQN (agent for|cannot train)") as caught:
        agent_of(dqn(), observation, action)
    assert "\n" not in str(caught.value)


def test_settings_without_effect_are_said() -> None:
    manifest = ppo()
    manifest["replay_buffer"] = {"per_buffer": True}
    assert read_manifest({"manifest": manifest}).warnings == [
        "replay_buffer.per_buffer has no effect with AgileRL's PPO."
    ]
    manifest = ppo()
    manifest["mutation"]["probabilities"]["act_mut"] = 0.2
    spec = read_manifest({"manifest": manifest})
    assert "act_mut" in spec.warnings[0]
    mutations = build_mutations(spec)
    assert mutations is not None
    assert (mutations.activation_mut, mutations.no_mut) == (0.0, 0.4)
