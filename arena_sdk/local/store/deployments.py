"""Deployments, as functions over a session."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from arena_sdk.local.times import iso

from .models import Deployment, Experiment, Project, utcnow

LIVE_STATUSES = ("provisioning", "running")


def by_name(session: Session, name: str) -> Deployment | None:
    """Return the deployment of that name."""
    return session.scalar(select(Deployment).where(Deployment.name == name))


def put(session: Session, experiment: Experiment, checkpoint: str, **values: Any) -> Deployment:
    """Make the experiment's deployment, or set the one it has to another checkpoint."""
    row = by_name(session, experiment.name)
    if row is None:
        row = Deployment(name=experiment.name, experiment_id=experiment.id, url="", error=None)
        session.add(row)
    row.checkpoint, row.created_at = checkpoint, utcnow()
    for key, value in values.items():
        setattr(row, key, value)
    session.flush()
    return row


def rows(
    session: Session,
    *,
    name: str | None = None,
    experiment: str | None = None,
    project: str | None = None,
) -> list[dict[str, Any]]:
    """Return the deployments that fit every filter given, newest first, as they are sent."""
    query = (
        select(Deployment, Experiment, Project)
        .join(Experiment, Deployment.experiment_id == Experiment.id)
        .join(Project, Experiment.project_id == Project.id)
        .order_by(Deployment.created_at.desc(), Deployment.id.desc())
    )
    for column, wanted in (
        (Deployment.name, name),
        (Experiment.name, experiment),
        (Project.name, project),
    ):
        if wanted is not None:
            query = query.where(column == wanted)
    return [_row(*found) for found in session.execute(query)]


def _row(deployment: Deployment, experiment: Experiment, project: Project) -> dict[str, Any]:
    return {
        "name": deployment.name,
        "id": deployment.id,
        "url": deployment.url,
        "status": deployment.status,
        "experiment_name": experiment.name,
        "project_name": project.name,
        "checkpoint": deployment.checkpoint,
        "algorithm": experiment.algorithm,
        "environment": experiment.environment,
        "environment_version": experiment.environment_version,
        "created_at": iso(deployment.created_at),
        "error": deployment.error,
    }


def set_status(
    session: Session, deployment_id: int, status: str, url: str = "", error: str | None = None
) -> None:
    """Say how a deployment is now; its address is empty unless it runs."""
    session.execute(
        update(Deployment)
        .where(Deployment.id == deployment_id)
        .values(status=status, url=url, error=error)
    )


def forget_workers(session: Session) -> None:
    """Mark what an earlier server served as stopped: its workers ended with it."""
    session.execute(
        update(Deployment)
        .where(Deployment.status.in_(LIVE_STATUSES))
        .values(status="stopped", url="")
    )
