"""Lines that several processes print into one log."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PRINTS = """
import os
from arena_sdk.local.workers.printing import print_whole_lines
print_whole_lines()
children = []
for letter in "abc":
    child = os.fork()
    if not child:
        for _ in range(3000):
            print(letter * 20)
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
"""


def test_lines_of_processes_that_share_a_log_stay_whole(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("ab") as file:
        subprocess.run(
            [sys.executable, "-c", PRINTS],
            stdout=file,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            check=True,
        )
    lines = log.read_text().splitlines()
    assert len(lines) == 9000
    assert set(lines) == {letter * 20 for letter in "abc"}
