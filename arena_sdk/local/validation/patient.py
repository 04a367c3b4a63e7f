"""How long a process has been at something, as it sees it itself.

On a busy machine a sound environment waits for the processor longer than any limit. So limits are
held against a time that stands still while the process could run and others did, and while the one
who watches it did not run himself and could not have heard it. Sleeping, waiting for a lock and
computing all count.
"""

from __future__ import annotations

import time
from pathlib import Path

OWN_ACCOUNT = Path("/proc/self/schedstat")
LONGEST_LOOK = 0.5
"""Seconds that may lie between two looks; more than that the watcher was kept from looking."""
LOOK_EVERY = 0.02
WALL_FACTOR = 5.0
"""A machine so busy that wall time is this many times the other one does not let it end at all."""


class PatientClock:
    """A clock of one process, by the kernel's account of how long it waited for a processor.

    It must be read at least once every `LONGEST_LOOK` seconds. Where the kernel keeps no such
    account (https://docs.kernel.org/scheduler/sched-stats.html), all time counts.

    Args:
        pid: The process.
    """

    def __init__(self, pid: int) -> None:
        self._account = Path(f"/proc/{pid}/schedstat")
        self._looked = time.monotonic()
        self._waited = waited_seconds(self._account)
        self._seconds = 0.0

    def now(self) -> float:
        """Return the seconds since it was made."""
        wall = time.monotonic()
        passed = wall - self._looked
        if passed >= LOOK_EVERY:
            waited = max(self._waited, waited_seconds(self._account))
            counted = min(passed, LONGEST_LOOK) - (waited - self._waited)
            self._seconds += max(counted, passed / WALL_FACTOR)
            self._looked, self._waited = wall, waited
        return self._seconds


def waited_seconds(account: Path = OWN_ACCOUNT) -> float:
    """Return how long a process was ready to run and did not; 0 where that is not known.

    Args:
        account: The kernel's account of it; this process's own when left out.
    """
    try:
        return int(account.read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
