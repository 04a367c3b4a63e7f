"""Kills members, trainers and the server at random while small runs are trained.

    python tests/benchmarks/kills.py [--kills 50] [--runs 2] [--seed 0]

Prints each kill and, at the end, what was killed how often and how many runs completed. Ends with
the first thing that was lost: a record that had been answered, a generation that is told twice or
missing, a member without its parent, a run that does not come to its end.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.local.server.killing import soak


def main() -> None:
    """Soak as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        done = soak(
            Path(folder) / "home",
            chosen.kills,
            runs=chosen.runs,
            seed=chosen.seed,
            say=lambda line: print(f"{time.monotonic() - begun:6.1f} s  {line}", flush=True),
        )
    counted = ", ".join(f"{count} times a {target}" for target, count in done.kills.items())
    print(f"{len(done.told)} runs completed in {time.monotonic() - begun:.0f} s; killed {counted}.")


if __name__ == "__main__":
    main()
