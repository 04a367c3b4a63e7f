"""A trainer that learns nothing: it speaks the worker protocol, fast, to test what listens.

How it behaves is the first word of the experiment's name: `steady`, `endless`, `crash`, `full`,
`deaf`, `unreported` (dies after its third checkpoint was written, before telling of it).
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from arena_sdk.local.training import checkpoints
from arena_sdk.local.workers.channel import Channel, WorkerError, run

STEPS = 100
POPULATION = 2


def member_of(generation: int, slot: int) -> int:
    return (generation - 1) * POPULATION + slot


def report(generation: int) -> dict[str, Any]:
    """What is told of a generation: both members are children of the first one before."""
    parent = None if generation == 1 else member_of(generation - 1, 0)
    members = [
        {
            "member": member_of(generation, slot),
            "parent": parent,
            "mutation": None if parent is None else "lr",
            "steps": generation * STEPS,
            "episodes": generation,
            "fitness": float(generation + slot),
            "score": float(generation),
            "steps_per_second": 1000.0,
            "losses": {"loss": 1.0 / generation},
            "hyperparameters": {"lr": 0.001, "batch_size": 64},
        }
        for slot in range(POPULATION)
    ]
    keys = ("member", "parent", "mutation")
    return {
        "kind": "generation",
        "generation": generation,
        "steps": generation * STEPS,
        "total_steps": generation * STEPS * POPULATION,
        "members": members,
        "lineage": [{**{k: m[k] for k in keys}, "generation": generation} for m in members],
        "checkpoint": None,
    }


def save(folder: Path, generation: int, message: dict[str, Any]) -> dict[str, Any]:
    told = {
        "name": f"step_{generation * STEPS}",
        "steps": generation * STEPS,
        "generation": generation,
        "member": member_of(generation, 1),
        "evaluation_score": float(generation + 1),
        "training_score": float(generation),
        "size_mb": 0.001,
    }
    state = {"message": message, "checkpoint": told}
    written = checkpoints.write(folder, told["name"], {"state.json": json.dumps(state).encode()})
    return {**told, "sha256": written.sha256, "path": str(written.path)}


def main(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    behaviour = payload["name"].split("-")[0]
    folder = Path(payload["checkpoint_dir"])
    print("the trainer begins", flush=True)
    started = {"num_envs": 1, "vectorization": "sync", "env_step_us": 1.0, "processes": 1}
    channel.emit({"kind": "started", **started})
    done = 0
    if payload["resume_from"]:
        done = checkpoints.step_of(payload["resume_from"]) // STEPS
        files = checkpoints.read(folder / payload["resume_from"])
        channel.emit(json.loads(files["state.json"])["message"])
    while done * STEPS < payload["max_steps"]:
        if behaviour == "deaf":
            time.sleep(600)
        if channel.stopping.is_set():
            return {"state": "stopped", "reason": "stop", "steps": done * STEPS}
        done += 1
        message = report(done)
        if behaviour == "crash" and done == 3:
            print("about to fall over", flush=True)
            os._exit(3)
        if behaviour == "full" and done == 3:
            raise WorkerError("The disk is full: make room, then resume.", error_code="DISK_FULL")
        message["checkpoint"] = save(folder, done, message)
        if behaviour == "unreported" and done == 3:
            os._exit(9)
        channel.emit(message)
        channel.emit({"kind": "progress", "generation": done, "steps": done * STEPS})
        time.sleep(0.02)
    return {"state": "completed", "reason": "max_steps", "steps": done * STEPS}


if __name__ == "__main__":
    spec = Path(sys.argv[-1])
    job_channel = Channel.open()
    code = run(main, json.loads(spec.read_text()), job_channel)
    sys.stdout.flush()
    os._exit(code)
