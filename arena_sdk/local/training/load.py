"""What training costs the system: CPU and memory of each member's process, and the GPUs."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from collections.abc import Iterator

import psutil

GPU_QUERY = ("--query-gpu=utilization.gpu,memory.used", "--format=csv,noheader,nounits")
GPU_SECONDS = 2.0
MIB = 1 << 20


@contextlib.contextmanager
def measured() -> Iterator[dict[str, float]]:
    """Measure this process, with its children, over a piece of work.

    Yields:
        Filled in at the end: `cpu_percent`, of one core, and `memory_mb`, MiB that this process and
        its children have to themselves.
    """
    found: dict[str, float] = {}
    begun, before = time.perf_counter(), _cpu_seconds()
    yield found
    seconds = time.perf_counter() - begun
    if seconds > 0:
        found["cpu_percent"] = round(100 * max(0.0, _cpu_seconds() - before) / seconds, 1)
    found["memory_mb"] = round(_own_memory() / MIB, 1)


def _cpu_seconds() -> float:
    total = 0.0
    for process in _family():
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system
    return total


def _own_memory() -> int:
    total = 0
    for process in _family():
        with contextlib.suppress(psutil.Error):
            total += int(process.memory_full_info().uss)
    return total


def _family() -> list[psutil.Process]:
    me = psutil.Process()
    with contextlib.suppress(psutil.Error):
        return [me, *me.children(recursive=True)]
    return [me]


def gpu_load() -> dict[str, float]:
    """Return `gpu_percent`, the mean of this machine's GPUs, and `gpu_memory_mb`, MiB of all.

    Asked of NVIDIA's driver; nothing where there is none, or where it does not answer.
    """
    program = shutil.which("nvidia-smi")
    if program is None:
        return {}
    try:
        done = subprocess.run(
            [program, *GPU_QUERY], capture_output=True, text=True, timeout=GPU_SECONDS, check=True
        )
        rows = [[float(cell) for cell in line.split(",")] for line in done.stdout.splitlines()]
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    if not rows:
        return {}
    return {
        "gpu_percent": round(sum(row[0] for row in rows) / len(rows), 1),
        "gpu_memory_mb": sum(row[1] for row in rows),
    }
