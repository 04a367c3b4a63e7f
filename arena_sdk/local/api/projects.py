"""Projects: list, create, delete."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from arena_sdk.local.api.deps import PREFIX, WithServices
from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.services.removal import Aside, delete_with_folders, remove_rows, served
from arena_sdk.local.store import activity
from arena_sdk.local.store import projects as store
from arena_sdk.local.store.experiments import ACTIVE_STATES
from arena_sdk.local.store.models import Experiment, Project
from arena_sdk.names import name_problem

router = APIRouter(prefix=PREFIX)


class NewProject(BaseModel):
    """What a project is made of."""

    name: str
    description: str | None = None
    llm_based: bool = False


class ProjectName(BaseModel):
    """Which project."""

    name: str


@router.get("/projects")
async def list_projects(services: WithServices) -> list[dict[str, Any]]:
    """Return every project."""
    return await services.database.read(store.rows)


@router.post("/projects/create")
async def create_project(new: NewProject, services: WithServices) -> dict[str, Any]:
    """Make a project."""
    problem = name_problem("project", new.name)
    if problem:
        raise ApiError(422, problem, "INVALID_NAME")

    def create(session: Session) -> dict[str, Any]:
        if store.by_name(session, new.name) is not None:
            raise ApiError(
                409,
                f"There is already a project named {new.name!r}; choose another name.",
                "NAME_TAKEN",
            )
        project = Project(name=new.name, description=new.description or "", llm_based=new.llm_based)
        session.add(project)
        session.flush()
        activity.add(session, "info", "project", new.name, "Project created.")
        return store.row(project)

    return await services.database.run(create)


@router.delete("/projects/delete")
async def delete_project(which: ProjectName, services: WithServices) -> dict[str, Any]:
    """Delete a project and its ended experiments."""

    def remove(session: Session, aside: Aside) -> None:
        project = store.by_name(session, which.name)
        if project is None:
            have = ", ".join(store.names(session)[:8]) or "none yet"
            raise ApiError(
                404, f"No project is named {which.name!r}; there are: {have}.", "PROJECT_NOT_FOUND"
            )
        experiments = list(
            session.scalars(select(Experiment).where(Experiment.project_id == project.id))
        )
        running = [e.name for e in experiments if e.state in ACTIVE_STATES]
        if running:
            raise ApiError(
                409,
                f"Project {which.name!r} has running experiments ({', '.join(running)});"
                " stop them first.",
                "PROJECT_IN_USE",
            )
        deployment = served(session, [experiment.id for experiment in experiments])
        if deployment is not None:
            raise ApiError(
                409,
                f"Project {which.name!r} has an agent that is being served ({deployment}); stop it"
                f" first: `arena agent stop {deployment}`.",
                "PROJECT_IN_USE",
            )
        remove_rows(session, aside, experiments)
        session.delete(project)
        activity.add(session, "warning", "project", which.name, "Project deleted.")

    await delete_with_folders(services.database, services.paths, remove)
    return {"name": which.name, "deleted": True}
