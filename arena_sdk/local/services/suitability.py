"""Refuses at submission what the algorithm cannot be trained on, before anything is queued."""

from __future__ import annotations

from typing import Any

from arena_sdk.local.paths import DataPaths
from arena_sdk.local.store.database import Database
from arena_sdk.local.training.catalogue import ALGORITHMS, Family
from arena_sdk.local.training.errors import TrainingError

from .refusals import invalid
from .run_specs import RunSpecService
from .submission import checked_algorithm, checked_manifest, manifest_environment


async def refuse_misfit(
    manifest: Any, database: Database, paths: DataPaths, run_specs: RunSpecService
) -> None:
    """Check that the algorithm and the network fit the environment's spaces.

    Args:
        manifest: What was submitted.
        database: The store.
        paths: The data folder.
        run_specs: Knows the spaces of environments, or has them measured once.

    Raises:
        ApiError: 422 with the space at fault, where and what would fit; or whatever else is wrong
            with the manifest or the environment.
    """
    from arena_sdk.local.training.spec import read_manifest, refuse_spaces
    from arena_sdk.local.training.team import TeamSpace
    from arena_sdk.local.validation.space_trees import space_of

    payload = checked_manifest(manifest)
    known = ALGORITHMS[checked_algorithm(payload)]
    if known.family is Family.BANDIT:  # of a table, which a worker reads
        return
    found = await database.read(lambda session: manifest_environment(session, paths, payload))
    trees = await run_specs.spaces_of(found)
    seen, done = (space_of(trees[part]) for part in ("observation", "action"))
    if trees.get("multi_agent", known.multi_agent):
        seen, done = (TeamSpace(list(space.spaces.items())) for space in (seen, done))
    try:
        refuse_spaces(read_manifest({"manifest": payload}), seen, done)
    except TrainingError as problem:
        raise invalid(str(problem), problem.error_code) from None
