"""A process, what it started, and what those left behind: found and ended together.

The process leads a group, so that a signal reaches all of its members at once, however fast they
multiply; who leaves the group is found as a descendant.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import psutil

ROUNDS = 20


def family_of(pid: int) -> list[psutil.Process]:
    """Return the members of a process's group and its descendants, itself included."""
    found: dict[int, psutil.Process] = {}
    with suppress(psutil.Error):
        leader = psutil.Process(pid)
        found = {process.pid: process for process in [leader, *leader.children(recursive=True)]}
    for other in psutil.pids():
        with suppress(OSError, psutil.Error):
            if other not in found and os.getpgid(other) == pid:
                found[other] = psutil.Process(other)
    return list(found.values())


def kill_family(pid: int) -> None:
    """Kill a process, its group and its descendants, until a look finds none of them.

    The group is stopped first, all at once: while it is looked at, it must not multiply, and those
    who left it must not lose the parents by which they are found.
    """
    for _ in range(ROUNDS):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGSTOP)
        family = family_of(pid)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        alive = False
        for process in family:
            with suppress(psutil.Error):
                alive = alive or process.status() != psutil.STATUS_ZOMBIE
                process.kill()
        if not alive:
            return
