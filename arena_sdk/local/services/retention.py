"""Which checkpoints of a run are kept, and the removal of the others.

The server decides, not the trainer: only it knows which ones are being served. The newest is always
kept, as a run goes on from it.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from arena_sdk.local.run_options import Keep, read_options
from arena_sdk.local.store import experiments as store
from arena_sdk.local.store.deployments import LIVE_STATUSES
from arena_sdk.local.store.models import Checkpoint, Deployment, Experiment

ASIDE = ".tmp-removed-"
"""What a folder is called while it is being removed; the trainer clears such leftovers."""


def policy(experiment: Experiment) -> Keep:
    """Return what a run asks to be kept: its option, else what its manifest says."""
    keep = read_options(experiment.options).keep
    overwrite = experiment.manifest.get("training", {}).get("overwrite_checkpoints", False)
    return Keep.model_validate({"last": 1}) if keep.everything and overwrite else keep


def expired(saved: Sequence[Checkpoint], keep: Keep) -> list[Checkpoint]:
    """Return the checkpoints that no part of a policy keeps.

    Args:
        saved: All of a run, in order of steps.
        keep: The policy.
    """
    if keep.everything or not saved:
        return []
    kept = {row.name for row in saved[-(keep.last or 1) :]}
    scored = sorted(saved, key=lambda row: (_score(row), row.steps), reverse=True)
    kept |= {row.name for row in scored[: keep.best or 0]}
    if keep.every is not None:
        kept |= {row.name for row in saved if row.generation % keep.every == 0}
    return [row for row in saved if row.name not in kept]


def forget_expired(session: Session, experiment: Experiment) -> list[Path]:
    """Remove the rows of checkpoints that are not to be kept; return their folders."""
    gone = expired(store.checkpoints(session, experiment), policy(experiment))
    if not gone:
        return []
    query = select(Deployment.checkpoint).where(
        Deployment.experiment_id == experiment.id, Deployment.status.in_(LIVE_STATUSES)
    )
    served = set(session.scalars(query))
    folders = []
    for row in gone:
        if row.name not in served:
            folders.append(Path(row.path))
            session.delete(row)
    session.flush()
    return folders


def remove_folders(folders: Sequence[Path]) -> None:
    """Remove checkpoints' folders: each is out of the way at once, and then removed."""
    for folder in folders:
        aside = folder.with_name(ASIDE + folder.name)
        try:
            folder.rename(aside)
        except OSError:
            continue
        shutil.rmtree(aside, ignore_errors=True)


def _score(row: Checkpoint) -> float:
    score = row.evaluation_score
    return -math.inf if score is None or math.isnan(score) else score
