"""How much memory a job uses, and the limit that keeps one job from taking the machine."""

from __future__ import annotations

import asyncio
import contextlib

import psutil

CHECK_SECONDS = 1.0
SHARE_OF_MACHINE = 0.9
GIB = 1 << 30


def default_limit_gb() -> float:
    """Return what a job may use when nothing else is said, in GiB: most of this machine."""
    return float(psutil.virtual_memory().total * SHARE_OF_MACHINE / GIB)


def used_gb(pid: int, above: float) -> float:
    """Return what a process and its descendants use, in GiB.

    Resident sizes count what processes share once for each of them, which makes a population of
    forks look enormous; so where that sum is above the limit, shares are counted instead.

    Args:
        pid: The process.
        above: The limit, in GiB, below which the quick sum is exact enough.
    """
    processes = []
    with contextlib.suppress(psutil.Error):
        top = psutil.Process(pid)
        processes = [top, *top.children(recursive=True)]
    quick = sum(_resident(process) for process in processes) / GIB
    if quick <= above:
        return quick
    return sum(_share(process) for process in processes) / GIB


def _resident(process: psutil.Process) -> int:
    with contextlib.suppress(psutil.Error):
        return int(process.memory_info().rss)
    return 0


def _share(process: psutil.Process) -> int:
    with contextlib.suppress(psutil.Error):
        full = process.memory_full_info()
        return int(getattr(full, "pss", full.uss))
    return 0


async def wait_until_above(pid: int, limit_gb: float) -> None:
    """Return once a process and its descendants use more than the limit."""
    while True:
        await asyncio.sleep(CHECK_SECONDS)
        if await asyncio.to_thread(used_gb, pid, limit_gb) > limit_gb:
            return
