"""The ASGI application: the contract's routes over the services, behind the guard."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from alembic.util.exc import CommandError
from fastapi import FastAPI
from sqlalchemy.exc import DatabaseError

from arena_sdk.local.api import (
    datasets,
    environments,
    errors,
    experiment_data,
    experiments,
    inference,
    language_models,
    live,
    machine,
    play,
    projects,
    resources,
    run_specs,
    user,
)
from arena_sdk.local.api.deps import PREFIX
from arena_sdk.local.bodies import BodyLimit
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.security import Guard, allowed_hosts
from arena_sdk.local.server_settings import DEFAULTS, ServerSettings
from arena_sdk.local.services import Services

SERVER_NAME = "arena-local"
ROUTERS = (
    user, resources, machine, projects, environments, experiments, experiment_data, live,
    inference, play, datasets, language_models, run_specs,
)  # fmt: skip


def features() -> dict[str, Any]:
    """Return what is offered beyond the published contract, by feature name."""
    found: dict[str, Any] = {}
    for module in ROUTERS:
        found |= getattr(module, "FEATURES", {})
    return found


def _startup_problem(error: Exception, paths: DataPaths) -> str:
    """Say why the services did not start."""
    if errors.is_disk_full(error):
        return f"the disk that holds {paths.root} is full; free some space and try again"
    first = next(iter(str(getattr(error, "orig", error)).splitlines()), "")
    if isinstance(error, DatabaseError) and ("malformed" in first or "not a database" in first):
        return (
            f"{paths.database} is damaged ({first}); put a copy of it back, or move it away to"
            " begin anew"
        )
    if isinstance(error, CommandError) and "locate revision" in first:
        return f"{paths.database} was written by a newer version of arena-tui; install that one"
    return f"{type(error).__name__}: {first}"


def create_app(
    paths: DataPaths,
    token: str,
    host: str = "127.0.0.1",
    settings: ServerSettings = DEFAULTS,
) -> FastAPI:
    """Make the application of one data folder.

    Args:
        paths: The data folder, made already.
        token: The bearer token that requests must carry.
        host: The address that the server binds to.
        settings: How its runs are run.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        services = Services.build(paths, token, settings)
        app.state.services = services
        try:
            await services.start()
        except Exception as error:
            app.state.startup_problem = _startup_problem(error, paths)
            await services.close()
            raise
        try:
            yield
        finally:
            await services.close()

    app = FastAPI(title=SERVER_NAME, lifespan=lifespan, docs_url=None, redoc_url=None)
    errors.install(app)
    for module in ROUTERS:
        app.include_router(module.router)

    @app.get("/health")
    async def health() -> dict[str, Any]:
        return {
            "status": "ok",
            "name": SERVER_NAME,
            "version": version("arena-tui"),
            "pid": os.getpid(),
        }

    @app.get(f"{PREFIX}/capabilities")
    async def capabilities() -> dict[str, Any]:
        return {"ok": True, "data": {"schemaVersion": 1, "features": features()}}

    app.add_middleware(BodyLimit)
    app.add_middleware(Guard, token=token, hosts=allowed_hosts(host))
    return app
