"""Training throughput beside AgileRL's own `LocalTrainer`, on the same manifest and machine.

    python tests/benchmarks/training.py [--rounds 1] [--manifest cartpole|FILE]

Both train the same population in turn, each in a process of its own with nothing else running, and
each figure is the median of the rounds. What is timed is training: from the first environment step
to the end of the last evaluation, without imports and without building the population for
`LocalTrainer`, with them (but without imports) for ours. Also printed: the time from starting our
process to its first metric.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import yaml

CARTPOLE: dict[str, Any] = {
    "algorithm": {"name": "DQN", "lr": 0.001, "batch_size": 64, "learn_step": 4},
    "environment": {"name": "CartPole-v1", "num_envs": 8},
    "training": {"max_steps": 8000, "pop_size": 4, "evo_steps": 2000},
    "network": {
        "latent_dim": 64,
        "encoder_config": {"hidden_size": [64]},
        "head_config": {"hidden_size": [64]},
    },
    "replay_buffer": {"max_size": 20000},
    "mutation": {
        "probabilities": {"no_mut": 0.4, "arch_mut": 0.2, "params_mut": 0.2, "rl_hp_mut": 0.2},
        "rl_hp_selection": {
            "lr": {"min": 0.0001, "max": 0.01},
            "batch_size": {"min": 8, "max": 256},
        },
    },
    "tournament_selection": {"tournament_size": 2, "elitism": True},
}


def agilerl(manifest: Path) -> dict[str, float]:
    """Train with `LocalTrainer`; return its figures."""
    from agilerl.training.trainer import LocalTrainer

    trainer = LocalTrainer.from_manifest(str(manifest))
    begun = time.perf_counter()
    population, _ = trainer.train()
    seconds = time.perf_counter() - begun
    return {"seconds": seconds, "steps": float(sum(agent.steps for agent in population))}


def ours(manifest: Path) -> dict[str, float]:
    """Train with the embedded Arena's train job; return its figures."""
    from arena_sdk.local.workers import train

    started = float(os.environ["BENCHMARK_STARTED"])
    content = yaml.safe_load(manifest.read_text())
    channel = _Channel()
    with tempfile.TemporaryDirectory() as folder:
        payload = {
            "manifest": content,
            "environment": {
                "kind": "gymnasium",
                "id": content["environment"]["name"],
                "kwargs": {},
            },
            "checkpoint_dir": str(Path(folder) / "checkpoints"),
            "resume_from": None,
            "max_steps": content["training"]["max_steps"],
        }
        train.main(payload, channel)  # type: ignore[arg-type]
    end = time.time()
    generations = channel.times["generation"]
    return {
        "seconds": end - channel.times["started"][0],
        "steps": float(channel.total_steps),
        "first_metric": generations[0] - started,
    }


class _Channel:
    """What the train job needs of a worker's channel."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self.times: dict[str, list[float]] = {}
        self.total_steps = 0

    def emit(self, message: dict[str, Any]) -> None:
        self.times.setdefault(message["kind"], []).append(time.time())
        self.total_steps = message.get("total_steps", self.total_steps)

    def adopt_child(self) -> None:
        """Nothing to tie a child to here."""


def in_process(side: str, manifest: Path) -> dict[str, float]:
    """Run one side in a process of its own."""
    environment = {**os.environ, "BENCHMARK_STARTED": str(time.time())}
    if side == "ours":
        environment.setdefault("OMP_NUM_THREADS", "1")
    command = [sys.executable, __file__, "--side", side, "--manifest", str(manifest)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{side} failed:\n{done.stderr[-3000:]}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def compare(manifest: Path, rounds: int) -> float:
    """Run both sides in turn, print the figures, return the ratio of steps a second."""
    rates: dict[str, list[float]] = {"agilerl": [], "ours": []}
    first: list[float] = []
    print(f"{os.cpu_count()} cores, {rounds} round(s), steps are environment steps of all members")
    for number in range(rounds):
        for side in rates:
            figures = in_process(side, manifest)
            rates[side].append(figures["steps"] / figures["seconds"])
            if "first_metric" in figures:
                first.append(figures["first_metric"])
            print(
                f"round {number + 1}  {side:8}  {figures['steps']:>9,.0f} steps  "
                f"{figures['seconds']:7.2f} s  {rates[side][-1]:8,.0f} steps/s"
            )
    theirs, mine = (statistics.median(rates[side]) for side in ("agilerl", "ours"))
    print(
        f"LocalTrainer {theirs:,.0f} steps/s, ours {mine:,.0f} steps/s, ratio {mine / theirs:.2f}"
    )
    print(f"process start to first metric: {statistics.median(first):.1f} s")
    return mine / theirs


def main() -> None:
    """Compare, or be one side of a comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--manifest", default="cartpole")
    parser.add_argument("--side", choices=("agilerl", "ours"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        side = agilerl if arguments.side == "agilerl" else ours
        print(json.dumps(side(Path(arguments.manifest))))
        return
    with tempfile.TemporaryDirectory() as folder:
        manifest = Path(folder) / "manifest.yaml"
        given = arguments.manifest
        text = yaml.safe_dump(CARTPOLE) if given == "cartpole" else Path(given).read_text()
        manifest.write_text(text)
        ratio = compare(manifest, arguments.rounds)
    raise SystemExit(0 if ratio >= 1 else 1)


if __name__ == "__main__":
    main()
