"""Real processes that use one login at the same moment."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from arena_sdk import ArenaClient

with ArenaClient() as client:
    client.settings
    print("ready", flush=True)
    sys.stdin.readline()
    print(client.get_current_user()["email"], flush=True)
"""


def renew_in_processes(number: int) -> list[str]:
    """Let processes make a request at once; return what each was told, or its error."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(number)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        ends = [process.communicate(timeout=60) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [out.strip() or error for out, error in ends]
