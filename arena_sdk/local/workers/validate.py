"""The worker that validates an environment: finds its entrypoint, checks it, plays rollouts.

The environment runs in a guarded child; a hang, a crash or an exit of it is a failed check with a
report. What could not be begun at all is a `WorkerError`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena_sdk.local.validation.endings import Outcome
from arena_sdk.local.validation.entrypoints import (
    LANGUAGE,
    MULTI_AGENT,
    SINGLE_AGENT,
    Candidate,
    find_candidates,
)
from arena_sdk.local.validation.guard import (
    CALL_SECONDS,
    CHECK_SECONDS,
    Emit,
    Pulse,
    run_guarded,
)
from arena_sdk.local.validation.names import CHECK_NAMES
from arena_sdk.local.validation.output import Output
from arena_sdk.local.workers.channel import Channel, WorkerError

NOISY_LINES = 10
SPACES = ("observation", "action")


def main(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Validate one environment.

    Args:
        payload: `name`, `version`, `source_dir`, `entrypoint`, `env_config`, `multi_agent`,
            `language_based`, `do_rollouts`, `rollouts_dir`; optionally `call_seconds`,
            `check_seconds` and `spawns` (False: not made in a process of its own, too).
        channel: To the server.

    Returns:
        `validated`, `entrypoint`, `entrypoints`, `checks`, `not_run`, `spaces`, `algorithms`,
        `rollouts`.

    Raises:
        WorkerError: The entrypoint is ambiguous, or the checks themselves failed.
    """
    candidates = find_candidates(Path(payload["source_dir"]))
    entrypoint = payload.get("entrypoint") or _choose(candidates, payload)
    folder = payload.get("rollouts_dir")
    if folder and payload.get("do_rollouts"):
        Path(folder).mkdir(parents=True, exist_ok=True)
    report = _Report(channel, [candidate.entrypoint for candidate in candidates], entrypoint)

    def examine(emit: Emit, pulse: Pulse) -> None:
        _examine({**payload, "entrypoint": entrypoint}, emit, pulse)

    outcome = run_guarded(
        examine,
        report.take,
        channel,
        call_seconds=float(payload.get("call_seconds") or CALL_SECONDS),
        check_seconds=float(payload.get("check_seconds") or CHECK_SECONDS),
        writable=[Path(folder)] if folder else [],
    )
    report.conclude(outcome)
    return report.result()


def _choose(candidates: list[Candidate], payload: dict[str, Any]) -> str:
    """Return the one entrypoint that is meant; "" when there is none.

    Raises:
        WorkerError: There are several.
    """
    if payload["multi_agent"]:
        kinds: tuple[str, ...] = MULTI_AGENT
    else:
        kinds = LANGUAGE if payload["language_based"] else SINGLE_AGENT
    fitting = [c for c in candidates if c.base in kinds] or candidates
    names = [candidate.entrypoint for candidate in fitting]
    if len(names) > 1:
        raise WorkerError(
            f"The source has {len(names)} environments ({', '.join(names[:6])}); name the one to"
            f" validate, as in --entrypoint {names[0]}.",
            error_code="AMBIGUOUS_ENTRYPOINT",
            available_entrypoints=names,
        )
    return names[0] if names else ""


def _examine(payload: dict[str, Any], emit: Emit, pulse: Pulse) -> None:
    """Run the checks; this is the guarded child."""
    from arena_sdk.local.validation.fitting import fitting_algorithms
    from arena_sdk.local.validation.report import run_checks
    from arena_sdk.local.validation.rollouts import play_rollouts
    from arena_sdk.local.validation.subject import Subject

    subject = Subject(
        source=Path(payload["source_dir"]),
        entrypoint=payload["entrypoint"],
        env_config=payload["env_config"],
        multi_agent=payload["multi_agent"],
        language_based=payload["language_based"],
        pulse=pulse,
        spawns=payload.get("spawns", True),
    )
    passed = run_checks(
        subject,
        lambda name: emit({"kind": "begin", "check": name}),
        lambda name, result: emit({"kind": "check", "check": name, "result": result}),
    )
    algorithms = fitting_algorithms(
        subject.facts,
        multi_agent=subject.multi_agent,
        language_based=subject.language_based,
    )
    emit({"kind": "facts", "facts": subject.facts, "algorithms": algorithms})
    if passed and payload.get("do_rollouts"):
        emit({"kind": "begin", "check": "Rollouts"})
        folder = payload.get("rollouts_dir")
        emit({"kind": "rollouts", "rollouts": play_rollouts(subject, folder and Path(folder))})


class _Report:
    """Gathers what the child says and passes it on as the contract's events."""

    def __init__(self, channel: Channel, entrypoints: list[str], entrypoint: str) -> None:
        self._channel = channel
        self._entrypoints = entrypoints
        self._entrypoint = entrypoint
        self._checks: list[dict[str, Any]] = []
        self._running = CHECK_NAMES[0]
        self._facts: dict[str, Any] = {}
        self._algorithms: list[dict[str, Any]] = []
        self._rollouts: dict[str, Any] | None = None

    def take(self, message: dict[str, Any], output: Output) -> None:
        """Take one message of the child."""
        kind = message["kind"]
        if kind == "begin":
            self._running = message["check"]
        elif kind == "check":
            self._add(message["check"], message["result"], output.take())
        elif kind == "facts":
            self._facts, self._algorithms = message["facts"], message["algorithms"]
            self._running = ""
        elif kind == "rollouts":
            self._rollouts = message["rollouts"]

    def conclude(self, outcome: Outcome) -> None:
        """Make a finding of an end that was not an ordinary one.

        Raises:
            WorkerError: The job was stopped, or the checks are at fault themselves.
        """
        if outcome.ending == "done":
            return
        if outcome.ending == "stopped":
            raise WorkerError("The validation was stopped.", error_code="STOPPED")
        if outcome.ending == "failed":
            print(outcome.detail)
            last = outcome.detail.strip().splitlines()[-1]
            raise WorkerError(
                f"The checks themselves failed ({last}); the job's log has the traceback.",
                error_code="CHECKS_FAILED",
            )
        sentence = outcome.sentence()
        if self._running in ("", "Rollouts"):
            self._rollouts = {"error": sentence}
            return
        result: dict[str, Any] = {"success": False, "warnings": [], "error": sentence}
        if outcome.stack:
            result["stack"] = outcome.stack
        self._add(self._running, result, Output())

    def result(self) -> dict[str, Any]:
        """Return the worker's result."""
        run = [check["check"] for check in self._checks]
        valid = len(run) == len(CHECK_NAMES) and all(c["success"] for c in self._checks)
        return {
            "validated": valid,
            "entrypoint": self._entrypoint or None,
            "entrypoints": self._entrypoints or ([self._entrypoint] if self._entrypoint else []),
            "checks": self._checks,
            "not_run": [name for name in CHECK_NAMES if name not in run],
            "spaces": {kind: self._facts[kind] for kind in SPACES if kind in self._facts},
            # Nothing can be trained on one that failed, whatever its spaces are.
            "algorithms": self._algorithms if valid else [],
            "rollouts": self._rollouts,
        }

    def _add(self, name: str, result: dict[str, Any], printed: Output) -> None:
        if printed.size:
            result["output"] = {
                "bytes": printed.size,
                "lines": printed.lines,
                "first": printed.first_line,
            }
            if name == "Step" and printed.lines >= NOISY_LINES:
                result["warnings"].append(
                    f"The environment printed {printed.lines:,} lines ({printed.size:,} bytes)"
                    f" during this check, which slows training; the first: {printed.first_line}"
                )
        self._checks.append({"check": name, **result})
        self._channel.emit(
            {
                "kind": "check",
                "stage": "validation",
                "status": "running",
                "message": f"{name}: {'passed' if result['success'] else 'failed'}",
                "detail": {"check": name, "result": result},
            }
        )
