"""Times the validation of environments, alone, four beside a training run, and among hostile ones.

    python tests/benchmarks/validation.py [--rounds 5] [--hostile]

Prints the time from submit to verdict (upload, checks and profile) of a scaffolded environment
without requirements and with a requirement set that is cached; the profiles of one environment,
taken several times; then four validations and a training run at once: when each ended, and the most
memory that the Arena and its workers took; with `--hostile` also how long other requests took while
hostile uploads were validated. The bounds: 4 s to a verdict, profiles within 10 % of each other
unless they report a wider spread, everything finishes, 200 ms for the others. Exits 1 when one is
missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[2]))

from arena_sdk.scaffold import create
from tests.local.conftest import ArenaServer, end_arena, start_arena
from tests.local.validation.hostile import SOURCES, packed
from tests.local.validation.soaking import asking, events_of, submit_all
from tests.local.validation.uploading import form, result

VERDICT_SECONDS, ANSWER_SECONDS, RUN_SECONDS = 4.0, 0.2, 300.0
CACHED = "rich>=13\nhumanize>=4\n"
RUN: dict[str, Any] = {
    "algorithm": {"name": "DQN", "lr": 0.001, "batch_size": 64, "learn_step": 4},
    "environment": {"name": "CartPole-v1", "num_envs": 4},
    "training": {"max_steps": 8000, "pop_size": 2, "evo_steps": 2000},
    "network": {"latent_dim": 64, "encoder_config": {"hidden_size": [64]}},
    "replay_buffer": {"max_size": 20000},
}


def scaffold(folder: Path) -> dict[str, str]:
    """Return the files of a scaffolded environment, its requirements left to the upload."""
    create(folder, "walk")
    return {p.name: p.read_text() for p in folder.iterdir() if p.name != "requirements.txt"}


def verdict_seconds(
    server: ArenaServer, name: str, files: dict[str, str], requirements: str
) -> float:
    """Return the seconds from submit to verdict.

    Raises:
        RuntimeError: It was not found valid.
    """
    with server.client() as client:
        begun = time.perf_counter()
        answer = client.post(
            "/environments/create-and-validate",
            **form(name, packed(files), requirements=requirements),
            timeout=RUN_SECONDS,
        )
        found = result(events_of(answer))
    if not found["validated"]:
        raise RuntimeError(f"{name} is not valid: {found}")
    return time.perf_counter() - begun


def profiles_agree(server: ArenaServer, name: str, rounds: int) -> bool:
    """Profile an environment several times; print and tell whether the figures agree."""
    found = []
    with server.client() as client:
        for _ in range(rounds):
            which = {"name": name, "version": "v1"}
            answer = client.post("/environments/profile", json=which, timeout=RUN_SECONDS)
            found.append(result(events_of(answer)))
    rates = [float(profile["steps_per_second"]) for profile in found]
    middle = statistics.median(rates)
    off = max(abs(rate - middle) for rate in rates) / middle
    spread = max(float(profile["spread"]) for profile in found)
    told = ", ".join(f"{rate:,.0f}" for rate in rates)
    print(f"profiles: {told} steps/s, at most {off:.1%} off their median; reported spread at most"
          f" {spread:.1%}")  # fmt: skip
    return off < max(0.1, 2 * spread)


def train(server: ArenaServer) -> float:
    """Submit a run and wait for its end; return the seconds that it took."""
    begun = time.perf_counter()
    job = {
        "manifest": RUN, "resource_id": "local", "num_nodes": 1, "project": "bench",
        "experiment_name": "beside",
    }  # fmt: skip
    with server.client() as client:
        body = {"name": "bench", "description": "", "llm_based": False}
        client.post("/projects/create", json=body).raise_for_status()
        client.post("/experiments/jobs/submit", json=job).raise_for_status()
        while time.perf_counter() - begun < RUN_SECONDS:
            row = client.get("/experiments/one", params={"experiment_name": "beside"}).json()
            if row["state"] in ("completed", "failed", "stopped"):
                break
            time.sleep(0.2)
    if row["state"] != "completed":
        raise RuntimeError(f"the run is {row}")
    return time.perf_counter() - begun


@contextmanager
def watching_memory(server: ArenaServer) -> Iterator[list[float]]:
    """Yield a list of the memory in GB that the Arena and all its workers take, by and by.

    Resident sizes are summed, so that pages which forked processes share count more than once.
    """
    taken: list[float] = []
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            used = 0
            for process in [psutil.Process(server.pid), *server.workers()]:
                with suppress(psutil.Error):
                    used += process.memory_info().rss
            taken.append(used / 1e9)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield taken
    finally:
        over.set()
        thread.join()


def at_once(server: ArenaServer, files: dict[str, str]) -> bool:
    """Run four validations and a training run at once; print and tell whether all finished."""
    with watching_memory(server) as taken, ThreadPoolExecutor(5) as pool:
        run = pool.submit(train, server)
        names = [f"beside-{number}" for number in range(4)]
        ended = list(pool.map(lambda name: verdict_seconds(server, name, files, ""), names))
        run_seconds = run.result()
    told = ", ".join(f"{seconds:.1f}" for seconds in sorted(ended))
    total = psutil.virtual_memory().total / 1e9
    print(f"four at once: verdicts after {told} s; the run beside them completed in"
          f" {run_seconds:.1f} s; at most {max(taken):.2f} GB of {total:.1f} GB")  # fmt: skip
    return max(taken) < total


def among_hostile(server: ArenaServer, victim: Path) -> bool:
    """Validate hostile sources; print how long other requests took meanwhile."""
    victim.mkdir()
    begun = time.perf_counter()
    with asking(server) as taken:
        submit_all(server, SOURCES, victim)
    seconds = time.perf_counter() - begun
    taken.sort()
    high = taken[int(0.99 * len(taken))]
    print(
        f"{len(SOURCES)} hostile sources in {seconds:.0f} s; {len(taken)} other requests: median"
        f" {1e3 * statistics.median(taken):.0f} ms, 99 % {1e3 * high:.0f} ms, most"
        f" {1e3 * taken[-1]:.0f} ms"
    )
    return high < ANSWER_SECONDS


def main() -> int:
    """Measure, print, and tell whether every bound is kept."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--hostile", action="store_true")
    chosen = parser.parse_args()
    kept = True
    with tempfile.TemporaryDirectory() as home:
        files = scaffold(Path(home) / "walk")
        server = start_arena(Path(home) / "arena", ARENA_CALL_SECONDS="4")
        try:
            verdict_seconds(server, "warm", files, CACHED)  # installs what is cached from here on
            for what, wanted in (("no requirements", ""), ("cached requirements", CACHED)):
                found = [
                    verdict_seconds(server, f"{what.split()[0]}-{number}", files, wanted)
                    for number in range(chosen.rounds)
                ]
                print(f"{what}: {statistics.median(found):.2f} s (at most {max(found):.2f} s)")
                kept &= statistics.median(found) < VERDICT_SECONDS
            kept &= profiles_agree(server, "no-0", chosen.rounds)
            kept &= at_once(server, files)
            if chosen.hostile:
                kept &= among_hostile(server, Path(home) / "victim")
        finally:
            end_arena(server)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
