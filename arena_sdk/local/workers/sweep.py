"""Finds and ends what a worker left behind outside its process group.

User code may start daemons in sessions of their own, which a signal to the group does not reach.
Every worker carries the path of its job's folder in its environment, and so does all that it
starts; by that mark they are found.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

MARK = "ARENA_WORKER_FOLDER"


def kill_marked(folder: Path | str) -> int:
    """Kill every process that carries the mark of a job's folder, or of one below it.

    Args:
        folder: The folder of one job, or that of all jobs.

    Returns:
        How many processes were ended; this process is never one of them.
    """
    import psutil

    ended = 0
    for process in _marked(os.fspath(folder)):
        with contextlib.suppress(psutil.Error):
            process.kill()
            ended += 1
    return ended


def _marked(folder: str) -> Iterator[psutil.Process]:
    import psutil

    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        try:
            mark = process.environ().get(MARK, "")
        except (psutil.Error, OSError):  # gone meanwhile, or another user's
            continue
        if mark == folder or mark.startswith(folder + os.sep):
            yield process
