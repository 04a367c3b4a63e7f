"""Deployments: deploy, list, one, stop."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, BeforeValidator

from arena_sdk.local.api.deps import (
    MOST_LINES,
    PREFIX,
    OptionalInteger,
    OptionalText,
    WithServices,
    absent_when_empty,
    bounded,
    log_answer,
)

router = APIRouter(prefix=PREFIX)

ExperimentFilter = Annotated[
    str | None, BeforeValidator(absent_when_empty), Query(alias="experimentName")
]
ProjectFilter = Annotated[
    str | None, BeforeValidator(absent_when_empty), Query(alias="projectName")
]

FEATURES: dict[str, Any] = {
    "deployment_stop": {"path": f"{PREFIX}/inference/stop"},
    "deployment_logs": {"path": f"{PREFIX}/inference/logs"},
}


class NewDeployment(BaseModel):
    """Whose agent to serve; `memoryScope` is for language models and is taken for the contract."""

    experiment_name: str
    checkpoint: str | None = None
    memoryScope: str | None = None


class Which(BaseModel):
    """Which deployment."""

    name: str


@router.post("/inference/deploy")
async def deploy(new: NewDeployment, services: WithServices) -> dict[str, Any]:
    """Serve an agent; the one of best fitness when no checkpoint is named."""
    return await services.deployments.deploy(new.experiment_name, new.checkpoint or None)


@router.get("/inference/deployments/list")
async def list_deployments(
    services: WithServices,
    name: OptionalText = None,
    experiment_name: ExperimentFilter = None,
    project_name: ProjectFilter = None,
) -> list[dict[str, Any]]:
    """Return the deployments that fit all filters."""
    return await services.deployments.listed(
        name=name, experiment=experiment_name, project=project_name
    )


@router.get("/inference/deployments/one")
async def one_deployment(
    services: WithServices,
    name: OptionalText = None,
    experiment_name: ExperimentFilter = None,
    project_name: ProjectFilter = None,
) -> dict[str, Any]:
    """Return one deployment; its URL is empty while it is being made."""
    return await services.deployments.one(
        name or "", experiment=experiment_name, project=project_name
    )


@router.post("/inference/stop")
async def stop(which: Which, services: WithServices) -> dict[str, Any]:
    """Stop serving an agent."""
    return await services.deployments.stop(which.name)


@router.get("/inference/logs")
async def logs(
    services: WithServices,
    name: OptionalText = None,
    after: OptionalInteger = None,
    limit: OptionalInteger = None,
) -> dict[str, Any]:
    """Return lines of a deployment's log after the first `after`."""
    start = bounded(after, 0, 2**62, "after")
    most = bounded(limit, 1000, MOST_LINES, "limit", least=1)
    path, over = await services.deployments.log(name or "")
    return await log_answer(services, path, start, most, over=over)
