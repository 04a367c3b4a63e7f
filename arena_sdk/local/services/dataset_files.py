"""Files of a dataset on their way into its folder: from an upload, or from the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from arena_sdk.local.datasets.naming import (
    check_together,
    common_kind,
    kind_of,
    of_config,
    relative_path,
)
from arena_sdk.local.huggingface.cache import Repository
from arena_sdk.local.huggingface.datasets import split_files

CHUNK = 1 << 20


@dataclass(frozen=True)
class Given:
    """One uploaded file.

    Attributes:
        name: The relative path that it was sent under.
        content_type: What it was sent as.
        file: Its content, at its start.
    """

    name: str
    content_type: str | None
    file: IO[bytes]


@dataclass(frozen=True)
class Kept:
    """The files of a dataset in their folder.

    Attributes:
        kind: `csv` or `parquet`.
        files: `{"path", "size_bytes", "sha256"}` of each.
        hub_name: Where on the hub they are from, if they are.
    """

    kind: str
    files: list[dict[str, Any]]
    hub_name: str | None = None


def keep_uploads(given: Sequence[Given], config: str | None, target: Path) -> Kept:
    """Copy uploaded files under their relative paths.

    Args:
        given: The uploads.
        config: Only the files of this configuration.
        target: A new folder; what is in it after a failure is the caller's to remove.

    Raises:
        DatasetProblem: A name cannot be used, or the files do not make one dataset.
        OSError: The disk is full, or the like.
    """
    paths = [relative_path(file.name) for file in given]
    check_together(paths)
    by_path = dict(zip(paths, given, strict=True))
    chosen = of_config(paths, config)
    kind = common_kind([kind_of(path, by_path[path].content_type) for path in chosen])
    target.mkdir()
    files = []
    for path in chosen:
        with _new_file(target, path) as copy:
            files.append(_copied(by_path[path].file, copy, path))
    return Kept(kind, files)


def keep_cached(
    repository: Repository, config: str | None, split: str | None, target: Path
) -> Kept:
    """Copy the files of a split, so that the dataset outlives the cache.

    Raises:
        DatasetProblem: There is no such configuration or split.
        OSError: The disk is full, or the like.
    """
    paths = split_files(repository, config, split)
    return keep_copies(repository.name, repository.snapshot, paths, target)


def keep_copies(name: str, folder: Path, paths: Sequence[PurePosixPath], target: Path) -> Kept:
    """Copy files of a dataset of the hub.

    Raises:
        DatasetProblem: They do not make one dataset.
        OSError: The disk is full, or the like.
    """
    check_together(paths)
    kind = common_kind([kind_of(path, None) for path in paths])
    target.mkdir()
    files = []
    for path in paths:
        with (folder / path).open("rb") as source, _new_file(target, path) as copy:
            files.append(_copied(source, copy, path))
    return Kept(kind, files, name)


def _copied(source: IO[bytes], copy: IO[bytes], path: PurePosixPath) -> dict[str, Any]:
    """Copy a file; return where it lies, its size and the SHA-256 of its content."""
    content = hashlib.sha256()
    while chunk := source.read(CHUNK):
        copy.write(chunk)
        content.update(chunk)
    return {"path": str(path), "size_bytes": copy.tell(), "sha256": content.hexdigest()}


def _new_file(target: Path, path: PurePosixPath) -> IO[bytes]:
    place = target / path
    place.parent.mkdir(parents=True, exist_ok=True)
    return place.open("xb")
