"""The published client in a virtual environment of its own, made once and kept."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REQUIREMENT = "agilerl-arena==1.29.0"


def _made(folder: Path) -> Path:
    """Return the interpreter of the environment in a folder; make that one when it is not whole."""
    python, whole = folder / "bin" / "python", folder / "whole"
    if whole.exists() and python.exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "-q", "-p", sys.executable, str(folder)], check=True, timeout=120)
    install = [*uv, "pip", "install", "-q", "-p", str(python), REQUIREMENT]
    subprocess.run(install, check=True, timeout=600)
    whole.touch()
    return python


@pytest.fixture(scope="session")
def oracle_python(request: pytest.FixtureRequest) -> str:
    """The interpreter that has the published client; `arena` stands beside it.

    `ARENA_ORACLE_PYTHON` names one that is there already. Tests that use this are slow.
    """
    given = os.environ.get("ARENA_ORACLE_PYTHON")
    if given:
        return given
    cache = request.config.cache
    assert cache is not None
    folder = Path(cache.mkdir("published-client"))
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other runs of the tests may want it at the same time
        return str(_made(folder / REQUIREMENT.replace("==", "-")))
