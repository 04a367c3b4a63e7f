"""What a worker is told that is to train a run."""

from __future__ import annotations

from sqlalchemy.orm import Session

from arena_sdk.local.jobs import JobSpec
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.run_options import read_options
from arena_sdk.local.server_settings import ServerSettings
from arena_sdk.local.store.models import Experiment

from . import recovery
from .submission import manifest_environment
from .transitions import log_path, overlay_python


def train_job(
    session: Session, paths: DataPaths, settings: ServerSettings, experiment: Experiment
) -> JobSpec:
    """Return the job that trains a run, from its last good checkpoint where it has one.

    Its folder of checkpoints is made where there is none yet.

    Args:
        session: A session that the experiment belongs to.
        paths: The data folder.
        settings: How runs are run.
        experiment: The run.

    Raises:
        ApiError: The environment that its manifest names is not there any more.
    """
    environment = manifest_environment(
        session, paths, experiment.manifest, experiment.environment_version
    )
    options = read_options(experiment.options)
    checkpoint = recovery.last_good_checkpoint(session, experiment)
    folder = recovery.checkpoint_folder(paths, experiment.id)
    folder.mkdir(parents=True, exist_ok=True)
    return JobSpec(
        kind="train",
        payload={
            "experiment_id": experiment.id,
            "name": experiment.name,
            "manifest": experiment.manifest,
            "environment": environment.reference,
            "checkpoint_dir": str(folder),
            "resume_from": None if checkpoint is None else checkpoint.name,
            "max_steps": experiment.max_steps,
            "options": options.model_dump(),
            **settings.of_jobs(experiment.num_nodes),
        },
        memory_gb=options.memory_gb,
        python=overlay_python(paths, environment),
        log_path=log_path(paths, experiment.id),
    )
