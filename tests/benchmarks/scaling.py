"""How training scales with members and environment copies, and what limits it.

    python tests/benchmarks/scaling.py [--algorithm dqn|ppo] [--members 1,2,4,8]
        [--copies 1,8,32] [--steps 2048]

For each number of members and of copies a CartPole run of two generations is trained by the train
job of the embedded Arena, in as many member processes as there are cores. Printed: environment
steps a second of all members, processor time for a step, and where that goes, in percent:

    env     stepping the environment copies
    act     choosing actions (AgileRL's `get_action`)
    learn   learning steps (AgileRL's `learn`)
    replay  storing transitions and drawing batches
    eval    evaluation, its steps and actions together
    agents  agents as bytes, to members and back
    loop    the rest of the member processes
    main    the coordinator: selection, mutation, checkpoints

and `busy`: processor time of all processes over the time that their cores had. Where it is near 100
the processor is the limit and the largest share says what for; where it is not, members wait: for
each other at the end of a generation, for the coordinator, or for cores that other programs use.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks import throughput, train_job

PARTS = ("env", "act", "learn", "replay", "eval", "agents", "loop", "main")
ALGORITHMS = {"dqn": throughput.DQN, "ppo": throughput.PPO}
_fork = multiprocessing.get_context("fork")


class Clocks:
    """Processor seconds by part, summed over the processes that are forked from this one."""

    def __init__(self) -> None:
        self.totals = _fork.Array("d", len(PARTS))
        self._own = dict.fromkeys(PARTS, 0.0)
        self._running: list[str] = []
        self._since = time.process_time()

    def of(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose time counts to a part, less the parts within; all in eval."""

        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if "eval" in self._running:
                return function(*args, **kwargs)
            self._lap()
            self._running.append(part)
            try:
                return function(*args, **kwargs)
            finally:
                self._lap()
                self._running.pop()

        return timed

    def command(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a command of a member process, after which its times are added to the sums."""
        timed = self.of("loop", function)

        @functools.wraps(function)
        def told(*args: Any, **kwargs: Any) -> Any:
            self._running, self._own = [], dict.fromkeys(PARTS, 0.0)
            self._since = time.process_time()
            try:
                return timed(*args, **kwargs)
            finally:
                self.publish()

        return told

    def publish(self) -> None:
        """Add this process's times to the sums."""
        with self.totals.get_lock():
            for number, part in enumerate(PARTS):
                self.totals[number] += self._own[part]
        self._own = dict.fromkeys(PARTS, 0.0)

    def _lap(self) -> None:
        now = time.process_time()
        if self._running:
            self._own[self._running[-1]] += now - self._since
        self._since = now


def put_clocks() -> Clocks:
    """Have the training engine's parts timed, in this process and those forked from it."""
    from arena_sdk.local.training import agents, host, member, replay, stage
    from arena_sdk.local.training.starting import import_learning

    import_learning()
    import agilerl.algorithms as algorithms

    clocks = Clocks()
    for owner, name, part in (
        (stage.Stage, "act", "env"),
        (replay.Replay, "add", "replay"),
        (replay.Replay, "draw", "replay"),
        (replay.Replay, "transitions", "replay"),
        (member.Member, "evaluate", "eval"),
        (agents, "restore", "agents"),
        (agents, "dump", "agents"),
        (algorithms.DQN, "get_action", "act"),
        (algorithms.PPO, "get_action", "act"),
        (algorithms.DQN, "learn", "learn"),
        (algorithms.PPO, "learn", "learn"),
    ):
        setattr(owner, name, clocks.of(part, getattr(owner, name)))
    for name in ("train", "evaluate", "state"):
        setattr(host.Host, name, clocks.command(getattr(host.Host, name)))
    return clocks


def run(manifest: dict[str, Any], answer: Any) -> None:
    """Train in this process; send steps, seconds and processor seconds by part."""
    clocks = put_clocks()
    marks: dict[str, float] = {}

    class Channel(train_job.Channel):
        def emit(self, message: dict[str, Any]) -> None:
            super().emit(message)
            if message["kind"] == "started":
                marks.update(begun=time.perf_counter(), main=time.process_time())
            elif message["kind"] == "generation":
                marks.update(end=time.perf_counter(), used=time.process_time() - marks["main"])

    channel = train_job.train(manifest, channel=Channel())
    parts = dict(zip(PARTS, clocks.totals[:], strict=True))
    parts["main"] = marks["used"]
    answer.send((channel.total_steps, marks["end"] - marks["begun"], parts))


def row(members: int, copies: int, algorithm: dict[str, Any], steps: int) -> str:
    """Train with so many members and copies; return a line of the table."""
    ours, theirs = _fork.Pipe()
    content = throughput.manifest(algorithm, steps, members=members, copies=copies)
    process = _fork.Process(target=run, args=(content, theirs))
    process.start()
    theirs.close()
    try:
        total, seconds, parts = ours.recv()
    finally:
        process.join()
    used = sum(parts.values())
    shares = " ".join(f"{100 * parts[part] / used:6.0f}" for part in PARTS)
    busy = 100 * used / (seconds * min(members, os.cpu_count() or 1))
    return (
        f"{members:7} {copies:6} {total / seconds:8,.0f} {1e6 * used / total:8,.0f} {shares}"
        f" {busy:6.0f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--algorithm", choices=tuple(ALGORITHMS), default="dqn")
    parser.add_argument("--members", default="1,2,4,8")
    parser.add_argument("--copies", default="1,8,32")
    parser.add_argument("--steps", type=int, default=2048, help="of a member")
    chosen = parser.parse_args()
    print(f"{chosen.algorithm}, {os.cpu_count()} cores, {chosen.steps:,} steps a member")
    heads = " ".join(f"{part:>6}" for part in PARTS)
    print(f"members copies  steps/s  us/step {heads}   busy", flush=True)
    for members in map(int, chosen.members.split(",")):
        for copies in map(int, chosen.copies.split(",")):
            print(row(members, copies, ALGORITHMS[chosen.algorithm], chosen.steps), flush=True)


if __name__ == "__main__":
    main()
