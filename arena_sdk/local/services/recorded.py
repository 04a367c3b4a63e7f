"""What is learned from files: tables that become bandits, and recorded steps.

Files are named by path on the Arena's own machine. They are only looked for here; workers read
them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from .refusals import invalid
from .resolve import ResolvedEnvironment


def bandit_of(section: dict[str, Any], training: dict[str, Any]) -> ResolvedEnvironment:
    """Return the bandit that a manifest's environment section describes.

    Args:
        section: `environment`, of env_type bandit.
        training: `training`; `episode_steps` is read.

    Raises:
        ApiError: 422 when it names no tables, or they are not there.
    """
    if section.get("entrypoint") or not (section.get("features") and section.get("targets")):
        raise invalid(
            "Bandits are made of tables here: give environment.features and environment.targets,"
            " the paths of CSV or Parquet files.",
            "UNSUPPORTED_ENVIRONMENT",
        )
    reference = {
        "kind": "bandit",
        "name": str(section["name"]),
        "features": str(_existing(section["features"], "environment.features")),
        "targets": str(_existing(section["targets"], "environment.targets")),
        "episode_steps": training.get("episode_steps"),
    }
    return ResolvedEnvironment(name=str(section["name"]), version=None, reference=reference)


def with_dataset(found: ResolvedEnvironment, section: dict[str, Any]) -> ResolvedEnvironment:
    """Return an environment with the recorded steps to learn from.

    Args:
        found: Where what was learned is evaluated.
        section: `environment`, of env_type offline.

    Raises:
        ApiError: 422 when it names no dataset, or a file that is not there.
    """
    path, minari = section.get("dataset_path"), section.get("minari_dataset_id")
    if bool(path) == bool(minari):
        raise invalid(
            "Give either environment.dataset_path, the path of an HDF5 file of recorded steps, or"
            " environment.minari_dataset_id.",
            "DATASET_REQUIRED",
        )
    dataset: dict[str, Any] = {"minari": minari, "remote": bool(section.get("remote"))}
    if path:
        dataset = {"path": str(_existing(path, "environment.dataset_path"))}
    return replace(found, reference={**found.reference, "dataset": dataset})


def _existing(given: Any, where: str) -> Path:
    path = Path(str(given)).expanduser()
    if not path.is_absolute():
        raise invalid(
            f"{where} {str(given)!r} is relative; give the whole path, since the Arena was started"
            " somewhere else.",
            "FILE_NOT_FOUND",
        )
    if not path.is_file():
        raise invalid(f"{where}: there is no file {path}.", "FILE_NOT_FOUND")
    return path
