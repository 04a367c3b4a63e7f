"""The published program `arena` in one process that runs command after command.

Starting that program takes it seconds. Run as a script by its interpreter, this reads one JSON
object a line, runs its words as a command and answers with what came of it; it imports nothing of
ours.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Ended:
    """What a command left: its exit code and what it wrote, standard error included."""

    code: int
    output: str


class Published:
    """The published program, running and ready for commands.

    Args:
        process: Runs this script.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, *words: str, folder: Path | None = None, **variables: str) -> Ended:
        """Run a command to its end, in a folder and with variables set from now on."""
        asked = {"words": words, "folder": str(folder or ""), "variables": variables}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the program died at {words}"
        return Ended(**json.loads(line))


@contextmanager
def program_of(python: str, environment: dict[str, str]) -> Iterator[Published]:
    """Start the program `arena` of an interpreter."""
    process = subprocess.Popen(
        [python, __file__],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    try:
        yield Published(process)
    finally:
        process.kill()
        process.communicate()


def _run(group: Any, asked: dict[str, Any]) -> dict[str, Any]:
    from click.testing import CliRunner

    os.environ.update(asked["variables"])
    if asked["folder"]:
        os.chdir(asked["folder"])
    result = CliRunner().invoke(group, asked["words"], prog_name="arena")
    said = result.output
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        said += f"{type(result.exception).__name__}: {result.exception}"
    return {"code": result.exit_code, "output": said}


def _serve() -> None:
    """Run what is asked for until standard input ends."""
    programs = importlib.metadata.entry_points(group="console_scripts", name="arena")
    group = next(iter(programs)).load()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a command writes past the runner is no answer
    for line in sys.stdin:
        with contextlib.suppress(BrokenPipeError):
            answers.write(json.dumps(_run(group, json.loads(line))) + "\n")
            answers.flush()


if __name__ == "__main__":
    _serve()
