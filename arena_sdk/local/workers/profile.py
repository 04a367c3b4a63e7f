"""The worker that profiles an environment, in a guarded child like the checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena_sdk.local.validation.guard import CALL_SECONDS, Emit, Pulse, run_guarded
from arena_sdk.local.validation.output import Output
from arena_sdk.local.workers.channel import Channel, WorkerError


def main(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Measure one environment.

    Args:
        payload: `source_dir`, `entrypoint`, `env_config`, `multi_agent`; optionally
            `call_seconds`.
        channel: To the server.

    Returns:
        What `arena_sdk.local.validation.profiling.measure` returns.

    Raises:
        WorkerError: The environment failed, hung or crashed while it was measured.
    """
    found: dict[str, Any] = {}

    def take(message: dict[str, Any], output: Output) -> None:
        found.update(message)

    outcome = run_guarded(
        lambda emit, pulse: _measure(payload, emit, pulse),
        take,
        channel,
        call_seconds=float(payload.get("call_seconds") or CALL_SECONDS),
    )
    if outcome.ending == "stopped":
        raise WorkerError("The profiling was stopped.", error_code="STOPPED")
    if outcome.ending == "failed":
        print(outcome.detail)
        last = outcome.detail.strip().splitlines()[-1]
        raise WorkerError(f"Profiling failed: {last}", error_code="PROFILE_FAILED")
    if "profile" not in found:
        sentence = found.get("error") or outcome.sentence()
        raise WorkerError(f"Profiling failed: {sentence}", error_code="PROFILE_FAILED")
    profile: dict[str, Any] = found["profile"]
    return profile


def _measure(payload: dict[str, Any], emit: Emit, pulse: Pulse) -> None:
    from arena_sdk.local.validation.loading import make_env
    from arena_sdk.local.validation.problems import explain
    from arena_sdk.local.validation.profiling import measure

    reference = {"kind": "custom", **payload}
    try:
        profile = measure(lambda: make_env(reference), pulse)
    except Exception as error:
        sentence = explain("The environment", error, Path(payload["source_dir"]))
        emit({"kind": "error", "error": sentence})
        return
    emit({"kind": "profile", "profile": profile})
