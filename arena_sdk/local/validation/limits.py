"""What a process of user code may take: memory, processes, and the processor only when it is free.

Limits of the kernel stop what is quicker than the guard that watches. They are per process, or for
processes per user, so the guard counts besides.
"""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

import psutil

NICENESS = 5
"""Servers and training go first."""
MORE_TASKS = 512
"""Processes and threads that may be added to those that the user has when user code begins."""
FILE_BYTES = 8 << 30
"""Size of one file."""
FIRST_TO_GO = 900
"""Of -1000 to 1000: when memory is short, the kernel ends user code and not the server."""
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def machine_memory() -> int:
    """Return the bytes of memory that there are, in this container where it has a limit."""
    whole = int(psutil.virtual_memory().total)
    with suppress(OSError, ValueError):  # no cgroup, or "max"
        return min(whole, int(CGROUP_LIMIT.read_text()))
    return whole


def limit_this_process() -> None:
    """Limit this process and all that it starts.

    Memory: no process may map more for itself than the machine has, so that a wild size is a
    MemoryError at once and not the end of something else. Processes: those of the user, with
    threads, may grow by `MORE_TASKS`; for root the kernel has no such limit, and the guard's count
    is all there is.
    """
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, FILE_BYTES)
    _lower(resource.RLIMIT_DATA, machine_memory())
    if os.getuid() != 0:
        _lower(resource.RLIMIT_NPROC, _tasks_of_user() + MORE_TASKS)
    with suppress(OSError):
        os.nice(NICENESS)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(FIRST_TO_GO))


def _lower(which: int, limit: int) -> None:
    with suppress(OSError, ValueError):
        _, hard = resource.getrlimit(which)
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(which, (limit, limit))


def _tasks_of_user() -> int:
    me = os.getuid()
    count = 0
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.uids().real == me:
                count += process.num_threads()
    return count
