"""Default manifests: valid, with a network that fits, accepted as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.jobs import JobSpec
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.services.run_specs import Asked, RunSpecService
from arena_sdk.local.store.models import Dataset, EnvironmentVersion
from arena_sdk.manifest import TrainingManifest, algorithms

from .conftest import Arena

IMAGE = {"type": "Box", "shape": [3, 64, 64], "dtype": "uint8", "low": 0, "high": 255}
SOURCE = """
import gymnasium as gym
import numpy as np

class Flat(gym.Env):
    observation_space = gym.spaces.Box(0, 1, (3,), np.float32)
    action_space = gym.spaces.Discrete(2)

class Broken(gym.Env):
    def __init__(self):
        raise ValueError("no map is loaded")
"""


@pytest.fixture
async def specs(arena: Arena, paths: DataPaths) -> RunSpecService:
    """The service on an Arena with a validated environment and a dataset."""
    digest = "d" * 64
    paths.source(digest).mkdir(parents=True)
    (paths.source(digest) / "rooms.py").write_text(SOURCE)

    def fill(session: Any) -> None:
        for version, validated in (("v1", True), ("v2", False)):
            session.add(
                EnvironmentVersion(
                    name="rooms",
                    version=version,
                    digest=digest,
                    description="",
                    entrypoint="rooms:Main",
                    entrypoints=["rooms:Main", "rooms:Flat", "rooms:Broken"],
                    validated=validated,
                    spaces={"observation": IMAGE, "action": {"type": "Discrete", "n": 2}},
                )
            )
        for category in ("reasoning", "preference", "sft"):
            session.add(
                Dataset(
                    name=f"my-{category}",
                    category=category,
                    folder=category,
                    num_rows=1,
                    size_bytes=1,
                )
            )

    await arena.database.run(fill)
    return RunSpecService(arena.database, paths, arena.supervisor)


async def refusal(specs: RunSpecService, asked: Asked) -> ApiError:
    with pytest.raises(ApiError) as caught:
        await specs.default(asked)
    return caught.value


@pytest.mark.parametrize("algorithm", ["DQN", "PPO"])
async def test_a_default_manifest_is_accepted_as_it_is(
    specs: RunSpecService, arena: Arena, algorithm: str
) -> None:
    manifest = await specs.default(Asked(algorithm, environment="CartPole-v1"))
    assert TrainingManifest.validate(manifest) == []
    assert manifest["network"]["encoder_config"]["arch"] == "mlp"
    accepted = await arena.submit("steady-run", manifest=manifest)
    assert accepted.algorithm == algorithm
    stored = (await arena.row("steady-run")).manifest
    assert stored == TrainingManifest.load(manifest).payload()


async def test_spaces_of_a_validated_environment_need_no_worker(
    specs: RunSpecService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(spec: JobSpec) -> None:
        raise AssertionError(spec)

    monkeypatch.setattr(specs._supervisor, "start", never)
    manifest = await specs.default(Asked("PPO", environment="rooms"))
    assert manifest["environment"]["name"] == "rooms"
    assert manifest["environment"]["version"] == "v1"
    assert manifest["network"]["encoder_config"]["arch"] == "cnn"


async def test_spaces_of_gymnasium_s_are_measured_once(
    specs: RunSpecService, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await specs.default(Asked("PPO", environment="Pendulum-v1"))
    monkeypatch.setattr(specs._supervisor, "start", None)
    assert await specs.default(Asked("PPO", environment="Pendulum-v1")) == first


async def test_another_entrypoint_is_measured(specs: RunSpecService) -> None:
    manifest = await specs.default(Asked("DQN", environment="rooms", entrypoint="rooms:Flat"))
    assert manifest["environment"]["entrypoint"] == "rooms:Flat"
    assert manifest["network"]["encoder_config"]["arch"] == "mlp"


async def test_one_section(specs: RunSpecService) -> None:
    whole = await specs.default(Asked("DQN"))
    assert await specs.default(Asked("DQN", field="training")) == whole["training"]
    assert await specs.default(Asked("DQN", field="replay_buffer")) == {}


@pytest.mark.parametrize(
    ("algorithm", "dataset"),
    [("GRPO", "my-reasoning"), ("DPO", "my-preference"), ("SFT", "my-sft")],
)
async def test_language_models_learn_from_a_dataset(
    specs: RunSpecService, algorithm: str, dataset: str
) -> None:
    asked = Asked(algorithm, dataset=dataset, model="tiny/Qwen-0")
    manifest = await specs.default(asked)
    assert manifest["environment"]["dataset"] == dataset
    assert manifest["algorithm"]["pretrained_model_name_or_path"] == "tiny/Qwen-0"
    assert TrainingManifest.validate(manifest) == []


@pytest.mark.parametrize(
    "name", [n for n in algorithms.NAMES if not algorithms.is_llm(n)] + ["RainbowDQN"]
)
async def test_every_algorithm_of_agents_has_one(specs: RunSpecService, name: str) -> None:
    assert TrainingManifest.validate(await specs.default(Asked(name))) == []


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        (Asked("DQM"), 422, "Did you mean 'DQN'?"),
        (Asked(None), 422, "is not known"),
        (Asked("DQN", field="nets"), 422, "no section 'nets'"),
        (Asked("DQN", environment="CartPol-v1"), 404, "Did you mean CartPole-v1"),
        (Asked("DQN", environment="rooms", entrypoint="rooms:Nope"), 422, "rooms:Flat"),
        (Asked("DQN", environment="rooms", entrypoint="rooms:Broken"), 422, "no map is loaded"),
        (Asked("DQN", environment="CartPole-v1", entrypoint="a:B"), 422, "no gymEnvEntrypoint"),
        (Asked("DQN", dataset="my-sft"), 422, "takes no dataset"),
        (Asked("DQN", model="x"), 422, "takes no language model"),
        (Asked("SFT"), 422, "name one with datasetName"),
        (Asked("SFT", dataset="my-reasoning"), 422, "learns from sft data"),
        (Asked("SFT", dataset="nope"), 404, "'nope'"),
        (Asked("GRPO", environment="CartPole-v1"), 422, "learns from a dataset"),
    ],
)
async def test_what_does_not_go_together_is_refused(
    specs: RunSpecService, asked: Asked, status: int, said: str
) -> None:
    refused = await refusal(specs, asked)
    assert refused.status == status
    assert said in refused.message


async def test_a_broken_environment_is_not_measured_in_the_server(
    specs: RunSpecService, tmp_path: Path
) -> None:
    import sys

    await refusal(specs, Asked("DQN", environment="rooms", entrypoint="rooms:Broken"))
    assert "rooms" not in sys.modules
