"""The Hugging Face cache: where it is, and which repositories it holds.

Layout: `hub/models--OWNER--NAME/{refs/main, snapshots/COMMIT/…, blobs/}`, the files of a snapshot
being links to blobs (https://huggingface.co/docs/huggingface_hub/guides/manage-cache).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

COMMIT_LENGTH = 200


@dataclass(frozen=True)
class Repository:
    """A repository of the cache at its newest known revision.

    Attributes:
        name: `owner/name`, or `name` alone.
        revision: The commit.
        snapshot: Its files.
    """

    name: str
    revision: str
    snapshot: Path


def hub_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Return where the cache is: HF_HUB_CACHE, else below HF_HOME, else below the user's cache."""
    variables = os.environ if environment is None else environment
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if variables.get(name):
            return Path(variables[name]).expanduser()
    if variables.get("HF_HOME"):
        return Path(variables["HF_HOME"]).expanduser() / "hub"
    cache = variables.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "huggingface" / "hub"


def repositories(kind: str, hub: Path) -> list[Repository]:
    """Return the repositories of a kind, by name.

    Args:
        kind: `models` or `datasets`.
        hub: The cache; one that is not there holds none.
    """
    prefix = f"{kind}--"
    try:
        folders = sorted(path for path in hub.iterdir() if path.name.startswith(prefix))
    except OSError:
        return []
    found = (_repository(path, prefix) for path in folders)
    return [repository for repository in found if repository is not None]


def find(kind: str, name: str, hub: Path) -> Repository | None:
    """Return one repository by its name, in upper or lower case."""
    wanted = name.casefold()
    return next((r for r in repositories(kind, hub) if r.name.casefold() == wanted), None)


def _repository(folder: Path, prefix: str) -> Repository | None:
    snapshot = _snapshot(folder)
    if snapshot is None:
        return None
    name = folder.name.removeprefix(prefix).replace("--", "/")
    return Repository(name, snapshot.name, snapshot)


def _snapshot(folder: Path) -> Path | None:
    """Return the snapshot that `main` points to, else the newest one."""
    snapshots = folder / "snapshots"
    try:
        with (folder / "refs" / "main").open(encoding="utf-8") as file:
            commit = file.read(COMMIT_LENGTH).strip()
        if commit and "/" not in commit and (snapshots / commit).is_dir():
            return snapshots / commit
    except (OSError, UnicodeDecodeError):
        pass
    try:
        known = [path for path in snapshots.iterdir() if path.is_dir()]
    except OSError:
        return None
    return max(known, key=lambda path: path.stat().st_mtime, default=None)
