"""Deleting experiments: rows in one transaction, folders set aside in it and removed after.

An id may be given again once its row is gone, so a folder must not be found under it then: it is
renamed before the transaction commits. A server that dies in between leaves a folder whose name
says which experiment it was (its id alone would not do), and the next start finishes the deletion.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from arena_sdk.local.paths import DataPaths
from arena_sdk.local.store.database import Database
from arena_sdk.local.store.deployments import LIVE_STATUSES
from arena_sdk.local.store.models import Checkpoint, Deployment, Experiment, Member, Record

logger = logging.getLogger(__name__)

ASIDE = ".deleted-"

Result = TypeVar("Result")


class Aside:
    """The folders of experiments that are being deleted, under names that no experiment has."""

    def __init__(self, paths: DataPaths) -> None:
        self._paths = paths
        self._moved: list[tuple[Path, Path]] = []

    def plan(self, experiment: Experiment) -> tuple[Path, Path]:
        """Return where an experiment's folder is, and where it is to go."""
        folder = self._paths.experiment(experiment.id)
        return folder, folder.with_name(_aside_name(experiment))

    def move(self, folder: Path, aside: Path) -> None:
        """Set a folder aside, if it is there."""
        if folder.exists():
            folder.rename(aside)
            self._moved.append((folder, aside))

    def put_back(self) -> None:
        """Undo it all: the transaction failed."""
        for folder, aside in self._moved:
            aside.rename(folder)

    def remove(self) -> None:
        """Remove the folders; what cannot be removed now is tried again at the next start."""
        for _, aside in self._moved:
            shutil.rmtree(aside, ignore_errors=True)


def _aside_name(experiment: Experiment) -> str:
    identity = f"{experiment.id} {experiment.created_at.isoformat()} {experiment.name}"
    return ASIDE + hashlib.sha256(identity.encode()).hexdigest()[:24]


async def delete_with_folders(
    database: Database, paths: DataPaths, work: Callable[[Session, Aside], Result]
) -> Result:
    """Do a deletion in one transaction: both rows and folders go, or neither.

    Args:
        database: The store.
        paths: The data folder.
        work: Calls `remove_rows` with what it gets.
    """
    aside = Aside(paths)

    async def do() -> Result:
        try:
            result = await database.run(lambda session: work(session, aside))
        except BaseException:
            await asyncio.to_thread(aside.put_back)
            raise
        await asyncio.to_thread(aside.remove)
        return result

    return await asyncio.shield(do())  # a caller that goes away does not come in between


def served(session: Session, experiment_ids: Iterable[int]) -> str | None:
    """Return the name of a deployment that serves, or is about to, one of the experiments."""
    return session.scalar(
        select(Deployment.name).where(
            Deployment.experiment_id.in_(list(experiment_ids)), Deployment.status.in_(LIVE_STATUSES)
        )
    )


def remove_rows(session: Session, aside: Aside, experiments: list[Experiment]) -> None:
    """Remove experiments with all that hangs on them, and set their folders aside."""
    ids = [experiment.id for experiment in experiments]
    moves = [aside.plan(experiment) for experiment in experiments]
    for table in (Record, Member, Checkpoint, Deployment):
        session.execute(delete(table).where(table.experiment_id.in_(ids)))
    session.execute(delete(Experiment).where(Experiment.id.in_(ids)))
    session.flush()
    for folder, target in moves:
        aside.move(folder, target)


def finish_deletions(session: Session, paths: DataPaths) -> list[Path]:
    """Finish what an earlier server began: remove the rows; return the folders to remove.

    For the start of a server. A folder that belongs to no row is a deletion's leftover too.
    """
    experiments = list(session.scalars(select(Experiment)))
    begun = {_aside_name(experiment): experiment for experiment in experiments}
    kept = {str(experiment.id) for experiment in experiments}
    gone: list[Path] = []
    for folder in paths.experiments.iterdir():
        if folder.name in begun:
            logger.warning("finishing the deletion of experiment %s", begun[folder.name].name)
            remove_rows(session, Aside(paths), [begun[folder.name]])
        elif folder.name in kept:
            continue
        gone.append(folder)
    return gone
