"""The worker that tries a reward file on one example.

Payload: `{"file", "source", "function", "completion", "example": {"question", "answer"} or None,
"dataset": {"folder", "files", "mapping"} or None, "call_seconds"}`; without an example the first
row of the dataset is taken. Result: `{"sound", "function", "value", "seconds", "import_seconds",
"error", "warnings", "output", "stack", "question", "answer", "completion"}`.

The file runs in a guarded child, so a hang, a crash or an exit of it is a finding like any other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena_sdk.local.rewards.trial import try_reward
from arena_sdk.local.validation.guard import CALL_SECONDS, Emit, Pulse, run_guarded
from arena_sdk.local.validation.output import Output
from arena_sdk.local.workers.channel import Channel, WorkerError

SHOWN = 200
"""Characters of the example that are told back."""


def main(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Try the file.

    Raises:
        WorkerError: There is no example to try it on, or the trial was stopped.
    """
    example = payload.get("example") or _first_row(payload["dataset"])
    example = {**example, "completion": str(payload["completion"])}
    path, function = _written(payload), str(payload["function"])
    trial = _Trial(function)

    def run(emit: Emit, pulse: Pulse) -> None:
        try_reward(path, function, example, emit)

    outcome = run_guarded(
        run,
        trial.take,
        channel,
        call_seconds=float(payload.get("call_seconds") or CALL_SECONDS),
    )
    if outcome.ending == "stopped":
        raise WorkerError("The trial of the reward file was stopped.", error_code="STOPPED")
    if outcome.ending == "failed":
        print(outcome.detail)
        last = outcome.detail.strip().splitlines()[-1]
        raise WorkerError(f"The trial itself failed ({last}).", error_code="TRIAL_FAILED")
    if outcome.ending != "done":
        trial.verdict = {"error": trial.ended(path.name, outcome), "stack": outcome.stack}
    return trial.result({key: _short(text) for key, text in example.items()})


class _Trial:
    """Gathers what the child says.

    Attributes:
        verdict: What became of the trial.
    """

    def __init__(self, function: str) -> None:
        self.verdict: dict[str, Any] = {}
        self._function = function
        self._doing = "import"
        self._output: Output | None = None

    def take(self, message: dict[str, Any], output: Output) -> None:
        """Take one message of the child."""
        self._output = output
        if message["kind"] == "begin":
            self._doing = message["what"]
        elif message["kind"] == "verdict":
            self.verdict = {key: value for key, value in message.items() if key != "kind"}

    def ended(self, file: str, outcome: Any) -> str:
        """Say what an end that was not an ordinary one means."""
        what = f"Importing {file}" if self._doing == "import" else f"{self._function}() in {file}"
        at = f" (at {outcome.stack[-1]})" if outcome.stack else ""
        if outcome.ending in ("hang", "slow"):
            return f"{what} did not end within {outcome.seconds:.0f} s{at}."
        if outcome.ending == "memory":
            return f"{what} needed {outcome.detail} GB of memory and was ended."
        if outcome.ending == "processes":
            return f"{what} started {outcome.detail} processes and was ended."
        if outcome.returncode < 0:
            return f"{what} ended its process by signal {-outcome.returncode}{at}."
        return (
            f"{what} ended its process with exit code {outcome.returncode}, as os._exit does{at};"
            " raise an error instead."
        )

    def result(self, example: dict[str, str]) -> dict[str, Any]:
        """Return the worker's result."""
        found = self.verdict or {"error": "The reward file ended the trial without a word."}
        printed = self._output.first_line if self._output is not None else ""
        return {
            "sound": not found.get("error"),
            "function": self._function,
            "value": found.get("value"),
            "seconds": found.get("seconds"),
            "import_seconds": found.get("import_seconds"),
            "error": found.get("error"),
            "warnings": found.get("warnings", []),
            "output": printed,
            "stack": found.get("stack", []),
            **example,
        }


def _written(payload: dict[str, Any]) -> Path:
    """Write the source under its own name, so that what it raises names it."""
    folder = Path("reward_file")
    folder.mkdir()
    path = (folder / Path(str(payload["file"])).name).absolute()
    path.write_text(payload["source"], encoding="utf-8")
    return path


def _first_row(dataset: dict[str, Any]) -> dict[str, str]:
    """Return question and answer of a dataset's first row, whole.

    Raises:
        WorkerError: It cannot be read.
    """
    from arena_sdk.local.datasets.naming import CSV, PARQUET
    from arena_sdk.local.datasets.problems import DatasetProblem
    from arena_sdk.local.datasets.reading import first_row

    folder, files = Path(dataset["folder"]), dataset["files"]
    try:
        with (folder / files[0]).open("rb") as file:
            kind = PARQUET if file.read(4) == b"PAR1" else CSV
        row = first_row(folder, files, kind)
    except DatasetProblem as problem:
        raise WorkerError(str(problem), error_code="INVALID_DATASET") from None
    mapping = dataset["mapping"]
    return {key: _text(row.get(mapping[key])) for key in ("question", "answer")}


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
