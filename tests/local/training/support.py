"""Manifests, environments and real train jobs, for the tests of training."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from typing import Any

ENVIRONMENTS = Path(__file__).parent / "environments"


def custom(name: str, **env_config: Any) -> dict[str, Any]:
    """Return the reference of an environment of `environments/tiny.py`."""
    return {
        "kind": "custom",
        "name": name,
        "version": "v1",
        "source_dir": str(ENVIRONMENTS),
        "entrypoint": f"tiny:{name}",
        "env_config": env_config,
    }


def registered(name: str) -> dict[str, Any]:
    """Return the reference of a Gymnasium id."""
    return {"kind": "gymnasium", "id": name, "kwargs": {}}


SMALL = {"latent_dim": 16, "min_latent_dim": 8, "max_latent_dim": 64}


def dqn(**training: Any) -> dict[str, Any]:
    """Return a small DQN manifest; keywords are of its training section."""
    network = {
        **SMALL,
        "encoder_config": {"hidden_size": [32]},
        "head_config": {"hidden_size": [32]},
    }
    return {
        "algorithm": {"name": "DQN", "lr": 0.001, "batch_size": 32, "learn_step": 8},
        "environment": {"name": "CartPole-v1", "num_envs": 4},
        "training": {"max_steps": 1200, "evo_steps": 400, "pop_size": 3, **training},
        "network": network,
        "replay_buffer": {"max_size": 2000},
        "mutation": {
            "probabilities": {"no_mut": 0.2, "arch_mut": 0.3, "params_mut": 0.3, "rl_hp_mut": 0.3},
            "rl_hp_selection": {
                "lr": {"min": 1e-4, "max": 1e-2},
                "batch_size": {"min": 8, "max": 64},
            },
            "rand_seed": 7,
        },
        "tournament_selection": {"tournament_size": 2, "elitism": True},
    }


def ppo(**training: Any) -> dict[str, Any]:
    """Return a small PPO manifest; keywords are of its training section."""
    manifest = dqn(**training)
    manifest["algorithm"] = {"name": "PPO", "lr": 0.001, "batch_size": 64, "learn_step": 128}
    del manifest["replay_buffer"]
    manifest["mutation"]["rl_hp_selection"] = {"lr": {"min": 1e-4, "max": 1e-2}}
    return manifest


class Job:
    """A train job as the server starts it: a worker process with its two pipes."""

    def __init__(
        self, payload: dict[str, Any], folder: Path, setup: Callable[[], None] | None
    ) -> None:
        result_read, result_write = os.pipe()
        control_read, self._control = os.pipe()
        self.log = folder / "log"
        spec = folder / "spec.json"
        spec.write_text(json.dumps(payload))
        work = folder / "work"
        work.mkdir(exist_ok=True)
        environment = {
            **os.environ,
            "ARENA_WORKER_RESULT_FD": str(result_write),
            "ARENA_WORKER_CONTROL_FD": str(control_read),
            "PYTHONPATH": str(Path(__file__).parents[3]),
        }
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "arena_sdk.local.workers", "train", str(spec)],
                pass_fds=(result_write, control_read),
                env=environment,
                cwd=work,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=setup,
            )
        os.close(result_write)
        os.close(control_read)
        self.messages: list[dict[str, Any]] = []
        self._queue: Queue[dict[str, Any]] = Queue()
        self._reader = threading.Thread(target=self._read, args=(result_read,), daemon=True)
        self._reader.start()

    def until(self, kind: str, timeout: float = 90, **facts: Any) -> dict[str, Any]:
        """Return the next message of a kind (and with the given facts)."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            try:
                message = self._queue.get(timeout=0.2)
            except Empty:
                if self.process.poll() is not None and self._queue.empty():
                    break
                continue
            if message["kind"] == kind and all(message.get(k) == v for k, v in facts.items()):
                return message
        raise AssertionError(f"no {kind} {facts}; log:\n{self.log.read_text()[-3000:]}")

    def finish(self, timeout: float = 120) -> dict[str, Any]:
        """Wait for the end; return the result or the error."""
        self.process.wait(timeout)
        self._reader.join(5)
        final = self.messages[-1]
        return final["result"] if final["kind"] == "result" else final

    def stop(self) -> None:
        """Ask it to stop, as the server does."""
        os.write(self._control, b'{"cmd":"stop"}\n')

    def kill(self) -> None:
        """Kill its whole group at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def hang_up(self) -> None:
        """Close the control pipe, as a dying server does."""
        os.close(self._control)
        self._control = -1

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return all messages of a kind so far."""
        return [message for message in self.messages if message["kind"] == kind]

    def close(self) -> None:
        self.kill()
        if self._control >= 0:
            os.close(self._control)

    def _read(self, fd: int) -> None:
        with os.fdopen(fd, "rb") as pipe:
            for line in pipe:
                message = json.loads(line)
                self.messages.append(message)
                self._queue.put(message)
