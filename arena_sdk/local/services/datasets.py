"""Datasets: taken in as they were uploaded, read once in a worker, listed, deleted."""

from __future__ import annotations

import asyncio
import logging
import secrets
import shutil
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from arena_sdk.local.datasets.categories import (
    check_cells,
    check_keys,
    check_mapping,
    checked_category,
    parsed_mapping,
)
from arena_sdk.local.datasets.problems import DatasetProblem
from arena_sdk.local.jobs import JobSpec, Supervisor
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.store import activity
from arena_sdk.local.store import datasets as store
from arena_sdk.local.store.database import Database
from arena_sdk.names import name_problem

from .dataset_files import Kept, keep_uploads
from .dataset_rows import NewDataset, find, register, register_empty, same
from .hub_datasets import HubDatasets
from .refusals import invalid

logger = logging.getLogger(__name__)

READ_SECONDS = 900.0
READ_MEMORY_GB = 8.0
CODE = "INVALID_DATASET"


class DatasetService:
    """What can be done with datasets.

    Args:
        database: The store.
        paths: The data folder.
        supervisor: Starts workers.
    """

    def __init__(self, database: Database, paths: DataPaths, supervisor: Supervisor) -> None:
        self._database, self._paths, self._supervisor = database, paths, supervisor
        self._hub = HubDatasets(supervisor)

    async def start(self) -> None:
        """Remove folders of datasets that are not, or no longer, in the store."""
        known = await self._database.read(store.folders)
        await asyncio.to_thread(_remove_others, self._paths.datasets, known)

    async def create(self, new: NewDataset) -> dict[str, Any]:
        """Keep a dataset's files, read them, and register it.

        Without files or a name on the hub only what is said of it is kept: it is not ready, and
        becomes so when files are given under its name later. What is sent again as it is there is
        recognised and not kept twice.

        Returns:
            Its row, and `warnings` where there are any: of empty cells, of the same content.

        Raises:
            ApiError: 409 when the name is taken; 404 when a dataset of the hub is not on this
                machine; 422 when the names, the files or the mapping are not right.
            OSError: The disk is full, or the like; nothing is kept then, as in every failure.
        """
        problem = name_problem("dataset", new.name)
        if problem:
            raise invalid(problem, "INVALID_NAME")
        try:
            checked_category(new.category)
            mapping = parsed_mapping(new.column_mapping)
            if not new.has_content:
                check_keys(new.category, mapping)
        except DatasetProblem as wrong:
            raise invalid(str(wrong), CODE) from None
        if not new.has_content:
            return await self._database.run(lambda session: register_empty(session, new, mapping))
        folder = secrets.token_hex(12)
        target = self._paths.dataset(folder)
        try:
            kept = await self._keep(new, target)
            there = await self._database.read(lambda session: same(session, new, mapping, kept))
            if there is not None:
                await asyncio.to_thread(shutil.rmtree, target, ignore_errors=True)
                return there
            table = await self._read(new.name, target, kept, sorted(set(mapping.values())))
            warnings = _judge(new.category, mapping, {**table, "kind": kept.kind})
            row, twins = await self._database.run(
                lambda session: register(session, new, mapping, folder, kept, table)
            )
            warnings += [f"Dataset {twin!r} has the very same content." for twin in twins]
            return {**row, "warnings": warnings} if warnings else row
        except BaseException:
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, target, ignore_errors=True))
            raise

    async def delete(self, name: str) -> dict[str, Any]:
        """Delete a dataset and its files.

        Raises:
            ApiError: 404 when there is none.
        """

        def remove(session: Session) -> str:
            row = find(session, name)
            session.delete(row)
            activity.add(session, "warning", "dataset", name, "Dataset deleted.")
            return row.folder

        folder = await self._database.run(remove)
        if not folder:
            return {"name": name, "deleted": True}
        # What is not removed now has no row any more, and is removed when the Arena next starts.
        await asyncio.to_thread(shutil.rmtree, self._paths.dataset(folder), ignore_errors=True)
        return {"name": name, "deleted": True}

    async def listed(self, name: str | None, search: str | None) -> list[dict[str, Any]]:
        """Return rows; a search also finds datasets of the Hugging Face hub and its cache."""
        if search is not None and name is None:
            return (await self.searched(search))[0]
        return await self._database.read(lambda session: store.listed(session, name, search))

    async def searched(self, text: str) -> tuple[list[dict[str, Any]], list[str]]:
        """Return rows of datasets here and on the hub, and why it was not asked, if so."""
        rows = await self._database.read(lambda session: store.listed(session, None, text))
        known = {row["hf_dataset_id"] for row in rows}
        more, warnings = await self._hub.search(text, known)
        return rows + more, warnings

    async def _keep(self, new: NewDataset, target: Path) -> Kept:
        """Bring the files in."""
        if new.files and new.hf_dataset_name:
            raise invalid("Give files or hf_dataset_name, not both.", CODE)
        try:
            if new.files:
                return await asyncio.to_thread(keep_uploads, new.files, new.config, target)
            return await self._hub.keep(new, target)
        except DatasetProblem as wrong:
            raise invalid(str(wrong), CODE) from None

    async def _read(self, name: str, folder: Path, kept: Kept, wanted: list[str]) -> dict[str, Any]:
        """Have a worker read the files; user files never reach a reader in the server."""
        payload = {
            "name": name,
            "folder": str(folder),
            "files": [file["path"] for file in kept.files],
            "kind": kept.kind,
            "wanted": wanted,
        }
        job = await self._supervisor.start(
            JobSpec("dataset", payload, timeout=READ_SECONDS, memory_gb=READ_MEMORY_GB)
        )
        try:
            outcome = await job.wait()
        except BaseException:
            job.kill()
            raise
        if outcome.result is None:
            error = outcome.error or {}
            sentence = str(error.get("message") or "The dataset could not be read.")
            raise invalid(sentence, str(error.get("error_code") or CODE))
        return outcome.result


def _judge(category: str, mapping: dict[str, str], table: dict[str, Any]) -> list[str]:
    """Return what is odd about the columns that a mapping names.

    Raises:
        ApiError: 422 when they are not there or hold no text.
    """
    columns = [column["name"] for column in table["columns"]]
    try:
        check_mapping(category, mapping, columns)
        return check_cells(mapping, table)
    except DatasetProblem as wrong:
        raise invalid(str(wrong), "INVALID_COLUMN_MAPPING", columns=columns) from None


def _remove_others(folder: Path, known: set[str]) -> None:
    for path in folder.iterdir():
        if path.name not in known:
            logger.info("removing %s, which belongs to no dataset", path)
            shutil.rmtree(path, ignore_errors=True)
