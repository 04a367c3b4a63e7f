"""Trains a population; the work itself is in `arena_sdk.local.training`.

Payload: `{"experiment_id", "name", "manifest", "environment", "checkpoint_dir", "resume_from",
"max_steps"}` and optionally "seed", "options", "executor", "ray_address" and "num_nodes". Emits
started, progress, generation, checkpoint and warning.
Result: `{"state", "reason", "steps", "best_fitness"}`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .channel import Channel

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    # Members run side by side, one thread each: more would only take turns on the same cores.
    os.environ.setdefault(_name, "1")


def main(payload: dict[str, Any], channel: Channel) -> dict[str, Any] | None:
    """Train until the run's end or a stop."""
    from arena_sdk.local.training.errors import TrainingError
    from arena_sdk.local.training.job import train

    from .channel import WorkerError

    try:
        return train(payload, channel)
    except TrainingError as problem:
        more = {"stack": problem.stack} if problem.stack else {}
        raise WorkerError(str(problem), error_code=problem.error_code, **more) from problem
