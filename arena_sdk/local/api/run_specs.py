"""Manifests to begin with."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BeforeValidator

from arena_sdk.local.api.deps import PREFIX, OptionalText, WithServices, absent_when_empty
from arena_sdk.local.services.run_specs import Asked

router = APIRouter(prefix=PREFIX)

GymEnv = Annotated[str | None, BeforeValidator(absent_when_empty), Query(alias="gymEnv")]
Entrypoint = Annotated[
    str | None, BeforeValidator(absent_when_empty), Query(alias="gymEnvEntrypoint")
]
DatasetName = Annotated[str | None, BeforeValidator(absent_when_empty), Query(alias="datasetName")]
ModelName = Annotated[
    str | None, BeforeValidator(absent_when_empty), Query(alias="pretrainedModelNameOrPath")
]


@router.get("/experiments/run-spec/default")
async def default_run_spec(
    services: WithServices,
    algorithm: OptionalText = None,
    gym_env: GymEnv = None,
    entrypoint: Entrypoint = None,
    dataset: DatasetName = None,
    field: OptionalText = None,
    model: ModelName = None,
) -> dict[str, Any]:
    """Return a manifest that is filled in for an algorithm, or one section of it."""
    return await services.run_specs.default(
        Asked(algorithm, gym_env, entrypoint, dataset, field, model)
    )
