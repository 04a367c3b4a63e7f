"""Projects: named groups of experiments."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arena_sdk.local.store.models import Experiment, Project
from arena_sdk.local.times import iso


def by_name(session: Session, name: str) -> Project | None:
    """Return the project of that name."""
    return session.scalar(select(Project).where(Project.name == name))


def names(session: Session) -> list[str]:
    """Return the names of all projects, sorted."""
    return list(session.scalars(select(Project.name).order_by(Project.name)))


def rows(session: Session) -> list[dict[str, Any]]:
    """Return every project with the number of its experiments and its last activity."""
    last = func.max(func.coalesce(Experiment.ended_at, Experiment.started_at))
    counted = (
        select(Project, func.count(Experiment.id), last)
        .outerjoin(Experiment)
        .group_by(Project.id)
        .order_by(Project.name)
    )
    return [row(project, count, when) for project, count, when in session.execute(counted)]


def row(project: Project, experiments: int = 0, last_activity: Any = None) -> dict[str, Any]:
    """Return a project as the contract's row, and what we know beyond it."""
    return {
        "name": project.name,
        "type": "llm" if project.llm_based else "simulation",
        "description": project.description,
        "experiments": experiments,
        "created_at": iso(project.created_at),
        "last_activity": iso(last_activity or project.created_at),
    }
