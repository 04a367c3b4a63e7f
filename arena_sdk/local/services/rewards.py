"""Reward files of reasoning runs: tried once in a worker, on a dataset's row or an example."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy.orm import Session

from arena_sdk.local.jobs import Job, JobSpec, Supervisor
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.patience import call_seconds
from arena_sdk.local.store.database import Database

from .dataset_rows import find
from .refusals import invalid

SOURCE_LIMIT = 1 << 20
TRIAL_SECONDS = 300.0
CATEGORY = "reasoning"
FUNCTION = "reward"
INVALID = "INVALID_REWARD_FILE"


@dataclass(frozen=True)
class RewardTrial:
    """What to try.

    Attributes:
        file: The file's name.
        content: Its source, UTF-8.
        completion: What a model is taken to have said.
        dataset: Whose first row is taken.
        question: The question otherwise.
        answer: The answer otherwise.
        function: Name of the function.
    """

    file: str
    content: bytes
    completion: str = ""
    dataset: str | None = None
    question: str | None = None
    answer: str | None = None
    function: str = FUNCTION

    def source(self) -> str:
        """Return the source as text.

        Raises:
            ApiError: 422 when it is too large, or no UTF-8.
        """
        name = self.file[:80]
        if len(self.content) > SOURCE_LIMIT:
            raise invalid(f"{name!a} is larger than {SOURCE_LIMIT >> 20} MiB.", INVALID)
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise invalid(f"{name!a} is not UTF-8 text; save it as UTF-8.", INVALID) from None


class RewardService:
    """Tries reward files.

    Args:
        database: The store.
        paths: The data folder.
        supervisor: Starts workers.
    """

    def __init__(self, database: Database, paths: DataPaths, supervisor: Supervisor) -> None:
        self._database, self._paths, self._supervisor = database, paths, supervisor

    async def check(self, trial: RewardTrial) -> dict[str, Any]:
        """Import a reward file and call it once, in a worker.

        Returns:
            The worker's result: `sound`, `value`, `seconds`, `error` and more.

        Raises:
            ApiError: 404 when there is no such dataset; 422 when it is not one of reasoning, has
                no files, or there is nothing to try the file on.
        """
        source, dataset = trial.source(), None
        if trial.dataset is not None:
            wanted = trial.dataset
            dataset = await self._database.read(lambda session: self._about(session, wanted))
        elif trial.question is None or trial.answer is None:
            raise invalid("Give a dataset, or a question and an answer, to try it on.", INVALID)
        spec = trial_spec(trial, source, dataset)
        outcome = await _outcome(await self._supervisor.start(spec))
        if outcome.result is None:
            error = outcome.error or {}
            sentence = str(error.get("message") or "The reward file could not be tried.")
            raise invalid(sentence, str(error.get("error_code") or INVALID))
        return dict(outcome.result)

    def _about(self, session: Session, name: str) -> dict[str, Any]:
        row = find(session, name)
        if row.category != CATEGORY:
            raise invalid(
                f"Dataset {name!r} is of category {row.category}; rewards are for {CATEGORY} ones.",
                INVALID,
            )
        if not row.files:
            raise invalid(
                f"Dataset {name!r} has no files yet; upload them under its name.", INVALID
            )
        return {
            "folder": str(self._paths.dataset(row.folder)),
            "files": [file["path"] for file in row.files],
            "mapping": row.column_mapping,
        }


def trial_spec(trial: RewardTrial, source: str, dataset: dict[str, Any] | None) -> JobSpec:
    """Return the job that tries a reward file."""
    name = PurePosixPath(trial.file.replace("\\", "/")).name or "reward.py"
    payload = {
        "name": name,
        "file": name,
        "source": source,
        "function": trial.function,
        "completion": trial.completion,
        "dataset": dataset,
        "example": None if dataset else {"question": trial.question, "answer": trial.answer},
        "call_seconds": call_seconds(),
    }
    return JobSpec("reward", payload, timeout=TRIAL_SECONDS)


async def _outcome(job: Job) -> Any:
    try:
        return await job.wait()
    except BaseException:
        job.kill()
        raise
