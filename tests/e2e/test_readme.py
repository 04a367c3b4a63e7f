"""What README says can be run is run, as it stands there and in its order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
QUICK_START = ("pip install", "arena demo")
"""Blocks of commands that `.ci/run` runs."""


def blocks() -> list[tuple[str, str]]:
    """Return the blocks of README that are commands or Python, in order."""
    found = re.findall(r"^```(bash|python)\n(.*?)^```$", README.read_text(), re.M | re.S)
    return [(kind, text) for kind, text in found if not any(word in text for word in QUICK_START)]


@pytest.fixture
def variables(tmp_path: Path) -> Iterator[dict[str, str]]:
    """An environment whose settings are its own, with our programs on its path."""
    home = tmp_path / "home"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ARENA_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    made = {**kept, "ARENA_HOME": str(home), "PATH": path, "COLUMNS": "120"}
    try:
        yield made
    finally:
        subprocess.run(["arena", "local", "down"], env=made, capture_output=True, timeout=60)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_block_runs(variables: dict[str, str], tmp_path: Path) -> None:
    kinds = {kind for kind, _ in blocks()}
    assert kinds == {"bash", "python"}
    for kind, text in blocks():
        free = text.replace("up --detach ", "up --detach --port 0 ")  # 8765 may be taken
        shell = ["bash", "-euo", "pipefail", "-c"]
        program = shell if kind == "bash" else [sys.executable, "-c"]
        done = subprocess.run(
            [*program, free],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            timeout=400,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        assert done.stdout or done.stderr, text
