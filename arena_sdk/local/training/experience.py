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
    rows = min(len(replay), max(1, limit // replay.row_bytes))
    if rows == 0:
        return 0
    body = io.BytesIO()
    for column in replay.recent(rows):
        np.save(body, column, allow_pickle=False)
    data = body.getvalue()
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.tmp")
    try:
        with open(aside, "wb") as file:
            file.write(MAGIC + hashlib.sha256(data).hexdigest().encode() + b"\n")
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
    return rows


def load(replay: Replay, path: Path) -> str | None:
    """Fill a buffer from its file; return a sentence when the file cannot be used, else None."""
    if not path.exists():
        return None
    try:
        raw = path.read_bytes()
        if not raw.startswith(MAGIC):
            raise ValueError("it is not an experience file")
        digest, data = raw[len(MAGIC) :].split(b"\n", 1)
        if hashlib.sha256(data).hexdigest().encode() != digest:
            raise ValueError("its checksum does not match its content")
        body = io.BytesIO(data)
        replay.fill([np.load(body, allow_pickle=False) for _ in replay.columns])
    except (OSError, ValueError, EOFError) as problem:
        return f"The stored experience {path} cannot be used ({problem}); the buffer begins empty."
    return None
