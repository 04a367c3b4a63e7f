"""Experiments and checkpoints as they are sent."""

from __future__ import annotations

import math
from typing import Any

from arena_sdk.local.store.experiments import encode_tree
from arena_sdk.local.store.models import Checkpoint, Experiment
from arena_sdk.local.times import iso


def experiment_json(experiment: Experiment) -> dict[str, Any]:
    """Return an experiment's row; floats that are not finite by name."""
    row = {
        "name": experiment.name,
        "id": experiment.id,
        "project": experiment.project.name,
        "state": experiment.state,
        "algorithm": experiment.algorithm,
        "environment": experiment.environment,
        "environment_version": experiment.environment_version,
        "resource_id": experiment.resource_id,
        "num_nodes": experiment.num_nodes,
        "pop_size": experiment.pop_size,
        "max_steps": experiment.max_steps,
        "target_score": experiment.target_score,
        "generation": experiment.generation,
        "steps": experiment.steps,
        "total_steps": experiment.total_steps,
        "best_fitness": experiment.best_fitness,
        "mean_fitness": experiment.mean_fitness,
        "steps_per_second": experiment.steps_per_second,
        "fitness_history": list(experiment.fitness_history),
        "created_at": iso(experiment.created_at),
        "started_at": None if experiment.started_at is None else iso(experiment.started_at),
        "ended_at": None if experiment.ended_at is None else iso(experiment.ended_at),
        "error": experiment.error,
        "warnings": list(experiment.warnings),
        "last_seq": experiment.last_seq,
        "options": dict(experiment.options or {}),
        "overrides": dict(experiment.overrides or {}),
    }
    return dict(encode_tree(row))


ROW_KEYS = (
    "name", "id", "state", "algorithm", "environment", "steps", "max_steps", "best_fitness",
    "steps_per_second", "resource_id", "created_at", "error",
)  # fmt: skip


def experiment_row(experiment: Experiment) -> dict[str, Any]:
    """Return what a list needs of an experiment."""
    whole = experiment_json(experiment)
    return {key: whole[key] for key in ROW_KEYS}


def checkpoint_json(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return a checkpoint's row."""
    return {
        "name": checkpoint.name,
        "steps": checkpoint.steps,
        "generation": checkpoint.generation,
        "member": checkpoint.member,
        "evaluation_score": _known(checkpoint.evaluation_score),
        "training_score": _known(checkpoint.training_score),
        "size_mb": checkpoint.size_mb,
        "sha256": checkpoint.sha256,
        "created_at": iso(checkpoint.created_at),
    }


def _known(score: float | None) -> float | None:
    return None if score is None or not math.isfinite(score) else score
