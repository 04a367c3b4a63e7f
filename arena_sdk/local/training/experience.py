"""Replay buffers on disk: one rolling file a buffer beside the checkpoints, bounded in size.

Experience is worth keeping over a stop, but not a copy of it in every checkpoint. Each buffer has
one file that is written anew (aside, then renamed); a resumed run reads whatever is there. Old
experience stays valid for off-policy learning, so a file older than the checkpoint does no harm,
and a missing or damaged one only means that the buffer fills again.
"""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import numpy as np

from .replay import Replay

FOLDER = "experience"
LIMIT = 256 * 1024 * 1024
"""Bytes that all buffers of a run may take on disk; of a larger one the latest part is kept."""
MAGIC = b"arena-experience-1\n"


def save(replay: Replay, path: Path, limit: int) -> int:
    """Write the latest transitions of a buffer, as many as fit in the limit.

    Returns:
        Transitions written.

    Raises:
        OSError: The file could not be written; the one before it is as it was.
    """
    rows, data = encode(replay, limit)
    if rows:
        write(path, data)
    return rows


def encode(replay: Replay, limit: int) -> tuple[int, bytes]:
    """Return how many of a buffer's latest transitions fit in the limit, and them as a file."""
    rows = min(len(replay), max(1, limit // replay.row_bytes))
    if rows == 0:
        return 0, b""
    body = io.BytesIO()
    for column in replay.recent(rows):
        np.save(body, column, allow_pickle=False)
    data = body.getvalue()
    return rows, MAGIC + hashlib.sha256(data).hexdigest().encode() + b"\n" + data


def write(path: Path, data: bytes) -> None:
    """Write what `encode` gave: aside, then renamed.

    Raises:
        OSError: The file could not be written; the one before it is as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.tmp")
    try:
        with open(aside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise


def load(replay: Replay, path: Path) -> str | None:
    """Fill a buffer from its file; return a sentence when the file cannot be used, else None."""
    if not path.exists():
        return None
    try:
        return decode(replay, path.read_bytes(), path)
    except OSError as problem:
        return _unusable(path, problem)


def decode(replay: Replay, raw: bytes, path: Path) -> str | None:
    """Fill a buffer from what `encode` gave; return a sentence when it cannot be used, else None.

    Args:
        replay: The buffer.
        raw: The content of its file.
        path: Where that is, for the sentence.
    """
    try:
        if not raw.startswith(MAGIC):
            raise ValueError("it is not an experience file")
        digest, data = raw[len(MAGIC) :].split(b"\n", 1)
        if hashlib.sha256(data).hexdigest().encode() != digest:
            raise ValueError("its checksum does not match its content")
        body = io.BytesIO(data)
        replay.fill([np.load(body, allow_pickle=False) for _ in replay.columns])
    except (ValueError, EOFError) as problem:
        return _unusable(path, problem)
    return None


def not_saved(folder: Path, problem: OSError) -> str:
    """Say in a sentence that a buffer could not be written, and what follows."""
    return (
        f"The replay buffer was not saved in {folder} ({problem.strerror}); "
        "a resumed run would begin with the one saved before, or none."
    )


def _unusable(path: Path, problem: Exception) -> str:
    return f"The stored experience {path} cannot be used ({problem}); the buffer begins empty."
