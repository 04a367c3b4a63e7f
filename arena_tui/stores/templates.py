"""Manifests to begin with, one an algorithm: small, and good for the environment that is named."""

from __future__ import annotations

DQN = """\
algorithm:
  name: DQN

environment:
  name: CartPole-v1
  num_envs: 8

training:
  max_steps: 20_000
  target_score: 475.0
  pop_size: 4
  evo_steps: 2_000

network:
  latent_dim: 64
  encoder_config:
    hidden_size: [64]
  head_config:
    hidden_size: [64]

replay_buffer:
  max_size: 20_000

mutation:
  probabilities:
    no_mut: 0.4
    params_mut: 0.2
    rl_hp_mut: 0.4
  rl_hp_selection:
    lr:
      min: 0.0001
      max: 0.01
    batch_size:
      min: 16
      max: 128
  mutation_sd: 0.1
  rand_seed: 42

tournament_selection:
  tournament_size: 2
  elitism: true
"""

PPO = """\
algorithm:
  name: PPO

environment:
  name: CartPole-v1
  num_envs: 8

training:
  max_steps: 50_000
  target_score: 475.0
  pop_size: 4
  evo_steps: 5_000

network:
  latent_dim: 64
  encoder_config:
    hidden_size: [64]
  head_config:
    hidden_size: [64]

mutation:
  probabilities:
    no_mut: 0.4
    params_mut: 0.2
    rl_hp_mut: 0.4
  rl_hp_selection:
    lr:
      min: 0.0001
      max: 0.01
  mutation_sd: 0.1
  rand_seed: 42

tournament_selection:
  tournament_size: 2
  elitism: true
"""

TEMPLATES: dict[str, str] = {"DQN": DQN, "PPO": PPO}

_CONTINUOUS = ("DDPG", "TD3")
_TASK = {"multi": "simple_speaker_listener", "bandit": "my-bandit"}


def algorithm_names() -> list[str]:
    """Return every algorithm that there is a template for, the common ones first."""
    from arena_sdk.manifest import algorithms

    return [*TEMPLATES, *(name for name in algorithms.NAMES if name not in TEMPLATES)]


def usual_environment(algorithm: str) -> str:
    """Return the environment that a template of an algorithm names when none was chosen."""
    from arena_sdk.manifest import algorithms

    if algorithms.is_llm(algorithm):
        return "my-dataset"
    if algorithm in _CONTINUOUS:
        return "Pendulum-v1"
    return _TASK.get(algorithms.REGISTRY[algorithm].family, "CartPole-v1")


def template(algorithm: str, environment: str | None = None) -> str:
    """Return a manifest to begin with.

    Args:
        algorithm: Its name.
        environment: What to train on; a usual one when left out.
    """
    from arena_sdk.manifest.starting import starting_text

    if environment is None and algorithm in TEMPLATES:
        return TEMPLATES[algorithm]
    return starting_text(algorithm, environment or usual_environment(algorithm))
