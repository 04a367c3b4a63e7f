"""Experiments: submit, list, stop, resume, checkpoints, and all that can be read of one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.datastructures import UploadFile

from arena_sdk.local.api.deps import PREFIX, OptionalFlag, OptionalText, WithServices
from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.run_options import described
from arena_sdk.local.services.submission import Accepted, Submission
from arena_sdk.local.services.suitability import refuse_misfit
from arena_sdk.local.services.transitions import find
from arena_sdk.local.services.views import checkpoint_json, experiment_json, experiment_row
from arena_sdk.local.store import experiments as store
from arena_sdk.local.store import projects
from arena_sdk.local.tiers import all_tiers

router = APIRouter(prefix=PREFIX)

FEATURES: dict[str, Any] = {
    "experiment_rows": {"path": f"{PREFIX}/experiments/list", "query": {"details": "true"}},
    "experiment_overrides": {"path": f"{PREFIX}/experiments/jobs/submit"},
    "run_options": {"path": f"{PREFIX}/experiments/jobs/submit", "options": described()},
    "experiment_delete": {"path": f"{PREFIX}/experiments/delete"},
}


class Which(BaseModel):
    """Which experiment."""

    experiment_name: str


class Budget(Which):
    """Which experiment, and up to how many steps of a member it is to train."""

    max_steps: Any


@router.post("/experiments/jobs/submit")
async def submit(request: Request, services: WithServices) -> StreamingResponse:
    """Accept a run; the answer is a short stream of events that ends with what was accepted."""
    submission = await _read_submission(request)
    await refuse_misfit(submission.manifest, services.database, services.paths, services.run_specs)
    accepted = await services.runs.submit(submission, all_tiers())
    lines = (json.dumps(event) + "\n" for event in _events(accepted, submission))
    return StreamingResponse(lines, media_type="application/x-ndjson")


async def _read_submission(request: Request) -> Submission:
    """Read a submission from JSON, or from a form when a reward file comes with it."""
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        async with request.form() as form:
            fields: dict[str, Any] = {
                key: value for key, value in form.items() if not isinstance(value, UploadFile)
            }
            has_file = isinstance(form.get("reward_file"), UploadFile)
        fields["manifest"] = _parsed(fields.get("manifest") or "null", "manifest")
        for key in ("num_nodes", "options", "overrides"):
            if fields.get(key):
                fields[key] = _parsed(fields[key], key)
    else:
        fields, has_file = _parsed(await request.body(), "The body"), False
        if not isinstance(fields, dict):
            raise ApiError(422, "The body must be a JSON object.", "INVALID_REQUEST")
    return Submission(
        manifest=fields.get("manifest"),
        resource_id=_text(fields, "resource_id"),
        num_nodes=fields.get("num_nodes") or None,
        project=_text(fields, "project"),
        experiment_name=_text(fields, "experiment_name"),
        has_reward_file=has_file,
        options=fields.get("options") or None,
        overrides=fields.get("overrides") or None,
    )


def _parsed(text: str | bytes, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ApiError(422, f"{what} is not valid JSON.", "INVALID_REQUEST") from None


def _text(fields: dict[str, Any], key: str) -> str:
    value = fields.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ApiError(422, f"{key} must be text.", "INVALID_REQUEST")
    return value


def _events(accepted: Accepted, submission: Submission) -> Iterator[dict[str, Any]]:
    stage = {"stage": "submission"}
    yield {
        "kind": "status",
        **stage,
        "status": "running",
        "level": "info",
        "message": f"Manifest accepted: {accepted.algorithm} on {accepted.environment.name}.",
        "detail": {
            "algorithm": accepted.algorithm,
            "environment": accepted.environment.name,
            "environment_version": accepted.environment.version,
        },
    }
    for message in accepted.warnings:
        yield {"kind": "warning", **stage, "status": "running", "message": message}
    yield {
        "kind": "status",
        **stage,
        "status": "completed",
        "level": "info",
        "message": f"Experiment {accepted.name} was accepted.",
        "detail": {
            "accepted": True,
            "experiment_id": accepted.experiment_id,
            "experiment_name": accepted.name,
            "project": accepted.project,
            "algorithm": accepted.algorithm,
            "environment": accepted.environment.name,
            "environment_version": accepted.environment.version,
            "resource_id": submission.resource_id or "local",
            "num_nodes": submission.num_nodes or 1,
            "warnings": accepted.warnings,
        },
    }


@router.get("/experiments/list")
async def list_experiments(
    services: WithServices, project: OptionalText = None, details: OptionalFlag = None
) -> list[dict[str, Any]]:
    """Return the experiments of a project, or all, newest first.

    The published client draws a column for each key, so a row has what a list needs; `details`
    asks for everything.
    """
    shown = experiment_json if details else experiment_row

    def read(session: Session) -> list[dict[str, Any]]:
        if project is not None and projects.by_name(session, project) is None:
            have = ", ".join(projects.names(session)[:8]) or "none yet"
            raise ApiError(
                404, f"No project is named {project!r}; there are: {have}.", "PROJECT_NOT_FOUND"
            )
        return [shown(row) for row in store.listed(session, project)]

    return await services.database.read(read)


@router.post("/experiments/jobs/stop")
async def stop(which: Which, services: WithServices) -> dict[str, Any]:
    """Stop a run; it leaves a checkpoint."""
    return await services.runs.stop(which.experiment_name)


@router.post("/experiments/jobs/resume")
async def resume(budget: Budget, services: WithServices) -> dict[str, Any]:
    """Go on from a run's last checkpoint."""
    return await services.runs.resume(budget.experiment_name, budget.max_steps)


@router.delete("/experiments/delete")
@router.post("/experiments/delete")
async def delete(which: Which, services: WithServices) -> dict[str, Any]:
    """Delete an ended run with everything that it left."""
    return await services.runs.delete(which.experiment_name)


@router.get("/experiments/jobs/checkpoints")
async def checkpoints(
    services: WithServices, experiment_name: OptionalText = None
) -> list[dict[str, Any]]:
    """Return an experiment's checkpoints in order of steps."""

    def read(session: Session) -> list[dict[str, Any]]:
        experiment = find(session, experiment_name)
        return [checkpoint_json(row) for row in store.checkpoints(session, experiment)]

    return await services.database.read(read)
