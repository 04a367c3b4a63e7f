"""Measures what manifests cost; run it as `python tests/benchmarks/manifest.py`.

Prints, in CPU time: the import of `arena_sdk.manifest` in a new interpreter, the judgement of the
published DQN example as a mapping and as text, and what an editor asks of 200 lines. The bounds are
150 ms, 1 ms (the mapping) and 20 ms. Exits 1 when one is missed.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from arena_sdk.manifest import TrainingManifest
from arena_sdk.manifest.editor import completions, diagnostics, hover
from arena_sdk.manifest.starting import starting_text

EXAMPLE = Path(__file__).parents[1] / "sdk/manifest/examples/published_example.yaml"
IMPORT_MS, JUDGE_MS, EDITOR_MS = 150.0, 1.0, 20.0
LINES = 200

IMPORT = """
import time
start = time.process_time()
from arena_sdk.manifest import TrainingManifest
imported = time.process_time()
TrainingManifest.load({"algorithm": {"name": "DQN"}, "environment": {"name": "e"}})
print(imported - start, time.process_time() - start)
"""


def imported_ms() -> tuple[float, float]:
    """Return the milliseconds of the import alone, and of it with the first manifest."""
    runs = []
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True)
        runs.append([1000 * float(seconds) for seconds in done.stdout.split()])
    return min(run[0] for run in runs), min(run[1] for run in runs)


def best_ms(work: Callable[[], object], repeats: int) -> float:
    """Return the milliseconds of one piece of work, the best of several rounds."""
    work()
    rounds = []
    for _ in range(7):
        start = time.process_time()
        for _ in range(repeats):
            work()
        rounds.append(1000 * (time.process_time() - start) / repeats)
    return min(rounds)


def long_text() -> str:
    """Return a valid manifest of 200 lines."""
    lines = starting_text("GRPO", "gsm8k").splitlines()
    at = lines.index(next(line for line in lines if line.startswith("environment:"))) + 1
    entries = [f"    key_{number}: value" for number in range(LINES - len(lines) - 1)]
    return "\n".join([*lines[:at], "  chat_template_kwargs:", *entries, *lines[at:]])


def main() -> int:
    """Measure, print, and tell whether every bound is kept."""
    text = EXAMPLE.read_text(encoding="utf-8")
    document = yaml.safe_load(text)
    long = long_text()
    alone, with_first = imported_ms()
    judged = best_ms(lambda: TrainingManifest.validate(document), 200)
    figures = [
        ("import", alone, IMPORT_MS),
        ("import and first manifest", with_first, None),
        ("DQN example, a mapping", judged, JUDGE_MS),
        ("DQN example, text", best_ms(lambda: TrainingManifest.validate(text), 100), None),
        (
            "DQN example, payload",
            best_ms(lambda: TrainingManifest.load(document).payload(), 100),
            None,
        ),
        (f"diagnostics of {LINES} lines", best_ms(lambda: diagnostics(long), 10), EDITOR_MS),
        (
            f"completions in {LINES} lines",
            best_ms(lambda: completions(long, 190, 6), 10),
            EDITOR_MS,
        ),
        (f"hover in {LINES} lines", best_ms(lambda: hover(long, 190, 6), 10), EDITOR_MS),
    ]
    for name, milliseconds, bound in figures:
        limit = f"  (bound {bound:g} ms)" if bound is not None else ""
        print(f"{name:<28} {milliseconds:8.3f} ms{limit}")
    return int(any(bound is not None and found > bound for _, found, bound in figures))


if __name__ == "__main__":
    sys.exit(main())
