"""What an algorithm cannot be trained on is refused at submission, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.services.resolve import is_pettingzoo_module
from arena_sdk.local.services.run_specs import RunSpecService
from arena_sdk.local.services.suitability import refuse_misfit
from arena_sdk.local.store.models import EnvironmentVersion

from .conftest import Arena

SPREAD = "mpe2.simple_spread_v3"


@pytest.fixture
async def check(arena: Arena) -> Any:
    """Submit a manifest to the check alone; return the sentence of a refusal, else None."""
    run_specs = RunSpecService(arena.database, arena.paths, arena.supervisor)

    async def of(algorithm: str, name: str, **sections: Any) -> str | None:
        section = {"name": name, "num_envs": 2, **sections.pop("environment", {})}
        manifest = {"algorithm": {"name": algorithm}, "environment": section, **sections}
        try:
            await refuse_misfit(manifest, arena.database, arena.paths, run_specs)
        except ApiError as problem:
            return f"{problem.status} {problem}"
        return None

    return of


async def test_spaces_of_gymnasium_are_measured_once_and_judged(check: Any) -> None:
    assert await check("DQN", "CartPole-v1") is None
    assert await check("DDPG", "CartPole-v1") == (
        "422 DDPG cannot train on actions of Discrete(2); it can on Box."
    )
    assert "MADDPG trains several agents and the environment has one" in str(
        await check("MADDPG", "CartPole-v1")
    )


async def test_the_encoder_is_judged_too(check: Any) -> None:
    encoder = {"arch": "cnn", "channel_size": [8], "kernel_size": [3], "stride_size": [1]}
    network = {"encoder_config": encoder, "head_config": {"hidden_size": [8]}}
    refusal = await check("PPO", "CartPole-v1", network=network)
    assert "arch cnn cannot read observations of Box" in str(refusal)


async def test_teams_are_found_by_their_module_and_judged(check: Any) -> None:
    pytest.importorskip("mpe2")
    environment = {"env_config": {"N": 2}}
    assert await check("IPPO", SPREAD, environment=environment) is None
    assert await check("PPO", SPREAD, environment=environment) == (
        "422 PPO trains one agent and the environment has 2 agents."
    )


def test_only_modules_of_the_two_packages_are_environments() -> None:
    assert is_pettingzoo_module("pettingzoo.utils.env")
    for name in ("os.path", "pettingzoo", "mpe2.no_such_v9", "mpe2...x", "pettingzoo/../os"):
        assert not is_pettingzoo_module(name)


@pytest.mark.parametrize("version", [{}, {"version": "v1"}])
async def test_a_version_that_failed_is_told_with_the_check(
    arena: Arena, check: Any, version: dict[str, str]
) -> None:
    checks = [{"check": "Reset", "success": True}, {"check": "Step", "success": False}]
    with arena.database.session() as session:
        row = EnvironmentVersion(name="maze", version="v1", digest="d", checks=checks)
        session.add(row)
        session.add(EnvironmentVersion(name="fresh", version="v1", digest="d"))
    refusal = await check("DQN", "maze", environment=version)
    assert refusal == (
        "422 Environment 'maze' version 'v1' failed its validation at the check 'Step'; `arena env"
        " show maze --version v1` says why. Mend the source and validate it again: `arena env"
        " validate maze --version v1 --source DIR`."
    )
    refusal = await check("DQN", "fresh", environment=version)
    assert "'fresh' version 'v1' has not been validated; run `arena env validate" in str(refusal)
