"""Measures what the programs `arena` cost; run it as `python tests/benchmarks/startup.py`.

Prints the CPU time of `--help`, of completion and of `env list` against a local Arena, ours and the
published client's, and the ratios. The bounds: 0.10 s and a fifth of the published one for
`--help`, half of it for `env list`. Exits 1 when one is missed.

`ARENA_ORACLE_PYTHON` names the interpreter of an environment that has the published client.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.local.conftest import end_arena, start_arena

ROUNDS = 7
HELP_SECONDS, HELP_SHARE, LIST_SHARE = 0.10, 0.20, 0.50


def cpu_seconds(program: list[str], environment: dict[str, str]) -> float:
    """Return the CPU time of a program, user and system, the least of several runs."""
    found = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(program, env=environment, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def main() -> int:
    """Measure, print, and tell whether every bound is kept."""
    python = os.environ.get("ARENA_ORACLE_PYTHON")
    if not python:
        print("ARENA_ORACLE_PYTHON must name the published client's interpreter.", file=sys.stderr)
        return 2
    published = [str(Path(python).parent / "arena")]
    ours = [sys.executable, "-m", "arena_sdk.cli"]
    with tempfile.TemporaryDirectory() as home:
        server = start_arena(Path(home))
        try:
            environment = {**server.environment, "HOME": home}
            helped = [cpu_seconds([*who, "--help"], environment) for who in (ours, published)]
            listed = [cpu_seconds([*who, "env", "list"], environment) for who in (ours, published)]
            asked = {**environment, "_ARENA_COMPLETE": "bash_complete", "COMP_CWORD": "1"}
            commands = cpu_seconds(ours, {**asked, "COMP_WORDS": "arena e"})
            asked |= {"COMP_CWORD": "3", "COMP_WORDS": "arena env show "}
            names = cpu_seconds(ours, asked)
        finally:
            end_arena(server)
    for what, (own, other) in (("--help", helped), ("env list", listed)):
        print(f"{what:<18} ours {own:.3f} s  published {other:.3f} s  ratio {own / other:.2f}")
    print(f"{'Tab for commands':<18} ours {commands:.3f} s")
    print(f"{'Tab for names':<18} ours {names:.3f} s")
    kept = (
        helped[0] <= HELP_SECONDS
        and helped[0] <= HELP_SHARE * helped[1]
        and listed[0] <= LIST_SHARE * listed[1]
    )
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main())
