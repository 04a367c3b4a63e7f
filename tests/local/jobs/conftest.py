"""A supervisor on a folder of its own, and jobs that behave badly."""

from __future__ import annotations

import contextlib
import shlex
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena_sdk.local.jobs import JobSpec, Supervisor
from arena_sdk.local.paths import DataPaths

FAULTY = Path(__file__).with_name("faulty.py")

MakeSpec = Callable[..., JobSpec]


@pytest.fixture
def paths(tmp_path: Path) -> DataPaths:
    """An empty data folder."""
    paths = DataPaths(tmp_path / "data")
    paths.create()
    return paths


@pytest.fixture
async def supervisor(paths: DataPaths) -> AsyncIterator[Supervisor]:
    """A supervisor that is shut down after the test."""
    supervisor = Supervisor(paths)
    yield supervisor
    await supervisor.shutdown(grace=0.5)
    assert supervisor.jobs == {}


@pytest.fixture
def faulty_python(tmp_path: Path) -> str:
    """An interpreter that runs `faulty.py` instead of the work."""
    script = tmp_path / "python"
    python, faulty = shlex.quote(sys.executable), shlex.quote(str(FAULTY))
    script.write_text(f'#!/bin/sh\nexec {python} -P {faulty} "$@"\n')
    script.chmod(0o755)
    return str(script)


@pytest.fixture
def faulty(faulty_python: str) -> MakeSpec:
    """Make the spec of a job with one of the behaviours of `faulty.py`."""

    def make(
        behaviour: str,
        *,
        timeout: float | None = None,
        log_path: Path | None = None,
        memory_gb: float | None = None,
        **payload: Any,
    ) -> JobSpec:
        return JobSpec(
            kind="train",
            payload={"behaviour": behaviour, **payload},
            python=faulty_python,
            timeout=timeout,
            log_path=log_path,
            memory_gb=memory_gb,
        )

    return make


@pytest.fixture
def full_file(tmp_path: Path) -> Path:
    """A file that takes no byte: the device for it, or where there is none, a folder."""
    device = Path("/dev/full")
    return device if device.exists() else tmp_path


def alive(pids: Iterable[int]) -> list[int]:
    """Return those processes that run; zombies do not."""
    found = []
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                found.append(pid)
    return found


def gone_within(pids: Iterable[int], seconds: float) -> bool:
    """Wait until none of the processes runs; tell whether that was in time."""
    pids = list(pids)
    deadline = time.monotonic() + seconds
    while alive(pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
