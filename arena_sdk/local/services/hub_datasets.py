"""Datasets of the Hugging Face hub: fetched by a worker, or taken from this machine's cache."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path, PurePosixPath
from typing import Any

from arena_sdk.local.datasets.problems import DatasetProblem
from arena_sdk.local.huggingface import cache, endpoint
from arena_sdk.local.jobs import JobSpec, Supervisor

from .dataset_files import Kept, keep_cached, keep_copies
from .dataset_rows import NewDataset
from .refusals import invalid, not_found

FETCH_SECONDS = 3_600.0


class HubDatasets:
    """Brings datasets of the hub, and searches it.

    Args:
        supervisor: Starts workers.
    """

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor

    async def keep(self, new: NewDataset, target: Path) -> Kept:
        """Copy a split of a dataset of the hub into a new folder.

        The hub is asked first, as the cache may hold but a part of a split; where it cannot be
        asked, what the cache has is taken.

        Raises:
            ApiError: 404 when it is neither here nor on a hub that can be asked.
            DatasetProblem: It has no such split, or cannot be read.
            OSError: The disk is full, or the like.
        """
        hub = cache.hub_folder()
        scratch = target.with_name(f"{target.name}-hub")
        try:
            found = await self._fetched(new, hub, scratch)
            if "unreachable" not in found:
                paths = [PurePosixPath(path) for path in found["files"]]
                folder = Path(found["folder"])
                return await asyncio.to_thread(keep_copies, found["name"], folder, paths, target)
            return await self._cached(new, hub, target, found["unreachable"])
        finally:
            await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)

    async def _fetched(self, new: NewDataset, hub: Path, scratch: Path) -> dict[str, Any]:
        if endpoint.is_offline():
            return {"unreachable": endpoint.NOT_ASKED}
        payload = {
            "name": new.hf_dataset_name,
            "config": new.hf_config,
            "split": new.hf_split,
            "cache": str(hub),
            "scratch": str(scratch),
        }
        spec = JobSpec(
            "hub",
            payload,
            timeout=FETCH_SECONDS,
            variables=endpoint.variables_of_a_worker(hub),
        )
        job = await self._supervisor.start(spec)
        try:
            outcome = await job.wait()
        except BaseException:
            job.kill()
            raise
        if outcome.result is None:
            error = outcome.error or {}
            sentence = str(error.get("message") or "The dataset could not be fetched.")
            raise invalid(sentence, str(error.get("error_code") or "INVALID_DATASET"))
        return outcome.result

    async def _cached(self, new: NewDataset, hub: Path, target: Path, why: str) -> Kept:
        name = str(new.hf_dataset_name)
        repository = await asyncio.to_thread(cache.find, "datasets", name, hub)
        if repository is None:
            raise not_found(
                f"Dataset {name[:200]!a} is not in this machine's Hugging Face cache ({hub}), and"
                f" cannot be fetched: {why}. Try again with a network, or give its files with"
                " --file.",
                "DATASET_NOT_FOUND",
            )
        try:
            return await asyncio.to_thread(
                keep_cached, repository, new.hf_config, new.hf_split, target
            )
        except DatasetProblem as problem:
            raise DatasetProblem(f"{problem} ({why}; this is of the cache.)") from None

    async def search(self, text: str, known: set[Any]) -> tuple[list[dict[str, Any]], list[str]]:
        """Search this machine's cache and the hub.

        Args:
            text: What is looked for in their names.
            known: Hub ids that are found already.

        Returns:
            Rows of those not known, and why the hub was not searched, where it was not.
        """
        cached = await asyncio.to_thread(cache.repositories, "datasets", cache.hub_folder())
        here = [r.name for r in cached if text.casefold() in r.name.casefold()]
        rows = [_row(name, "In this machine's Hugging Face cache.") for name in here]
        warnings = []
        try:
            for found in await endpoint.search(text):
                about = " ".join(str(found.get("description") or "").split())[:200]
                rows.append(_row(found["id"], about or "On the Hugging Face hub."))
        except endpoint.HubUnreachable as problem:
            warnings.append(f"{problem}; only what is on this machine was searched.")
        fresh = {row["name"]: row for row in reversed(rows) if row["name"] not in known}
        return list(reversed(fresh.values())), warnings


def _row(name: str, description: str) -> dict[str, Any]:
    """Return a row for a dataset that is not registered."""
    unknown = (
        "id", "version", "category", "num_rows", "columns", "size_mb", "created_at",
        "column_mapping",
    )  # fmt: skip
    return {
        "name": name,
        "hf_dataset_id": name,
        "description": description,
        "is_ready": False,
        "uploaded": False,
        **dict.fromkeys(unknown),
    }
