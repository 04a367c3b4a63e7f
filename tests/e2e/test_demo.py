"""`arena demo`: the whole job, and nothing left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.slow

LIMIT_SECONDS = 150


def processes_in(folder: Path) -> list[psutil.Process]:
    """Return every process that was started under `folder`, by its environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("TMPDIR") == str(folder):
                found.append(process)
        except (psutil.AccessDenied, psutil.NoSuchProcess):
            continue
    return found


@pytest.fixture
def demo_environment(tmp_path: Path) -> dict[str, str]:
    """A temporary folder that only the demonstration uses, so that leftovers can be told."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    return {**os.environ, "TMPDIR": str(folder)}


@pytest.mark.timeout(400)
def test_demo_beats_random_and_leaves_nothing(demo_environment: dict[str, str]) -> None:
    start = time.monotonic()
    result = subprocess.run(
        [sys.executable, "-m", "arena_sdk.cli", "demo"],
        env=demo_environment,
        capture_output=True,
        text=True,
        timeout=350,
    )
    seconds = time.monotonic() - start
    assert result.returncode == 0, result.stderr[-4000:]
    figures = dict(re.findall(r"^(\S.*?)\s{2,}(\S.*)$", result.stdout, re.MULTILINE))
    agent = float(figures["agent mean return"].replace(",", ""))
    random = float(figures["random mean return"].replace(",", ""))
    assert agent > random
    assert seconds < LIMIT_SECONDS
    assert list(Path(demo_environment["TMPDIR"]).iterdir()) == []
    assert processes_in(Path(demo_environment["TMPDIR"])) == []
    assert not Path(demo_environment["ARENA_HOME"]).exists()


@pytest.mark.timeout(200)
def test_interrupted_demo_leaves_nothing(demo_environment: dict[str, str]) -> None:
    folder = Path(demo_environment["TMPDIR"])
    process = subprocess.Popen(
        [sys.executable, "-m", "arena_sdk.cli", "demo"],
        env=demo_environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "train a population" in line:
            break
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    deadline = time.monotonic() + 10
    while processes_in(folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes_in(folder) == []
    assert list(folder.iterdir()) == []
