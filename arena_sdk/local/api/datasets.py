"""Datasets: list, exists, create, show, delete."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, UploadFile

from arena_sdk.local.api.deps import PREFIX, OptionalText, WithServices
from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.datasets.content import digest_of
from arena_sdk.local.datasets.naming import MAX_FILES
from arena_sdk.local.services.dataset_files import Given
from arena_sdk.local.services.dataset_rows import NewDataset, find
from arena_sdk.local.services.rewards import SOURCE_LIMIT, RewardTrial
from arena_sdk.local.store import datasets as store

router = APIRouter(prefix=f"{PREFIX}/datasets")

FEATURES: dict[str, Any] = {
    "dataset_details": {"path": f"{PREFIX}/datasets/details"},
    "dataset_search": {"path": f"{PREFIX}/datasets/search"},
    "reward_check": {"path": f"{PREFIX}/datasets/reward"},
}

FIELDS = 100


class Which(BaseModel):
    """Which dataset."""

    name: str


@router.get("")
async def list_datasets(
    services: WithServices, name: OptionalText = None, search: OptionalText = None
) -> list[dict[str, Any]]:
    """Return datasets, newest first; a search also finds those of the Hugging Face hub."""
    return await services.datasets.listed(name, search)


@router.get("/search")
async def search(services: WithServices, search: OptionalText = None) -> dict[str, Any]:
    """Search datasets here and on the Hugging Face hub, and tell why it was not asked, if so."""
    rows, warnings = await services.datasets.searched(search or "")
    return {"datasets": rows, "warnings": warnings}


@router.get("/exists")
async def exists(services: WithServices, name: OptionalText = None) -> dict[str, Any]:
    """Tell whether there is a dataset of that name, and which it is."""
    row = await services.database.read(lambda session: store.by_name(session, name or ""))
    if row is None:
        return {"exists": False}
    return {"exists": True, "id": row.id, "datasetType": row.category}


@router.get("/details")
async def details(services: WithServices, name: OptionalText = None) -> dict[str, Any]:
    """Show a dataset: columns, types, files, first rows, and what its content is known by."""

    def read(session: Session) -> dict[str, Any]:
        found = store.details(find(session, name or ""))
        return {**found, "digest": digest_of(found["files"])}

    return await services.database.read(read)


@router.post("/create")
async def create(request: Request, services: WithServices) -> dict[str, Any]:
    """Make a dataset from uploaded files, from the Hugging Face hub, or without any yet."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise ApiError(422, "Send the dataset as multipart/form-data.", "INVALID_REQUEST")
    # One file more than goes, so that the refusal is ours and says how many do.
    async with request.form(max_files=MAX_FILES + 1, max_fields=FIELDS) as form:
        return await services.datasets.create(_read(form))


@router.post("/reward")
async def reward(request: Request, services: WithServices) -> dict[str, Any]:
    """Try a reward file once: on the first row of a dataset, or on a question and its answer."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise ApiError(422, "Send the reward file as multipart/form-data.", "INVALID_REQUEST")
    async with request.form(max_files=1, max_fields=FIELDS) as form:
        upload = form.get("reward_file")
        if not isinstance(upload, UploadFile):
            raise ApiError(422, "The form has no file reward_file.", "INVALID_REQUEST")
        fields = {key: value for key, value in form.items() if isinstance(value, str)}
        content = await upload.read(SOURCE_LIMIT + 1)
        trial = RewardTrial(
            file=upload.filename or "reward.py",
            content=content,
            completion=fields.get("completion", ""),
            dataset=fields.get("dataset") or None,
            question=fields.get("question"),
            answer=fields.get("answer"),
            function=fields.get("function") or "reward",
        )
    return await services.rewards.check(trial)


@router.delete("/delete")
async def delete(which: Which, services: WithServices) -> dict[str, Any]:
    """Delete a dataset."""
    return await services.datasets.delete(which.name)


def _read(form: FormData) -> NewDataset:
    """Read the form; an empty field is one that is absent."""
    fields = {key: value for key, value in form.items() if isinstance(value, str) and value}
    for name in ("name", "category", "column_mapping"):
        if name not in fields:
            raise ApiError(422, f"The form has no {name}.", "INVALID_REQUEST")
    uploads = [value for value in form.getlist("file") if isinstance(value, UploadFile)]
    return NewDataset(
        name=fields["name"],
        category=fields["category"],
        column_mapping=fields["column_mapping"],
        description=fields.get("description", ""),
        config=fields.get("config"),
        hf_dataset_name=fields.get("hf_dataset_name"),
        hf_config=fields.get("hf_config"),
        hf_split=fields.get("hf_split"),
        files=tuple(Given(u.filename or "", u.content_type, u.file) for u in uploads),
    )
