"""A reward file tried without a server: what `arena datasets reward` does with an example."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.checking import CheckRefused, run_alone
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.services.rewards import RewardTrial, trial_spec


async def check_alone(trial: RewardTrial, home: Path) -> dict[str, Any]:
    """Try a reward file as the server does.

    Args:
        trial: What to try; with a question and an answer.
        home: Where the worker works.

    Returns:
        The worker's result: `sound`, `value`, `seconds`, `error` and more.

    Raises:
        CheckRefused: It could not be tried.
    """
    paths = DataPaths(home)
    paths.jobs.mkdir(parents=True, exist_ok=True)
    try:
        spec = trial_spec(trial, trial.source(), None)
    except ApiError as error:
        raise CheckRefused(error.message, error.error_code) from None
    return await run_alone(spec, paths, lambda event: None)
