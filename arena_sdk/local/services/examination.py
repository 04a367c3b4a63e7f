"""The work on one version of an environment: install, check, measure, keep what was found."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from arena_sdk.local.jobs import JobOutcome, JobSpec, Supervisor
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.patience import call_seconds
from arena_sdk.local.services.overlays import Overlays
from arena_sdk.local.services.requirements import InstallError
from arena_sdk.local.services.streams import Told, status, warning
from arena_sdk.local.store import activity
from arena_sdk.local.store.database import Database
from arena_sdk.local.store.models import EnvironmentVersion, utcnow
from arena_sdk.local.validation.names import CHECK_NAMES

FINDING = CHECK_NAMES[:2]
"""The checks that a class which is there passes."""
VALIDATION_SECONDS = 900.0
PROFILE_SECONDS = 300.0
FAILED = "The Arena failed on this; its log has the details: `arena local logs`."


class Examiner:
    """Validates and profiles versions of environments in workers.

    Args:
        database: The store.
        paths: The data folder.
        supervisor: Starts workers.
        overlays: Where requirements are installed.
    """

    def __init__(
        self, database: Database, paths: DataPaths, supervisor: Supervisor, overlays: Overlays
    ) -> None:
        self._database, self._paths, self._supervisor = database, paths, supervisor
        self._overlays = overlays
        # More at once would only take the processor from each other, and time limits would hit
        # environments that are sound.
        self._turns = asyncio.Semaphore(max(2, os.cpu_count() or 2))

    async def validate(
        self, row: EnvironmentVersion, told: Told, *, entrypoint: str | None, do_rollouts: bool
    ) -> None:
        """Validate a version, and profile it when it is valid.

        Args:
            row: The version, as stored.
            told: Told of the progress and the end.
            entrypoint: `module:Class` for this time; the stored one when None.
            do_rollouts: Whether to play random episodes too.
        """
        try:
            overlay = await self._install(row, told)
        except InstallError as refused:
            await self._note_failure(row, refused.message)
            detail = refused.detail()
            told.tell(status("requirements", "failed", refused.message, detail=detail))
            return
        payload = {
            **self._subject(row),
            "version": row.version,
            "do_rollouts": do_rollouts,
            "rollouts_dir": str(self.rollouts_folder(row)),
        }
        payload["entrypoint"] = entrypoint or row.entrypoint
        told.tell(status("validation", "running", "Checking the environment."))
        spec = JobSpec(
            "validate", payload, self._overlays.python(overlay), timeout=VALIDATION_SECONDS
        )
        outcome = await self._run(spec, told)
        if outcome.result is None:
            error = outcome.error or {"message": FAILED}
            await self._note_failure(row, error["message"], error.get("available_entrypoints"))
            told.tell(status("validation", "failed", error["message"], detail=public(error)))
            return
        await self._conclude(row, overlay, outcome.result, told)

    async def measure(self, row: EnvironmentVersion, told: Told) -> JobOutcome:
        """Profile a valid version and keep the result."""
        spec = JobSpec(
            "profile",
            self._subject(row),
            self._overlays.python(row.overlay),
            timeout=PROFILE_SECONDS,
        )
        outcome = await self._run(spec, told)
        result = outcome.result
        if result is not None:

            def keep(session: Session) -> None:
                stored = session.get(EnvironmentVersion, row.id)
                if stored is not None:
                    stored.profile, stored.profiled = result, True

            await self._database.run(keep)
        return outcome

    def rollouts_folder(self, row: EnvironmentVersion) -> Path:
        """Return where the animation of a version's rollouts lies."""
        return self._paths.root / "rollouts" / str(row.id)

    async def _run(self, spec: JobSpec, told: Told) -> JobOutcome:
        if self._turns.locked():
            told.tell(status("validation", "running", "Waiting for other validations to end."))
        async with self._turns:
            job = await self._supervisor.start(spec)
            try:
                async for message in job.messages():
                    told.tell(message)
                return await job.wait()
            except asyncio.CancelledError:
                await job.stop(0.5)
                raise

    async def _install(self, row: EnvironmentVersion, told: Told) -> str | None:
        def progress(message: str, detail: dict[str, Any] | None) -> None:
            told.tell(
                status("requirements", "running", message, level="secondary-info", detail=detail)
            )

        return await self._overlays.prepare(row.requirements, progress)

    async def _conclude(
        self, row: EnvironmentVersion, overlay: str | None, result: dict[str, Any], told: Told
    ) -> None:
        valid = bool(result["validated"])
        failed = [check["check"] for check in result["checks"] if not check["success"]]
        fresh = await self._database.run(lambda session: _keep(session, row, overlay, result))
        detail = {
            "name": row.name,
            "version": row.version,
            "validated": valid,
            "profiled": False,
            "entrypoint": result["entrypoint"],
            "failed_checks": failed,
            "not_run": result["not_run"],
            "algorithms": result["algorithms"],
        }
        if not valid or fresh is None:
            message = f"{row.name} {row.version} is not valid: {', '.join(failed)} failed."
            told.tell(status("validation", "completed", message, detail=detail))
            return
        told.tell(status("profiling", "running", "Measuring speed and memory."))
        measured = await self.measure(fresh, told)
        if measured.error is not None:
            told.tell(warning("profiling", measured.error["message"]))
        detail |= {
            "profiled": measured.result is not None,
            "profile": measured.result,
            "rollouts": result["rollouts"],
        }
        message = f"{row.name} {row.version} is valid: {len(result['checks'])} checks passed."
        told.tell(status("validation", "completed", message, detail=detail))

    async def _note_failure(
        self, row: EnvironmentVersion, message: str, entrypoints: list[str] | None = None
    ) -> None:
        """Tell that a version could not be judged, and why; an earlier verdict stands."""

        def keep(session: Session) -> None:
            stored = session.get(EnvironmentVersion, row.id)
            if stored is not None and entrypoints:
                stored.entrypoints = entrypoints
            activity.add(session, "error", "environment", row.name, f"{row.version}: {message}")

        await self._database.run(keep)

    def _subject(self, row: EnvironmentVersion) -> dict[str, Any]:
        return {
            "name": row.name,
            "source_dir": str(self._paths.source(row.digest)),
            "entrypoint": row.entrypoint,
            "env_config": row.env_config,
            "multi_agent": row.multi_agent,
            "language_based": row.language_based,
            "call_seconds": call_seconds(),
        }


def _keep(
    session: Session, row: EnvironmentVersion, overlay: str | None, result: dict[str, Any]
) -> EnvironmentVersion | None:
    """Store a report; None when the version is gone meanwhile."""
    stored = session.get(EnvironmentVersion, row.id)
    if stored is None:
        return None
    valid = bool(result["validated"])
    stored.validated = valid
    stored.validated_at = utcnow() if valid else None
    _keep_rollouts(stored, result)
    # One that names no class is not kept: the next validation without a name is to search again.
    if set(FINDING) <= {check["check"] for check in result["checks"] if check["success"]}:
        stored.entrypoint = result["entrypoint"]
    elif not row.validated:
        stored.entrypoint = None
    stored.entrypoints = result["entrypoints"]
    stored.checks, stored.spaces = result["checks"], result["spaces"]
    stored.overlay = overlay
    failed = [check["check"] for check in result["checks"] if not check["success"]]
    told = "Valid." if valid else f"Not valid: {', '.join(failed)} failed."
    level = "info" if valid else "error"
    activity.add(session, level, "environment", row.name, f"{row.version}: {told}")
    return stored


def _keep_rollouts(stored: EnvironmentVersion, result: dict[str, Any]) -> None:
    """Store new rollouts; earlier ones of the same class stand where none were played."""
    played = result["rollouts"] or {}
    same = stored.entrypoint == result["entrypoint"]
    if same and stored.rollouts and (not played or "error" in played):
        return
    stored.rollouts = played


def public(error: dict[str, Any]) -> dict[str, Any]:
    """Return what a client may know of a worker's error."""
    return {key: value for key, value in error.items() if key not in ("message", "traceback")}
