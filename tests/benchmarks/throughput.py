"""Training beside AgileRL's own `LocalTrainer`: speed, memory, and the time to a first metric.

    python tests/benchmarks/throughput.py [--trials 3] [--scale 1] [--threads N] [CASE …]

CASE is dqn, ppo, costly (a step computes for 10 ms), waiting (a step waits for 10 ms), memory or
first-metric; all of them when none is named. Exit code 1 when a bound is missed.

Speed: both sides train the same manifest to the same number of steps, each in a process of its own,
in turn, theirs and ours again and again, so that whatever else the machine does meets both. A
trial's ratio is ours over theirs right before it; the median is compared with the bound. Steps are
environment steps of all members. "training" counts from the call of `train()` there, and from the
start of the member processes here, to the end of the last evaluation; "with start" counts from the
start of the process to the same end, imports and all. The processor time of a step is of a side's
processes together, without the start. `LocalTrainer` uses as many threads as torch chooses; with
`--threads 1` it is held to one, which spares it the waiting of threads on a busy machine.

Memory: the most that the whole job takes at a time, in proportional set size (a page that n
processes share counts 1/n in each), with 1 and with 4 members in processes of their own.

First metric: from the request that submits a run to an Arena, to an answer that holds a
generation's metrics, asked for every 50 ms.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks import train_job

FOLDER = Path(__file__).parent
MEMBER_MB, METRIC_SECONDS, RUN_SECONDS = 350.0, 12.0, 300.0


@dataclass(frozen=True)
class Case:
    """What both sides train, and how many times faster than theirs ours is to be."""

    algorithm: dict[str, Any]
    steps: int
    bound: float
    environment: dict[str, Any] | None = None

    def manifest(self, scale: float = 1.0) -> dict[str, Any]:
        """Return its manifest, with that many times its steps."""
        return manifest(self.algorithm, int(self.steps * scale), self.environment)


def manifest(
    algorithm: dict[str, Any],
    steps: int,
    environment: dict[str, Any] | None = None,
    *,
    members: int = 4,
    copies: int = 8,
) -> dict[str, Any]:
    """Return a manifest of two generations; evaluation is at most a fifth of training.

    Args:
        algorithm: Its section.
        steps: Environment steps of one member.
        environment: Its section; CartPole unless given.
        members: Of the population.
        copies: Of the environment, a member.
    """
    return {
        "algorithm": algorithm,
        "environment": {**(environment or {"name": "CartPole-v1"}), "num_envs": copies},
        "training": {
            "max_steps": steps,
            "evo_steps": steps // 2,
            "pop_size": members,
            "eval_steps": max(1, steps // copies // 10),
        },
        "network": {
            "latent_dim": 64,
            "encoder_config": {"hidden_size": [64]},
            "head_config": {"hidden_size": [64]},
        },
        "replay_buffer": {"max_size": 20000},
        "mutation": {
            "probabilities": {"no_mut": 0.4, "arch_mut": 0.2, "params_mut": 0.2, "rl_hp_mut": 0.2},
            "rl_hp_selection": {"lr": {"min": 0.0001, "max": 0.01}},
            "rand_seed": 1,
        },
        "tournament_selection": {"tournament_size": 2, "elitism": True},
    }


def costly(*, waits: bool) -> dict[str, Any]:
    """Return the section of an environment of 10 ms a step."""
    return {
        "name": "costly",
        "entrypoint": "costly:Costly",
        "path": str(FOLDER),
        "env_config": {"waits": waits},
    }


DQN = {"name": "DQN", "lr": 0.001, "batch_size": 64, "learn_step": 4}
PPO = {"name": "PPO", "lr": 0.001, "batch_size": 128, "learn_step": 1024}
CASES = {
    "dqn": Case(DQN, 8_192, 2.5),
    "ppo": Case(PPO, 16_384, 1.6),
    "costly": Case(DQN, 1_024, 1.0, costly(waits=False)),
    "waiting": Case(DQN, 2_048, 1.0, costly(waits=True)),
}


def theirs(content: dict[str, Any]) -> dict[str, float]:
    """Train with `LocalTrainer`; return its figures."""
    from agilerl.training.trainer import LocalTrainer

    trainer = LocalTrainer.from_manifest(content)
    begun, used = time.time(), train_job.cpu_seconds()
    population, _ = trainer.train()
    end = time.time()
    steps = float(sum(agent.metrics.steps for agent in population))
    return {"begun": begun, "end": end, "steps": steps, "cpu_start": used}


def ours(content: dict[str, Any], cpus: int | None) -> dict[str, float]:
    """Train with the embedded Arena's train job; return its figures."""
    channel = train_job.train(content, cpus)
    end = channel.times["generation"][-1]
    return {
        "begun": channel.times["started"][0],
        "end": end,
        "steps": float(channel.total_steps),
        "cpu_start": channel.cpu_start,
    }


def in_process(
    side: str,
    content: dict[str, Any],
    cpus: int | None = None,
    threads: int | None = None,
    watch: Callable[[int], None] = lambda _pid: None,
) -> dict[str, float]:
    """Run one side in a process of its own; return its figures with "started".

    Args:
        side: "theirs" or "ours".
        content: The manifest.
        cpus: At most so many member processes on our side.
        threads: Of the numeric libraries; as they choose unless given.
        watch: Called with the process's id until it has ended.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "manifest.json"
        path.write_text(json.dumps(content))
        command = [sys.executable, __file__, "--side", side, "--manifest", str(path)]
        command += ["--cpus", str(cpus)] if cpus else []
        variables = {**os.environ, **({"OMP_NUM_THREADS": str(threads)} if threads else {})}
        out, errors = Path(folder) / "out", Path(folder) / "errors"
        started, before = time.time(), _cpu_seconds()
        with out.open("w") as stdout, errors.open("w") as stderr:
            process = subprocess.Popen(
                command, stdout=stdout, stderr=stderr, cwd=folder, env=variables
            )
            try:
                while process.poll() is None:
                    watch(process.pid)
                    time.sleep(0.05)
            finally:
                process.kill()
        if process.returncode:
            raise SystemExit(f"{side} failed:\n{errors.read_text()[-3000:]}")
        figures: dict[str, float] = json.loads(out.read_text().splitlines()[-1])
    return {**figures, "started": started, "cpu": _cpu_seconds() - before}


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compare(
    name: str, content: dict[str, Any], bound: float, trials: int, threads: int | None
) -> bool:
    """Train in turn, print every trial; tell whether the bound is kept."""
    ratios: dict[str, list[float]] = {"training": [], "with start": []}
    for trial in range(trials):
        rates, cpu = {}, {}
        for side in ("theirs", "ours"):
            limit = threads if side == "theirs" else None
            found = in_process(side, content, threads=limit)
            cpu[side] = 1e3 * (found["cpu"] - found["cpu_start"]) / found["steps"]
            rates[side] = {
                "training": found["steps"] / (found["end"] - found["begun"]),
                "with start": found["steps"] / (found["end"] - found["started"]),
            }
        for kind, seen in ratios.items():
            seen.append(rates["ours"][kind] / rates["theirs"][kind])
        print(
            f"{name} {trial + 1}: {found['steps']:,.0f} steps; a second: LocalTrainer"
            f" {rates['theirs']['training']:,.0f}, ours {rates['ours']['training']:,.0f};"
            f" with start {rates['theirs']['with start']:,.0f}, {rates['ours']['with start']:,.0f};"
            f" processor {cpu['theirs']:.2f} ms a step, {cpu['ours']:.2f} ms",
            flush=True,
        )
    medians = {kind: statistics.median(seen) for kind, seen in ratios.items()}
    kept = medians["training"] >= bound
    print(
        f"{name}: {medians['training']:.2f} times (from {min(ratios['training']):.2f} to"
        f" {max(ratios['training']):.2f}), with start {medians['with start']:.2f} times;"
        f" at least {bound}: {'kept' if kept else 'MISSED'}",
        flush=True,
    )
    return kept


def proportional_mb(pid: int) -> float:
    """Return the proportional set size of a process and all below it, in MB."""
    import psutil

    total = 0
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in [process, *process.children(recursive=True)]:
            with suppress(OSError):
                lines = Path(f"/proc/{one.pid}/smaps_rollup").read_text().splitlines()
                total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024 / 1e6


def memory() -> bool:
    """Print what a further member takes, of each algorithm; tell whether the bound is kept."""
    kept = True
    for name, algorithm in (("dqn", DQN), ("ppo", PPO)):
        most = {}
        for members in (1, 4):
            seen: list[float] = []
            in_process(
                "ours",
                manifest(algorithm, 4_096, members=members),
                cpus=members,
                watch=lambda pid, seen=seen: seen.append(proportional_mb(pid)),  # type: ignore[misc]
            )
            most[members] = max(seen)
        each = (most[4] - most[1]) / 3
        kept &= each < MEMBER_MB
        print(
            f"memory of {name}: {most[1]:.0f} MB with 1 member, {most[4]:.0f} MB with 4:"
            f" {each:.0f} MB a further member; below {MEMBER_MB:.0f}:"
            f" {'kept' if each < MEMBER_MB else 'MISSED'}",
            flush=True,
        )
    return kept


def first_metric(trials: int) -> bool:
    """Submit runs to an Arena and print the time to their first metrics."""
    from tests.local.conftest import end_arena, start_arena

    taken = []
    with tempfile.TemporaryDirectory() as home:
        server = start_arena(Path(home) / "arena")
        try:
            with server.client() as client:
                body = {"name": "bench", "description": "", "llm_based": False}
                client.post("/projects/create", json=body).raise_for_status()
                for trial in range(trials):
                    taken.append(_submit_and_wait(client, f"trial-{trial}"))
        finally:
            end_arena(server)
    median = statistics.median(taken)
    kept = median < METRIC_SECONDS
    print(
        f"first metric after {median:.1f} s (from {min(taken):.1f} to {max(taken):.1f});"
        f" below {METRIC_SECONDS:.0f}: {'kept' if kept else 'MISSED'}",
        flush=True,
    )
    return kept


def _submit_and_wait(client: Any, name: str) -> float:
    """Return the seconds from submit to a first generation's metrics; wait for the run's end."""
    job = {
        "manifest": CASES["dqn"].manifest(), "resource_id": "local", "num_nodes": 1,
        "project": "bench", "experiment_name": name,
    }  # fmt: skip
    begun = time.perf_counter()
    client.post("/experiments/jobs/submit", json=job).raise_for_status()
    asked = {"experiment_name": name}
    seconds = None
    while time.perf_counter() - begun < RUN_SECONDS:
        time.sleep(0.05)
        if seconds is None:
            preview = client.get("/experiments/metrics", params={**asked, "preview_rows": 1})
            if len(preview.text.splitlines()) > 1:  # below the names of columns
                seconds = time.perf_counter() - begun
            continue
        row = client.get("/experiments/one", params=asked).json()
        if row["state"] in ("completed", "failed", "stopped"):
            if row["state"] == "completed":
                return seconds
            raise SystemExit(f"the run is {row}")
    raise SystemExit("the run did not end")


def main() -> None:
    """Measure what is named, or be one side of a comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    names = [*CASES, "memory", "first-metric"]
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="times as many steps")
    parser.add_argument("--threads", type=int, help="threads of LocalTrainer's process")
    parser.add_argument("--side", choices=("theirs", "ours"), help=argparse.SUPPRESS)
    parser.add_argument("--manifest", help=argparse.SUPPRESS)
    parser.add_argument("--cpus", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.side:
        content = json.loads(Path(chosen.manifest).read_text())
        side = theirs(content) if chosen.side == "theirs" else ours(content, chosen.cpus)
        print(json.dumps(side))
        return
    if unknown := [name for name in chosen.cases if name not in names]:
        parser.error(f"there is no case {', '.join(unknown)}; choose from {', '.join(names)}")
    print(f"{os.cpu_count()} cores", flush=True)
    kept = True
    for name in chosen.cases or names:
        if name in CASES:
            case = CASES[name]
            content = case.manifest(chosen.scale)
            kept &= compare(name, content, case.bound, chosen.trials, chosen.threads)
        else:
            kept &= memory() if name == "memory" else first_metric(chosen.trials)
    raise SystemExit(0 if kept else 1)


if __name__ == "__main__":
    main()
