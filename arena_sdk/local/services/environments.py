"""Custom environments: taken in as versions that never change, validated, copied, deleted."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sqlalchemy.orm import Session

from arena_sdk.local.jobs import Supervisor
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.services.bundled import ConfigError, bundled_config, bundled_requirements
from arena_sdk.local.services.examination import FAILED, Examiner, public
from arena_sdk.local.services.overlays import Overlays
from arena_sdk.local.services.sources import SourceError, remove_leftovers, store_archive
from arena_sdk.local.services.streams import Told, status
from arena_sdk.local.store import activity
from arena_sdk.local.store import environments as store
from arena_sdk.local.store.database import Database
from arena_sdk.local.store.models import EnvironmentVersion
from arena_sdk.names import name_problem

from .refusals import conflict, invalid, not_found

logger = logging.getLogger(__name__)

Key = tuple[str, str]


@dataclass(frozen=True)
class NewVersion:
    """What came with an upload, beside the archive.

    Attributes:
        env_config: The constructor's arguments; None to take what lies in the source.
        requirements: Text of a requirements.txt; empty to take what lies in the source.
    """

    name: str
    version: str
    env_config: dict[str, Any] | None
    requirements: str
    entrypoint: str | None
    description: str
    multi_agent: bool
    language_based: bool
    do_rollouts: bool


class EnvironmentService:
    """What can be done with custom environments.

    Args:
        database: The store.
        paths: The data folder.
        supervisor: Starts workers.
    """

    def __init__(self, database: Database, paths: DataPaths, supervisor: Supervisor) -> None:
        self._database, self._paths = database, paths
        self._overlays = Overlays(paths.overlays)
        self._examiner = Examiner(database, paths, supervisor, self._overlays)
        self._working: set[Told] = set()
        self._validating: dict[Key, Told] = {}
        # Between storing a tree and registering it, no deletion may take the tree for unused.
        self._files = asyncio.Lock()

    async def start(self) -> None:
        """Remove what an earlier server left half done."""
        await asyncio.to_thread(remove_leftovers, self._paths.sources)
        await asyncio.to_thread(self._overlays.remove_leftovers)

    async def close(self) -> None:
        """Give up what goes on; the supervisor ends the workers."""
        tasks = [told.task for told in self._working if told.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def create(self, new: NewVersion, archive: IO[bytes]) -> Told:
        """Store an upload as a version and begin to validate it.

        The same content again is recognised. A version that is not valid yet is replaced by other
        content; one that is never changes.

        Raises:
            ApiError: The names, the archive or the version cannot be taken.
        """
        for what, name in (("environment", new.name), ("version", new.version)):
            problem = name_problem(what, name)
            if problem:
                raise invalid(problem, "INVALID_NAME")
        async with self._files:
            try:
                digest = await asyncio.to_thread(store_archive, archive, self._paths.sources)
            except SourceError as error:
                raise invalid(str(error), "INVALID_SOURCE") from None
            try:
                values = await asyncio.to_thread(_values, new, digest, self._paths.source(digest))
                row, how, old = await self._database.run(lambda s: self._register(s, new, values))
            except BaseException:
                await self._remove_unused([digest], [])
                raise
            await self._remove_unused([old] if old else [], [])
        running = self._validating.get((new.name, new.version))
        if running is not None:
            return running  # the same content; a client that lost its answer asks again
        told = Told()
        detail = {"digest": digest, "name": row.name, "version": row.version}
        told.tell(status("upload", "running", how, detail=detail))
        return self._validate(row, told, new.entrypoint, do_rollouts=new.do_rollouts)

    async def validate(
        self, name: str, version: str | None, entrypoint: str | None, *, do_rollouts: bool
    ) -> Told:
        """Begin to validate a version again, or listen to the validation that goes on.

        Raises:
            ApiError: 404 when there is none.
        """
        row = await self._database.read(lambda session: find(session, name, version))
        running = self._validating.get((row.name, row.version))
        if running is not None:
            return running
        return self._validate(row, Told(), entrypoint, do_rollouts=do_rollouts)

    async def profile(self, name: str, version: str | None) -> Told:
        """Begin to measure a version.

        Raises:
            ApiError: 404 when there is none, 409 when it is not valid.
        """
        row = await self._database.read(lambda session: find(session, name, version))
        if not row.validated:
            raise conflict(
                f"Environment {name!r} version {row.version!r} is not validated; do that first:"
                f" `arena env validate {name} --version {row.version}`.",
                "NOT_VALIDATED",
            )

        async def work(told: Told) -> None:
            outcome = await self._examiner.measure(row, told)
            if outcome.result is None:
                error = outcome.error or {"message": FAILED}
                told.tell(status("profiling", "failed", error["message"], detail=public(error)))
                return
            # The published client formats every value of this answer as a number.
            figures = {k: v for k, v in outcome.result.items() if isinstance(v, int | float)}
            message = f"{row.name} {row.version} is profiled."
            told.tell(status("profiling", "completed", message, detail=figures))

        return self._start(work, Told())

    async def delete(self, name: str, version: str | None) -> dict[str, Any]:
        """Delete one version, or all of them.

        Raises:
            ApiError: 404 when there is none, 409 when one is trained on or being validated.
        """

        def remove(session: Session) -> tuple[list[EnvironmentVersion], list[str], list[str]]:
            find(session, name, version)
            gone = [row for row in store.versions(session, name) if version in (None, row.version)]
            self._refuse_if_busy(session, name, version, gone)
            for row in gone:
                session.delete(row)
            session.flush()
            what = f"Version {version} deleted." if version else "Deleted with all versions."
            activity.add(session, "warning", "environment", name, what)
            return gone, [row.digest for row in gone], [row.overlay or "" for row in gone]

        async with self._files:
            gone, digests, overlays = await self._database.run(remove)
            await self._remove_unused(digests, overlays)
        for row in gone:
            folder = self._examiner.rollouts_folder(row)
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        return {"name": name, "version": version, "deleted": [row.version for row in gone]}

    async def duplicate(self, name: str, version: str | None, new_version: str) -> dict[str, Any]:
        """Copy a version under a new name.

        Raises:
            ApiError: 404 when there is none, 409 when the new name is taken, 422 when it is none.
        """
        problem = name_problem("version", new_version)
        if problem:
            raise invalid(problem, "INVALID_NAME")

        def copy(session: Session) -> dict[str, Any]:
            row = find(session, name, version)
            if store.one(session, name, new_version) is not None:
                raise conflict(
                    f"Environment {name!r} has a version {new_version!r} already;"
                    f" {store.next_version(session, name)!r} is free.",
                    "VERSION_TAKEN",
                    next_version=store.next_version(session, name),
                )
            session.add(store.copy(row, new_version))
            return {"name": name, "version": new_version, "source_version": row.version}

        return await self._database.run(copy)

    async def details(self, name: str, version: str | None) -> dict[str, Any]:
        """Return everything that is known of a version, and which algorithms fit it.

        Raises:
            ApiError: 404 when there is none.
        """
        found = await self._database.read(
            lambda session: store.details(session, find(session, name, version))
        )
        # Of one that is not valid nothing is said: no algorithm can be trained on it.
        fitting = await asyncio.to_thread(_fitting, found) if found["validated"] else []
        return {**found, "algorithms": fitting}

    async def animation(self, name: str, version: str | None) -> Path:
        """Return the file with the frames of a version's random episode.

        Raises:
            ApiError: 404 when there is none.
        """
        row = await self._database.read(lambda session: find(session, name, version))
        file = (row.rollouts or {}).get("animation")
        path = self._examiner.rollouts_folder(row) / str(file)
        if not file or not path.is_file():
            raise not_found(
                f"Environment {name!r} version {row.version!r} has no recorded episode; record one:"
                f" `arena env validate {name} --version {row.version} --do-rollouts`.",
                "NO_ROLLOUTS",
            )
        return path

    def _register(
        self, session: Session, new: NewVersion, values: dict[str, Any]
    ) -> tuple[EnvironmentVersion, str, str | None]:
        """Store a version, or find the same one.

        Returns:
            It, what happened, and the digest of the content that it replaces.
        """
        row = store.one(session, new.name, new.version)
        what = f"{new.name} {new.version}"
        if row is None:
            row = EnvironmentVersion(name=new.name, version=new.version, **values)
            row.description = new.description
            session.add(row)
            session.flush()
            return row, f"{what} is stored.", None
        if all(getattr(row, key) == value for key, value in values.items()):
            row.description = new.description or row.description
            return row, f"{what} has this very content already; validating it again.", None
        free = store.next_version(session, new.name)
        if row.validated or (new.name, new.version) in self._validating:
            state = "is validated and never changes" if row.validated else "is being validated"
            raise conflict(
                f"Environment {new.name!r} version {new.version!r} {state}; upload this content as"
                f" a new version: --version {free}.",
                "VERSION_TAKEN",
                next_version=free,
            )
        old = row.digest
        for key, value in values.items():
            setattr(row, key, value)
        row.entrypoint, row.description = None, new.description or row.description
        row.entrypoints, row.checks, row.spaces, row.rollouts = [], [], {}, {}
        return row, f"{what} was not valid; it is replaced by this content.", old

    def _refuse_if_busy(
        self, session: Session, name: str, version: str | None, rows: list[EnvironmentVersion]
    ) -> None:
        users = store.in_use(session, name, version)
        if users:
            raise conflict(
                f"Environment {name!r} is being trained on by {', '.join(users)}; stop that"
                f" first: `arena experiments stop {users[0]}`.",
                "ENVIRONMENT_IN_USE",
                experiments=users,
            )
        busy = [row.version for row in rows if (name, row.version) in self._validating]
        if busy:
            raise conflict(
                f"Environment {name!r} version {busy[0]!r} is being validated; wait for its end.",
                "ENVIRONMENT_IN_USE",
            )

    async def _remove_unused(self, digests: list[str], overlays: list[str]) -> None:
        """Remove trees and overlays that no version needs any more."""

        def unused(session: Session) -> tuple[set[str], set[str]]:
            return (
                {digest for digest in digests if not store.digest_is_used(session, digest)},
                {key for key in overlays if key and not store.overlay_is_used(session, key)},
            )

        trees, keys = await self._database.read(unused)
        for digest in trees:
            await asyncio.to_thread(shutil.rmtree, self._paths.source(digest), ignore_errors=True)
        for key in keys:
            await asyncio.to_thread(self._overlays.remove, key)

    def _validate(
        self, row: EnvironmentVersion, told: Told, entrypoint: str | None, *, do_rollouts: bool
    ) -> Told:
        key = (row.name, row.version)

        async def work(told: Told) -> None:
            try:
                await self._examiner.validate(
                    row, told, entrypoint=entrypoint, do_rollouts=do_rollouts
                )
            finally:
                del self._validating[key]

        self._validating[key] = told
        return self._start(work, told)

    def _start(self, work: Callable[[Told], Awaitable[None]], told: Told) -> Told:
        """Start work that a client's disconnection does not end."""

        async def guarded(told: Told) -> None:
            try:
                await work(told)
            except asyncio.CancelledError:
                told.tell(status("validation", "failed", "The Arena is shutting down."))
                raise
            except Exception:
                logger.exception("work on an environment failed")
                told.tell(status("validation", "failed", FAILED))
            finally:
                self._working.discard(told)

        self._working.add(told)
        told.begin(guarded)
        return told


def _values(new: NewVersion, digest: str, source: Path) -> dict[str, Any]:
    """Return what makes the content of a version.

    Raises:
        ApiError: The configuration in the source cannot be read.
    """
    try:
        config = bundled_config(source) if new.env_config is None else new.env_config
    except ConfigError as error:
        raise invalid(str(error), "INVALID_CONFIG") from None
    return {
        "digest": digest,
        "env_config": config,
        "requirements": new.requirements or bundled_requirements(source),
        "multi_agent": new.multi_agent,
        "language_based": new.language_based,
    }


def _fitting(found: dict[str, Any]) -> list[dict[str, Any]]:
    from arena_sdk.local.validation.fitting import fitting_algorithms  # imports Gymnasium

    several, language = found["multi_agent"], found["language_based"]
    return fitting_algorithms(found["spaces"], multi_agent=several, language_based=language)


def find(session: Session, name: str, version: str | None) -> EnvironmentVersion:
    """Return a version of an environment, the newest when none is named.

    Raises:
        ApiError: 404 when there is none.
    """
    row = store.one(session, name, version)
    if row is not None:
        return row
    known = store.versions(session, name)
    if known:
        have = ", ".join(other.version for other in known)
        raise not_found(
            f"Environment {name!r} has no version {version!r}; it has {have}.",
            "VERSION_NOT_FOUND",
        )
    have = ", ".join(store.names(session)[:8]) or "none yet"
    raise not_found(
        f"No environment is named {name!r}; there are: {have}.", "ENVIRONMENT_NOT_FOUND"
    )
