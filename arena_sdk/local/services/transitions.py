"""The state machine of a run, as functions: what may follow what, and what it leaves behind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from arena_sdk.local.paths import DataPaths
from arena_sdk.local.run_options import read_options
from arena_sdk.local.store import experiments as store
from arena_sdk.local.store.experiments import RecordData
from arena_sdk.local.store.models import Experiment

from . import recovery
from .queue import Demand
from .refusals import conflict, invalid, not_found
from .removal import served
from .resolve import ResolvedEnvironment
from .submission import manifest_environment

if TYPE_CHECKING:
    from arena_sdk.local.jobs import JobOutcome

SHUT_DOWN = "The Arena was shut down; resume the run to go on from its last checkpoint."
RESTARTED = "The Arena ended while this run was active; it is resumed now."
AUTOMATIC_RESUMES = 3
"""How often a run is resumed by itself from one checkpoint without getting any further."""
STACK_LINES, STACK_LINE = 60, 500
"""How much of a stack is kept with a failure: its last lines, each up to so many characters."""
KILLED = (
    "The trainer did not stop in time and was killed; what followed its last checkpoint is lost."
)


class Ending(Protocol):
    """What is known of a run when its worker has ended."""

    stop_asked: bool
    closing: bool


def find(session: Session, name: str | None) -> Experiment:
    """Return the experiment of that name.

    Raises:
        ApiError: 422 without a name, 404 when there is none.
    """
    if not name:
        raise invalid("Name the experiment (experiment_name).", "EXPERIMENT_NAME_REQUIRED")
    experiment = store.by_name(session, name)
    if experiment is None:
        recent = store.names(session)[:5]
        have = f"the latest are {', '.join(recent)}" if recent else "there is none yet"
        raise not_found(f"No experiment is named {name!r}; {have}.", "EXPERIMENT_NOT_FOUND")
    return experiment


def to_running(session: Session, experiment: Experiment) -> list[RecordData]:
    """Say that its worker runs, unless it is being stopped already."""
    if experiment.state != "queued":
        return []
    return store.change_state(session, experiment, "running")


def to_stopping(session: Session, experiment: Experiment) -> list[RecordData]:
    """Say that it is being stopped, unless it ended by itself meanwhile."""
    if experiment.state not in ("queued", "running"):
        return []
    return store.change_state(session, experiment, "stopping")


def to_queued_again(
    session: Session,
    paths: DataPaths,
    experiment: Experiment,
    max_steps: int,
    *,
    automatic: str | None = None,
) -> list[RecordData]:
    """Queue an ended run from its last good checkpoint with a new budget.

    Args:
        session: The transaction.
        paths: The data folder.
        experiment: The row.
        max_steps: Its budget from now on.
        automatic: Why it is resumed though nobody asked for it just now. The budget is the old
            one then, which a run that was cut off at its very end may have used up.

    Raises:
        ApiError: 409 while it is active; 422 when the budget is not above the steps that it has
            done; 404 or 422 when its environment can no longer be used.
    """
    if experiment.state in store.ACTIVE_STATES and automatic is None:
        raise conflict(
            f"Experiment {experiment.name!r} is {experiment.state}; only an ended run can be"
            f" resumed. `arena experiments stop {experiment.name}` ends it.",
            "STILL_ACTIVE",
        )
    manifest_environment(session, paths, experiment.manifest, experiment.environment_version)
    records = recovery.adopt_checkpoints(session, paths, experiment)
    checkpoint = recovery.last_good_checkpoint(session, experiment)
    reached = 0 if checkpoint is None else checkpoint.steps
    if max_steps <= reached and automatic is None:
        raise invalid(
            f"Experiment {experiment.name!r} has done {reached:,} steps; max_steps must be above"
            f" that, not {max_steps:,}.",
            "BUDGET_TOO_SMALL",
            steps=reached,
        )
    if checkpoint is None and experiment.total_steps:
        records += store.add_warning(
            session, experiment, "No checkpoint is left, so training starts over."
        )
    store.rewind(session, experiment, 0 if checkpoint is None else checkpoint.generation, reached)
    experiment.max_steps = max_steps
    why: dict[str, Any] = {} if automatic is None else {"automatic": True, "reason": automatic}
    return records + store.change_state(
        session,
        experiment,
        "queued",
        resume_from=None if checkpoint is None else checkpoint.name,
        generation=experiment.generation,
        max_steps=max_steps,
        **why,
    )


def to_resumed_by_itself(
    session: Session, paths: DataPaths, experiment: Experiment, reason: str
) -> list[RecordData]:
    """Queue a run again that a crash cut off, unless it gets no further; then say so.

    Raises:
        ApiError: Its environment can no longer be used.
    """
    records = recovery.adopt_checkpoints(session, paths, experiment)
    checkpoint = recovery.last_good_checkpoint(session, experiment)
    name = None if checkpoint is None else checkpoint.name
    earlier = 0
    for record in reversed(store.state_records(session, experiment.id)):
        if record.data["state"] == "queued":
            if not record.data.get("automatic") or record.data.get("resume_from") != name:
                break
            earlier += 1
    if earlier >= AUTOMATIC_RESUMES:
        return records + store.add_warning(
            session,
            experiment,
            f"The run was resumed {earlier} times from {name or 'its start'} and got no further; it"
            " is not resumed by itself again.",
        )
    return records + to_queued_again(
        session, paths, experiment, experiment.max_steps, automatic=reason
    )


def demand_of(session: Session, experiment_id: int) -> Demand:
    """Return what a run needs to be trained."""
    experiment = session.get_one(Experiment, experiment_id)
    options = read_options(experiment.options)
    return Demand.of(experiment.id, experiment.name, experiment.project.name, options)


def standing(session: Session, experiment_id: int) -> dict[str, Any]:
    """Return where a run stands, as a stop or a resume answers."""
    experiment = session.get_one(Experiment, experiment_id)
    saved = store.checkpoints(session, experiment)
    return {
        "experiment_id": experiment.id,
        "experiment_name": experiment.name,
        "state": experiment.state,
        "steps": experiment.steps,
        "max_steps": experiment.max_steps,
        "checkpoint": saved[-1].name if saved else None,
    }


def removable(session: Session, name: str) -> Experiment:
    """Return an experiment that may be deleted.

    Raises:
        ApiError: 404 when there is none; 409 while it is active or its agent is being served.
    """
    experiment = find(session, name)
    if experiment.state in store.ACTIVE_STATES:
        raise conflict(
            f"Experiment {name!r} is {experiment.state}; stop it first: `arena experiments stop"
            f" {name}`.",
            "STILL_ACTIVE",
        )
    deployment = served(session, [experiment.id])
    if deployment is not None:
        raise conflict(
            f"The agent of experiment {name!r} is being served ({deployment}); stop it first:"
            f" `arena agent stop {deployment}`.",
            "EXPERIMENT_IN_USE",
        )
    return experiment


def ending(run: Ending, outcome: JobOutcome) -> tuple[str, dict[str, Any]]:
    """Return the state that a worker's end means, and what to say about it."""
    if outcome.ok:
        result = outcome.result or {}
        state = str(result.get("state", "completed"))
        if run.closing and state == "stopped":
            return "interrupted", {"reason": SHUT_DOWN}
        return state, {"reason": result.get("reason")}
    if run.closing:
        return "interrupted", {"reason": SHUT_DOWN}
    if run.stop_asked:
        return "stopped", {"reason": KILLED}
    return "failed", failure(outcome)


def failure(outcome: JobOutcome) -> dict[str, Any]:
    """Return why a worker failed: its sentence, and the end of its log when it crashed."""
    error = outcome.error or {}
    told: dict[str, Any] = {"error": str(error.get("message") or "The worker gave no reason.")}
    if error.get("error_code") in ("CRASH", "WORKER_DIED", "MEMBER_DIED", "MEMBER_FAILED"):
        told["log_tail"] = list(error.get("log_tail") or ())
    if error.get("stack"):
        told["stack"] = [str(line)[:STACK_LINE] for line in error["stack"][-STACK_LINES:]]
    return told


def problem_sentence(problem: Exception) -> str:
    """Return in a line what kept the server from following a run."""
    if isinstance(problem, OperationalError) and "full" in str(problem.orig):
        return (
            "The disk is full: what the run reported could not be stored. Make room, then resume"
            " the run."
        )
    text = str(problem).strip()
    return text.splitlines()[0] if text else type(problem).__name__


def overlay_python(paths: DataPaths, environment: ResolvedEnvironment) -> str | None:
    """Return the interpreter that has an environment's requirements; None for our own."""
    if environment.overlay is None:
        return None
    return str(paths.overlay(environment.overlay) / "bin" / "python")


def log_path(paths: DataPaths, experiment_id: int) -> Path:
    """Return the file that an experiment's trainers write to, through all its resumes."""
    return paths.experiment(experiment_id) / "log"
