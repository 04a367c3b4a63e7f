"""What an environment is made of, carried to machines that do not have it.

A reference names folders and files of the Arena's machine: the source of an environment, tables,
recorded steps. They travel as archives and are unpacked where a member is hosted.
"""

from __future__ import annotations

import copy
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LIMIT = 1 << 30
"""Bytes above which a folder or file does not travel: it has to lie at the same path there."""
LEFT_OUT = frozenset({".git", ".venv", "__pycache__", "node_modules"})

Parcel = dict[str, bytes]
"""Archives by the place of their path in the reference, as in "dataset.path"."""

PLACES = ("source_dir", "features", "targets", "dataset.path")


def pack(reference: dict[str, Any], limit: int = LIMIT) -> Parcel:
    """Return what an environment's reference names, apart from what is above the limit in bytes.

    Raises:
        OSError: Something that it names cannot be read.
    """
    return {
        place: _archive(path)
        for place, path in _named(reference)
        if sum(file.stat().st_size for file in _files(path)) <= limit
    }


def unpack(reference: dict[str, Any], parcel: Parcel, folder: Path) -> dict[str, Any]:
    """Unpack into a folder; return the reference with the paths there.

    Raises:
        OSError: The folder cannot be written.
        tarfile.TarError: What arrived is not what was packed.
    """
    moved = copy.deepcopy(reference)
    for place, path in _named(reference):
        if place not in parcel:
            continue
        target = folder / place
        target.mkdir(parents=True)
        with tarfile.open(fileobj=io.BytesIO(parcel[place])) as archive:
            archive.extractall(target, filter="data")
        *outer, key = place.split(".")
        section = moved[outer[0]] if outer else moved
        section[key] = str(target / path.name)
    return moved


def _named(reference: dict[str, Any]) -> Iterator[tuple[str, Path]]:
    for place in PLACES:
        found: Any = reference
        for key in place.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, str) and Path(found).is_absolute():
            yield place, Path(found)


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for below in path.rglob("*"):
        if below.is_file() and not LEFT_OUT.intersection(below.relative_to(path).parts):
            yield below


def _archive(path: Path) -> bytes:
    body = io.BytesIO()
    # What a link leads to may lie outside of the folder, so that itself is packed.
    with tarfile.open(fileobj=body, mode="w", dereference=True) as archive:
        for file in sorted(_files(path)):
            archive.add(file, Path(path.name) / file.relative_to(path), recursive=False)
    return body.getvalue()
