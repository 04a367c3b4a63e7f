"""Members learn: well above random within a minute or so (CartPole; random play returns 22)."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import StartJob
from .support import dqn, ppo


def manifest_of(make: Any, steps: int) -> dict[str, Any]:
    manifest = make(max_steps=steps, evo_steps=4000, pop_size=2, target_score=195.0)
    manifest["environment"]["num_envs"] = 8
    manifest["network"] = {
        "latent_dim": 64,
        "encoder_config": {"hidden_size": [64]},
        "head_config": {"hidden_size": [64]},
    }
    manifest["mutation"] = {"probabilities": {"no_mut": 1.0}, "rand_seed": 3}
    return dict(manifest)


@pytest.mark.slow
def test_dqn_learns_cartpole(start_job: StartJob) -> None:
    manifest = manifest_of(dqn, 40_000)
    manifest["algorithm"].update(lr=0.001, batch_size=64, learn_step=4, tau=0.01)
    manifest["training"].update(eps_decay=0.995, eps_end=0.02)
    manifest["replay_buffer"] = {"max_size": 20_000}
    assert start_job(manifest).finish(240)["best_fitness"] >= 195


@pytest.mark.slow
def test_ppo_learns_cartpole(start_job: StartJob) -> None:
    manifest = manifest_of(ppo, 60_000)
    manifest["algorithm"].update(lr=0.001, batch_size=128, learn_step=1024)
    assert start_job(manifest).finish(240)["best_fitness"] >= 195
