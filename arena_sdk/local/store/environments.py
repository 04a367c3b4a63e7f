"""Versions of environments: found, listed, shown."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arena_sdk.local.store.experiments import ACTIVE_STATES
from arena_sdk.local.store.models import EnvironmentVersion, Experiment
from arena_sdk.local.times import iso


def versions(session: Session, name: str) -> list[EnvironmentVersion]:
    """Return the versions of an environment, the newest first."""
    return list(
        session.scalars(
            select(EnvironmentVersion)
            .where(EnvironmentVersion.name == name)
            .order_by(EnvironmentVersion.id.desc())
        )
    )


def one(session: Session, name: str, version: str | None) -> EnvironmentVersion | None:
    """Return a version of an environment, the newest when none is named."""
    found = versions(session, name)
    return next((row for row in found if version in (None, row.version)), None)


def names(session: Session) -> list[str]:
    """Return the names of all environments, sorted."""
    return sorted(set(session.scalars(select(EnvironmentVersion.name))))


def marks(session: Session, name: str | None) -> dict[str, dict[str, dict[str, bool]]]:
    """Return environments as the contract lists them."""
    chosen = select(EnvironmentVersion).order_by(EnvironmentVersion.name, EnvironmentVersion.id)
    if name is not None:
        chosen = chosen.where(EnvironmentVersion.name == name)
    found: dict[str, dict[str, dict[str, bool]]] = {}
    for row in session.scalars(chosen):
        found.setdefault(row.name, {})[row.version] = {
            "validated": row.validated,
            "profiled": row.profiled,
        }
    return found


def in_use(session: Session, name: str, version: str | None) -> list[str]:
    """Return the names of experiments that train on an environment now."""
    chosen = select(Experiment.name).where(
        Experiment.environment == name, Experiment.state.in_(ACTIVE_STATES)
    )
    if version is not None:
        chosen = chosen.where(Experiment.environment_version == version)
    return list(session.scalars(chosen))


def digest_is_used(session: Session, digest: str) -> bool:
    """Tell whether any version still has its files under a digest."""
    counted = select(func.count()).where(EnvironmentVersion.digest == digest)
    return bool(session.scalar(counted))


def overlay_is_used(session: Session, key: str) -> bool:
    """Tell whether any version still has its requirements in an overlay."""
    counted = select(func.count()).where(EnvironmentVersion.overlay == key)
    return bool(session.scalar(counted))


def copy(row: EnvironmentVersion, version: str) -> EnvironmentVersion:
    """Return a copy of a version under another name, not yet stored."""
    skip = {"id", "version", "created_at", "rollouts"}
    values = {
        column.key: getattr(row, column.key)
        for column in EnvironmentVersion.__table__.columns
        if column.key not in skip
    }
    return EnvironmentVersion(**values, version=version)


def next_version(session: Session, name: str) -> str:
    """Return a version name that is free: `v1`, `v2`, …"""
    taken = {row.version for row in versions(session, name)}
    return next(f"v{n}" for n in range(1, len(taken) + 2) if f"v{n}" not in taken)


def details(session: Session, row: EnvironmentVersion) -> dict[str, Any]:
    """Return everything that is known of a version."""
    return {
        "name": row.name,
        "version": row.version,
        "versions": [other.version for other in versions(session, row.name)],
        "validated": row.validated,
        "profiled": row.profiled,
        "entrypoint": row.entrypoint,
        "entrypoints": row.entrypoints,
        "checks": row.checks,
        "spaces": row.spaces,
        "profile": row.profile,
        "rollouts": row.rollouts,
        "requirements": row.requirements,
        "env_config": row.env_config,
        "description": row.description,
        "multi_agent": row.multi_agent,
        "language_based": row.language_based,
        "created_at": iso(row.created_at),
        "validated_at": iso(row.validated_at) if row.validated_at else None,
    }
