"""This machine's load and what happened lately: for the Overview, beyond the contract."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

import psutil
from fastapi import APIRouter, Query
from pydantic import BeforeValidator, Field

from arena_sdk.local.api.deps import PREFIX, WithServices, absent_when_empty
from arena_sdk.local.store import activity
from arena_sdk.local.tiers import local_gpus
from arena_sdk.local.times import iso

router = APIRouter(prefix=PREFIX)

FEATURES = {
    "machine": {"path": f"{PREFIX}/machine"},
    "activity": {"path": f"{PREFIX}/activity"},
}

ACTIVITY_LENGTH = 50


@router.get("/machine")
async def machine(services: WithServices) -> dict[str, Any]:
    """Return CPU and memory load (percent, GB) and the worker processes that run."""
    memory = psutil.virtual_memory()
    return {
        "cpu_percent": psutil.cpu_percent(interval=None),
        "cpus": psutil.cpu_count() or 1,
        "memory_percent": memory.percent,
        "memory_total_gb": round(memory.total / 1e9, 2),
        "memory_available_gb": round(memory.available / 1e9, 2),
        "gpus": local_gpus(),
        "jobs": [
            {
                "id": job.id,
                "kind": job.kind,
                "name": job.name,
                "pid": job.pid,
                "state": "running",
                "started_at": iso(dt.datetime.fromtimestamp(job.started_at, dt.UTC)),
            }
            for job in list(services.supervisor.jobs.values())
        ],
    }


@router.get("/activity")
async def list_activity(
    services: WithServices,
    limit: Annotated[
        int | None, Field(ge=1, le=1000), BeforeValidator(absent_when_empty), Query()
    ] = None,
) -> list[dict[str, Any]]:
    """Return what happened lately, newest first."""
    count = limit or ACTIVITY_LENGTH
    return await services.database.read(lambda session: activity.latest(session, count))
