"""The train job: from its payload to a run on an executor, in the order that forking needs.

First the environment is tried in a process of its own, then (beside it) torch and AgileRL are
imported, then member processes are forked, and only then is anything computed here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import checkpoints, probe, starting
from .checkpoints import CheckpointError
from .errors import Stopped
from .spec import RunSpec, read_manifest
from .starting import JobChannel
from .tasks import Setup

if TYPE_CHECKING:
    from .executor import Executor


def train(payload: dict[str, Any], channel: Any) -> dict[str, Any]:
    """Train until the run's end or a stop; return the job's result.

    Raises:
        TrainingError: It cannot begin or go on.
    """
    spec = read_manifest(payload)
    folder = Path(payload["checkpoint_dir"])
    pending = probe.start_probe(payload["environment"], channel.adopt_child)
    checkpoints.clear_leftovers(folder)
    source = _source(folder, payload.get("resume_from"), channel.emit)
    with starting.bounded(channel, source):
        starting.import_learning()
    found = pending.result(lambda: starting.is_overdue(channel.stopping))
    if found is None:
        return starting.unbegun(source, channel.emit)
    setup = _setup(payload, spec, found)
    for warning in spec.warnings:
        channel.emit({"kind": "warning", "message": warning})
    if channel.stopping.is_set():
        return _keep_unbegun(setup, folder, source, channel)
    return _run(setup, folder, source, found.step_us, channel, payload)


def _keep_unbegun(
    setup: Setup, folder: Path, source: Path | None, channel: JobChannel
) -> dict[str, Any]:
    """Leave the first population as a checkpoint, without bringing up anything to train it."""
    from .processes import ProcessExecutor
    from .run import Run

    if source is not None:
        return starting.unbegun(source, channel.emit)
    executor = ProcessExecutor(channel.adopt_child)
    run = Run(setup, executor, folder, channel.emit, channel.stopping.is_set, None)
    return run.keep_unbegun()


def _run(
    setup: Setup,
    folder: Path,
    source: Path | None,
    step_us: float,
    channel: JobChannel,
    payload: dict[str, Any],
) -> dict[str, Any]:
    """Bring up what hosts the members and train."""
    from . import saving
    from .run import Run

    saved = None if source is None else saving.load(source)
    options = payload.get("options") or {}
    executor = _executor(payload, channel)
    hooks: dict[str, Callable[..., Any]] = {}
    try:
        with _bounded_start(payload, channel, source):
            executor.start(
                setup,
                progress=lambda slot, steps: hooks["progress"](slot, steps),
                stopping=lambda: hooks["stopping"]() if hooks else channel.stopping.is_set(),
            )
        channel.emit(
            {
                "kind": "started",
                "num_envs": setup.spec.num_envs,
                "vectorization": setup.vectorization,
                "env_step_us": round(step_us, 1),
                "processes": executor.processes,
                "nodes": executor.nodes,
            }
        )
        run = Run(
            setup,
            executor,
            folder,
            channel.emit,
            channel.stopping.is_set,
            saved,
            stop_on_divergence=bool(options.get("stop_on_divergence")),
        )
        hooks.update(progress=run.meter, stopping=run.stopping)
        return run.complete()
    except Stopped:
        return _keep_unbegun(setup, folder, source, channel)
    finally:
        executor.close()


def _executor(payload: dict[str, Any], channel: JobChannel) -> Executor:
    """Return what the server was told to host members in; not started."""
    cpus = (payload.get("options") or {}).get("cpus")
    if payload.get("executor") != "ray":
        from .processes import ProcessExecutor

        return ProcessExecutor(channel.adopt_child, cpus)
    from .ray_executor import RayExecutor

    return RayExecutor(
        payload.get("ray_address"),
        int(payload.get("num_nodes") or 1),
        cpus,
        warn=lambda message: channel.emit({"kind": "warning", "message": message}),
    )


def _bounded_start(
    payload: dict[str, Any], channel: JobChannel, source: Path | None
) -> contextlib.AbstractContextManager[None]:
    """Bound what cannot be broken off; forking takes no time, and wants no thread beside it."""
    if payload.get("executor") != "ray":
        return contextlib.nullcontext()
    return starting.bounded(channel, source)


def _setup(payload: dict[str, Any], spec: RunSpec, found: probe.Probe) -> Setup:
    from .evaluation import step_limit
    from .vectorize import choose

    resumed_at = checkpoints.step_of(payload["resume_from"]) if payload.get("resume_from") else 0
    return Setup(
        spec=spec,
        environment=payload["environment"],
        observation_space=found.observation_space,
        action_space=found.action_space,
        vectorization=choose(found.step_us, spec.num_envs, forced_sync=spec.forced_sync),
        eval_limit=step_limit(spec, found.max_episode_steps),
        seed_steps=resumed_at,
    )


def _source(folder: Path, name: str | None, emit: Callable[[dict[str, Any]], None]) -> Path | None:
    """Return the checkpoint to go on from: the one asked for, or the one before if it is damaged.

    Raises:
        CheckpointError: None can be used.
    """
    if name is None:
        return None
    checkpoints.step_of(name)
    try:
        checkpoints.read(folder / name)
        return folder / name
    except CheckpointError as problem:
        earlier = checkpoints.latest_good(folder, before=name)
        if earlier is None:
            raise CheckpointError(
                f"{problem} There is no earlier one: begin the run anew.", problem.error_code
            ) from None
        emit({"kind": "warning", "message": f"{problem} Going on from {earlier.name}."})
        return earlier
