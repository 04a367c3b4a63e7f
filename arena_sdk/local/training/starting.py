"""The start of a run, in which a stop must be as prompt as later: imports, and the first look.

Importing torch and AgileRL takes seconds and cannot be broken off. A run that is stopped meanwhile
waits for the end of the imports if that comes soon, for then it can leave a checkpoint; if it does
not, the process ends as it is. Nothing has been learned yet, so nothing is lost.
"""

from __future__ import annotations

import contextlib
import gc
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from . import checkpoints
from .errors import TrainingError

PATIENCE = 3.8
"""Seconds from a stop after which a run that has not begun ends without a checkpoint."""

POLL = 0.1


class Stopping(Protocol):
    """What the channel's event has of it."""

    since: float | None

    def is_set(self) -> bool:
        """Whether the run is to stop."""


class JobChannel(Protocol):
    """What the train job needs of the worker's channel."""

    stopping: Stopping

    def emit(self, message: dict[str, Any]) -> None:
        """Send a message to the server."""

    def adopt_child(self) -> None:
        """Tie a forked child's life to the server's."""

    def leave(self, result: dict[str, Any]) -> None:
        """Report a result and end this process at once, whatever its main thread does."""


def unbegun(source: Path | None, emit: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Return the result of a run that was stopped before it had begun.

    Args:
        source: The checkpoint that it would have gone on from, if any; it is still there.
        emit: Sends a message to the server.
    """
    if source is None:
        sentence = (
            "The run was stopped before its first step, so there is no checkpoint yet; resume"
            " begins it anew."
        )
        emit({"kind": "warning", "message": sentence})
    steps = 0 if source is None else checkpoints.step_of(source.name)
    return {"state": "stopped", "reason": "stop", "steps": steps, "best_fitness": None}


def is_overdue(stopping: Stopping) -> bool:
    """Tell whether the run is to stop, and has been so for too long."""
    since = stopping.since
    return since is not None and time.monotonic() - since >= PATIENCE


@contextlib.contextmanager
def bounded(channel: JobChannel, source: Path | None) -> Iterator[None]:
    """End the process during what cannot be broken off, when a stop has waited for too long."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(POLL):
            if is_overdue(channel.stopping):
                channel.leave(unbegun(source, channel.emit))
                return

    watcher = threading.Thread(target=watch, name="start-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()  # member processes are forked after this, without a thread in between


def import_learning() -> None:
    """Import torch and AgileRL, before member processes are forked from this one."""
    # Thousands of modules come to stay; looking for garbage among them takes a fifth of the time.
    gc.disable()
    try:
        import torch

        torch.set_num_threads(1)
        import agilerl.algorithms
        import agilerl.hpo.mutation  # noqa: F401

        import arena_sdk.local.serving.policy  # noqa: F401
    except ImportError as problem:
        raise TrainingError(
            f"AgileRL cannot be imported ({problem}); install the extra: pip install "
            "'arena-tui[local]'.",
            "AGILERL_MISSING",
        ) from problem
    finally:
        gc.enable()
    # What was imported stays: not to be searched for garbage at every mutation (AgileRL collects
    # after each, a fifth of a second with these imports), nor copied into each forked process.
    gc.freeze()
    warnings.filterwarnings("ignore", category=FutureWarning, module="tensordict")
