"""What is put right after a crash: runs that nobody trains, checkpoints that nobody noted."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from arena_sdk.local.paths import DataPaths
from arena_sdk.local.store import experiments as store
from arena_sdk.local.store.experiments import RecordData
from arena_sdk.local.store.models import Experiment
from arena_sdk.local.training import checkpoints

logger = logging.getLogger(__name__)

CRASHED = "The Arena ended while this run was active; resume it to go on from its last checkpoint."


def checkpoint_folder(paths: DataPaths, experiment_id: int) -> Path:
    """Return where an experiment's checkpoints lie."""
    return paths.experiment(experiment_id) / "checkpoints"


def interrupt_orphans(session: Session, paths: DataPaths) -> list[str]:
    """Mark every run that was active as interrupted; return their names.

    For the start of a server, when no worker of an earlier one can be alive.
    """
    orphans = store.in_states(session, store.ACTIVE_STATES)
    for experiment in orphans:
        adopt_checkpoints(session, paths, experiment)
        store.change_state(session, experiment, "interrupted", reason=CRASHED)
    return [experiment.name for experiment in orphans]


def adopt_checkpoints(
    session: Session, paths: DataPaths, experiment: Experiment
) -> list[RecordData]:
    """Note checkpoints that are whole on disk but not in the store.

    A trainer renames a finished checkpoint and then reports it, so one that died in between
    leaves it unreported. The checkpoint carries the report of its generation for that case.
    """
    folder = checkpoint_folder(paths, experiment.id)
    known = {row.name: row.sha256 for row in store.checkpoints(session, experiment)}
    appended: list[RecordData] = []
    for name in reversed(checkpoints.names(folder)):
        path = folder / name
        if known.get(name) != _digest(path):
            appended += _adopt(session, experiment, path)
    return appended


def _digest(path: Path) -> str | None:
    """Return what a checkpoint is known by: the SHA-256 of the manifest of its files."""
    try:
        return hashlib.sha256((path / checkpoints.MANIFEST).read_bytes()).hexdigest()
    except OSError:
        return None


def _adopt(session: Session, experiment: Experiment, path: Path) -> list[RecordData]:
    state = _state(path)
    if state is None:
        return []
    appended: list[RecordData] = []
    if state["message"] is not None:
        message = {**state["message"], "checkpoint": None}
        appended += store.ingest_generation(session, experiment, message)
    told = {**state["checkpoint"], "sha256": _digest(path), "path": str(path)}
    return appended + store.add_checkpoint(session, experiment, told)


def _state(path: Path) -> dict[str, Any] | None:
    """Return a checkpoint's own state, or None when it is not whole."""
    try:
        state: dict[str, Any] = json.loads(checkpoints.read(path)[checkpoints.STATE])
        return state
    except (checkpoints.CheckpointError, KeyError, ValueError) as problem:
        logger.warning("checkpoint %s is left out: %s", path, problem)
        return None


@dataclass(frozen=True)
class GoodCheckpoint:
    """A checkpoint that can be resumed from.

    Attributes:
        name: `step_<n>`.
        steps: Steps of a member.
        generation: The last generation that was finished, and reported, when it was written.
    """

    name: str
    steps: int
    generation: int


def last_good_checkpoint(session: Session, experiment: Experiment) -> GoodCheckpoint | None:
    """Return the checkpoint of most steps whose files are all there and undamaged."""
    for row in reversed(store.checkpoints(session, experiment)):
        state = _state(Path(row.path))
        if state is not None:
            message = state["message"]
            finished = 0 if message is None else int(message["generation"])
            return GoodCheckpoint(row.name, row.steps, finished)
    return None
