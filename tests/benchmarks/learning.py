"""Does every algorithm learn? Trains each on a task of its own and compares with a stated goal.

    python tests/benchmarks/learning.py [TASK …]      (all of them when none is named)
    python tests/benchmarks/learning.py --list

Each task is a train job of the embedded Arena, as a submission starts it, with its member
processes. It ends at the goal or at its budget of steps. Printed: what random play returns, the
best fitness, the steps and the seconds. Exit code 1 when a goal was missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Task:
    """What is trained, and the mean return of a whole evaluation that shows it was learned."""

    environment: dict[str, Any]
    manifest: dict[str, Any]
    goal: float
    random: float


def _manifest(
    algorithm: dict[str, Any], steps: int, goal: float, *, envs: int = 4, **sections: Any
) -> dict[str, Any]:
    training = {"max_steps": steps, "evo_steps": steps // 10, "pop_size": 2, "target_score": goal}
    network = {
        "latent_dim": 64,
        "encoder_config": {"hidden_size": [64]},
        "head_config": {"hidden_size": [64]},
    }
    return {
        "algorithm": algorithm,
        "environment": {"name": "any", "num_envs": envs},
        "training": {**training, **sections.pop("training", {})},
        "network": network,
        "replay_buffer": {"max_size": 50_000},
        "mutation": {"probabilities": {"no_mut": 1.0}, "rand_seed": 1},
        **sections,
    }


def _gymnasium(name: str) -> dict[str, Any]:
    return {"kind": "gymnasium", "id": name, "kwargs": {}}


def _cartpole(algorithm: dict[str, Any], steps: int, goal: float, **sections: Any) -> Task:
    manifest = _manifest(algorithm, steps, goal, envs=8, **sections)
    return Task(_gymnasium("CartPole-v1"), manifest, goal, random=22.0)


def _pendulum(algorithm: dict[str, Any]) -> Task:
    rates = {"lr_actor": 0.001, "lr_critic": 0.001, "tau": 0.005, "batch_size": 128}
    noise = {"O_U_noise": False, "expl_noise": 0.1, "learn_step": 1}
    manifest = _manifest({**algorithm, **rates, **noise}, 40_000, -300.0)
    manifest["training"].update(learning_delay=1000, eval_loop=4)
    return Task(_gymnasium("Pendulum-v1"), manifest, -300.0, random=-1200.0)


CHANCE_TOGETHER = -86.6
"""Mean return of both agents over 300 episodes of random actions (standard error 4.2)."""


def _speaker_listener(algorithm: dict[str, Any], steps: int) -> Task:
    """Two agents of mpe2: one sees where to go and the other goes; the goal is half of chance."""
    reference = {"kind": "pettingzoo", "id": "mpe2.simple_speaker_listener_v4", "kwargs": {}}
    manifest = _manifest(algorithm, steps, CHANCE_TOGETHER / 2, envs=8)
    manifest["training"]["eval_loop"] = 4
    return Task(reference, manifest, CHANCE_TOGETHER / 2, random=CHANCE_TOGETHER)


DQN = {"name": "DQN", "lr": 0.001, "batch_size": 64, "learn_step": 4, "tau": 0.01}
PPO = {"name": "PPO", "lr": 0.001, "batch_size": 128, "learn_step": 1024}
RAINBOW = {
    "name": "Rainbow DQN",
    "lr": 0.001,
    "batch_size": 64,
    "learn_step": 4,
    "tau": 0.01,
    "v_min": 0.0,
    "v_max": 200.0,
    "noise_std": 0.3,
}
TEAM = {"batch_size": 128, "lr_actor": 0.001, "lr_critic": 0.003, "learn_step": 8, "tau": 0.01}
GREEDY = {"eps_decay": 0.995, "eps_end": 0.02, "eval_loop": 2}
BUFFER = {"max_size": 20_000, "per_buffer": True, "n_step_buffer": True}

TASKS: dict[str, Task] = {
    "dqn-cartpole": _cartpole(DQN, 120_000, 400.0, training=GREEDY),
    "dqn-prioritized-cartpole": _cartpole(
        DQN, 120_000, 195.0, training=GREEDY, replay_buffer=BUFFER
    ),
    "rainbow-cartpole": _cartpole(RAINBOW, 80_000, 195.0, replay_buffer=BUFFER),
    "ppo-cartpole": _cartpole(PPO, 200_000, 400.0),
    "ddpg-pendulum": _pendulum({"name": "DDPG", "policy_freq": 1}),
    "maddpg-speaker-listener": _speaker_listener({**TEAM, "name": "MADDPG"}, 100_000),
    "matd3-speaker-listener": _speaker_listener({**TEAM, "name": "MATD3"}, 100_000),
    "ippo-speaker-listener": _speaker_listener(
        {"name": "IPPO", "lr": 0.001, "batch_size": 128, "learn_step": 1024}, 400_000
    ),
    "td3-pendulum": _pendulum({"name": "TD3", "policy_freq": 2}),
}


class _Stopping(threading.Event):
    """Never set here."""

    since: float | None = None


class _Channel:
    """What the train job needs of a worker's channel."""

    def __init__(self) -> None:
        self.stopping = _Stopping()
        self.fitness: list[float] = []

    def emit(self, message: dict[str, Any]) -> None:
        if message["kind"] == "generation":
            best = max(float(member["fitness"]) for member in message["members"])
            self.fitness.append(best)
            print(f"  generation {message['generation']}: {best:.1f}", file=sys.stderr, flush=True)

    def adopt_child(self) -> None:
        """Nothing to tie a child to here."""


def train(task: Task) -> dict[str, Any]:
    """Train in this process and its members'; return the figures."""
    from arena_sdk.local.workers import train as job

    channel, begun = _Channel(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        payload = {
            "manifest": task.manifest,
            "environment": task.environment,
            "checkpoint_dir": str(Path(folder) / "checkpoints"),
            "resume_from": None,
            "max_steps": task.manifest["training"]["max_steps"],
        }
        result: dict[str, Any] = job.main(payload, channel)  # type: ignore[arg-type, assignment]
    return {**result, "best": max(channel.fitness), "seconds": time.perf_counter() - begun}


def in_process(name: str) -> dict[str, Any]:
    """Train a task in a process of its own."""
    command = [sys.executable, __file__, "--one", name]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{name} failed")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    """Train what is named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(train(TASKS[arguments.one])))
        return
    if arguments.list:
        print("\n".join(TASKS))
        return
    if unknown := [name for name in arguments.tasks if name not in TASKS]:
        parser.error(f"there is no task {', '.join(unknown)}; --list names them")
    missed = []
    print(f"{'task':26} {'random':>8} {'goal':>8} {'best':>8} {'steps':>9} {'seconds':>8}")
    for name in arguments.tasks or TASKS:
        task, figures = TASKS[name], in_process(name)
        print(
            f"{name:26} {task.random:8.1f} {task.goal:8.1f} {figures['best']:8.1f} "
            f"{figures['steps']:9,} {figures['seconds']:8.1f}",
            flush=True,
        )
        if figures["best"] < task.goal:
            missed.append(name)
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
