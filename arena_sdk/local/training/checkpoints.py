"""Checkpoints on disk: whole or absent, and never read when damaged.

A checkpoint is a folder `step_<n>`. It is written under another name beside its place, flushed to
the disk and renamed. `manifest.json` in it holds its name, and the size and SHA-256 of every other
file.

```
agent.pt       the best member's agent, as AgileRL's `load` reads it
agent.json     {"algorithm", "steps", "fitness", "member", "observation_space", "action_space"}
state.json     the population, its counters and its lineage
members/<id>.agent, members/<id>.dormancy
manifest.json
```
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import TrainingError

if TYPE_CHECKING:
    from agilerl.algorithms.core import SingleAgentAlgorithm

MANIFEST = "manifest.json"
AGENT = "agent.pt"
AGENT_INFO = "agent.json"
STATE = "state.json"
FORMAT = 1
NAME = re.compile(r"step_(\d+)")
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class CheckpointError(TrainingError):
    """A checkpoint cannot be written or read; the message says which, where and why."""

    def __init__(self, message: str, error_code: str = "CHECKPOINT") -> None:
        super().__init__(message, error_code)


@dataclass(frozen=True)
class Written:
    """A checkpoint on disk: its folder, its size in bytes and its manifest's SHA-256."""

    path: Path
    size: int
    sha256: str


def write(folder: Path, name: str, files: dict[str, bytes]) -> Written:
    """Write a checkpoint, replacing one of the same name.

    Args:
        folder: Where the checkpoints of the run are; made when absent.
        name: `step_<n>`.
        files: Content by relative path.

    Raises:
        CheckpointError: It could not be written; nothing of it is left and others are untouched.
    """
    size = sum(len(data) for data in files.values())
    aside = folder / f".tmp-{name}-{os.getpid()}"
    target = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _require_room(folder, name, size)
        _clear(aside)
        manifest = _manifest(name, files)
        for relative, data in {**files, MANIFEST: manifest}.items():
            _write_file(aside / relative, data)
        for inner in sorted({(aside / relative).parent for relative in files} | {aside}):
            _sync_folder(inner)
        _put_in_place(aside, target)
        _sync_folder(folder)
    except OSError as problem:
        with contextlib.suppress(OSError):
            _clear(aside)
        raise _not_written(folder, name, size, problem) from None
    return Written(target, size + len(manifest), hashlib.sha256(manifest).hexdigest())


def read(path: Path) -> dict[str, bytes]:
    """Return the verified content of a checkpoint, by relative path.

    Raises:
        CheckpointError: It is absent, incomplete or damaged.
    """
    try:
        manifest = json.loads((path / MANIFEST).read_bytes())
        listed = dict(manifest["files"])
        written_as, version = str(manifest.get("name", path.name)), int(manifest["format"])
    except FileNotFoundError:
        raise CheckpointError(
            f"There is no whole checkpoint at {path}: its {MANIFEST} is missing. Use another one."
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise _damaged(path, f"its {MANIFEST} cannot be read ({problem})") from None
    if version > FORMAT:
        raise CheckpointError(
            f"Checkpoint {path} was written by a newer version of arena-tui (format {version},"
            f" this one reads up to {FORMAT}); use that version."
        )
    if written_as != path.name:
        raise _damaged(path, f"it was written as {written_as}")
    files = {}
    for relative, entry in listed.items():
        try:
            data = (path / relative).read_bytes()
        except OSError as problem:
            raise _damaged(path, f"{relative} cannot be read ({problem.strerror})") from None
        if len(data) != entry["bytes"]:
            raise _damaged(path, f"{relative} has {len(data)} bytes instead of {entry['bytes']}")
        if hashlib.sha256(data).hexdigest() != entry["sha256"]:
            raise _damaged(path, f"{relative} does not match its checksum")
        files[relative] = data
    return files


def load_agent(path: Path) -> SingleAgentAlgorithm[Any]:
    """Return the best member's agent of a checkpoint, on the CPU.

    Args:
        path: The checkpoint's folder.

    Raises:
        CheckpointError: The checkpoint is absent, damaged or of another version of AgileRL.
    """
    files = read(path)
    from .agents import AgentState, restore

    try:
        info = json.loads(files[AGENT_INFO])
        return restore(AgentState(info["algorithm"], files[AGENT]))
    except Exception as problem:
        raise CheckpointError(
            f"The agent of {path} cannot be loaded by the AgileRL that is installed "
            f"({type(problem).__name__}: {problem}). Use the version that wrote it."
        ) from problem


def names(folder: Path) -> list[str]:
    """Return the names of the checkpoints in a folder, latest first."""
    found = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    return sorted((n for n in found if NAME.fullmatch(n)), key=step_of, reverse=True)


def step_of(name: str) -> int:
    """Return n of `step_<n>`."""
    match = NAME.fullmatch(name)
    if match is None:
        raise CheckpointError(f"{name!r} is not the name of a checkpoint; they are named step_<n>.")
    return int(match.group(1))


def latest_good(folder: Path, *, before: str | None = None) -> Path | None:
    """Return the latest undamaged checkpoint of a folder, or None.

    Args:
        folder: Where the checkpoints of the run are.
        before: Consider only those of fewer steps than this one has.
    """
    for name in names(folder):
        if before is not None and step_of(name) >= step_of(before):
            continue
        with contextlib.suppress(CheckpointError):
            read(folder / name)
            return folder / name
    return None


def clear_leftovers(folder: Path) -> None:
    """Remove what interrupted writes left; put back a checkpoint caught while being replaced."""
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.name.startswith(".old-"):
            target = folder / entry.name.removeprefix(".old-")
            if not target.exists():
                entry.rename(target)
                continue
        if entry.name.startswith((".tmp-", ".old-")):
            shutil.rmtree(entry, ignore_errors=True)


def _manifest(name: str, files: dict[str, bytes]) -> bytes:
    entries = {
        relative: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for relative, data in files.items()
    }
    return json.dumps({"format": FORMAT, "name": name, "files": entries}, indent=1).encode()


def _write_file(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _put_in_place(aside: Path, target: Path) -> None:
    """Rename a finished folder to its place; one that is there is put back should that fail."""
    if not target.exists():
        os.rename(aside, target)
        return
    old = target.with_name(f".old-{target.name}")
    _clear(old)
    os.rename(target, old)
    try:
        os.rename(aside, target)
    except OSError:
        os.rename(old, target)
        raise
    _clear(old)


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _clear(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def _require_room(folder: Path, name: str, size: int) -> None:
    if shutil.disk_usage(folder).free < size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _not_written(folder: Path, name: str, size: int, problem: OSError) -> CheckpointError:
    if problem.errno not in NO_ROOM:
        reason = problem.strerror or str(problem)
        return CheckpointError(
            f"Checkpoint {name} could not be written in {folder}: {reason}. "
            "Make the folder writable, then resume the run."
        )
    free = 0
    with contextlib.suppress(OSError):
        free = shutil.disk_usage(folder).free
    return CheckpointError(
        f"The disk is full: checkpoint {name} needs {_megabytes(size)} in {folder} and "
        f"{_megabytes(free)} is free. Make room there, then resume the run from the checkpoint "
        "before it.",
        "DISK_FULL",
    )


def _damaged(path: Path, why: str) -> CheckpointError:
    return CheckpointError(
        f"Checkpoint {path} is damaged: {why}. Use an earlier one.", "CHECKPOINT_DAMAGED"
    )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1e3:,.1f} kB"
