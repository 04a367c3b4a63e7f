"""Environments: validate and profile as streams; list, show, copy, delete."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, UploadFile
from fastapi.responses import FileResponse, StreamingResponse
from pydantic import BaseModel

from arena_sdk.local.api.deps import PREFIX, OptionalFlag, OptionalText, WithServices
from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.services.bundled import ConfigError, parse_config
from arena_sdk.local.services.environments import NewVersion, find
from arena_sdk.local.services.provided import provided_environments
from arena_sdk.local.services.streams import Told
from arena_sdk.local.store import environments as store
from arena_sdk.local.validation.entrypoints import find_candidates

router = APIRouter(prefix=f"{PREFIX}/environments")

FEATURES = {
    "environment_details": {"path": f"{PREFIX}/environments/details"},
    "environment_rollout": {"path": f"{PREFIX}/environments/rollout"},
}
SMALL_FILE = 1 << 20


class WhichVersion(BaseModel):
    """A version of an environment; the newest, or for a deletion all, when none is named."""

    name: str
    version: str | None = None


class Again(WhichVersion):
    """A version to validate again."""

    do_rollouts: bool = False
    entrypoint: str | None = None


class Copy(WhichVersion):
    """A version to copy."""

    new_version_name: str


def _stream(told: Told) -> StreamingResponse:
    return StreamingResponse(told.lines(), media_type="application/x-ndjson")


async def _small_text(upload: UploadFile | None, what: str) -> str:
    if upload is None:
        return ""
    content = await upload.read(SMALL_FILE + 1)
    if len(content) > SMALL_FILE:
        raise ApiError(413, f"The {what} is larger than 1 MB.", "TOO_LARGE")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ApiError(422, f"The {what} is not UTF-8 text.", "INVALID_FILE") from None


def _config(text: str, name: str) -> dict[str, Any] | None:
    try:
        return parse_config(text, name.lower()) if text.strip() else None
    except ConfigError as error:
        raise ApiError(422, str(error), "INVALID_CONFIG") from None


@router.post("/create-and-validate")
async def create_and_validate(
    services: WithServices,
    file: Annotated[UploadFile, File()],
    name: Annotated[str, Form()],
    version: Annotated[str, Form()] = "v1",
    multi_agent: Annotated[bool, Form()] = False,
    language_based: Annotated[bool, Form()] = False,
    do_rollouts: Annotated[bool, Form()] = False,
    entrypoint: Annotated[str | None, Form()] = None,
    description: Annotated[str | None, Form()] = None,
    env_config: Annotated[UploadFile | None, File()] = None,
    requirements: Annotated[UploadFile | None, File()] = None,
) -> StreamingResponse:
    """Store an upload as a version and validate it."""
    config_name = (env_config.filename or "") if env_config is not None else ""
    config_text = await _small_text(env_config, "env_config")
    new = NewVersion(
        name=name,
        version=version or "v1",
        env_config=_config(config_text, config_name),
        requirements=await _small_text(requirements, "requirements file"),
        entrypoint=entrypoint or None,
        description=description or "",
        multi_agent=multi_agent,
        language_based=language_based,
        do_rollouts=do_rollouts,
    )
    return _stream(await services.environments.create(new, file.file))


@router.post("/validate")
async def validate(which: Again, services: WithServices) -> StreamingResponse:
    """Validate a version again."""
    told = await services.environments.validate(
        which.name, which.version, which.entrypoint, do_rollouts=which.do_rollouts
    )
    return _stream(told)


@router.post("/profile")
async def profile(which: WhichVersion, services: WithServices) -> StreamingResponse:
    """Measure a version."""
    return _stream(await services.environments.profile(which.name, which.version))


@router.delete("/delete")
async def delete(which: WhichVersion, services: WithServices) -> dict[str, Any]:
    """Delete a version, or all of them."""
    return await services.environments.delete(which.name, which.version)


@router.post("/duplicate")
async def duplicate(copy: Copy, services: WithServices) -> dict[str, Any]:
    """Copy a version."""
    return await services.environments.duplicate(copy.name, copy.version, copy.new_version_name)


@router.get("")
async def list_environments(
    services: WithServices, name: OptionalText = None, include_arena: OptionalFlag = None
) -> dict[str, dict[str, dict[str, bool]]]:
    """List environments; with `include_arena` also those that Gymnasium brings along."""
    found = await services.database.read(lambda session: store.marks(session, name))
    if not include_arena:
        return found
    provided = await asyncio.to_thread(provided_environments)
    return {key: value for key, value in provided.items() if name in (None, key)} | found


@router.get("/exists")
async def exists(
    services: WithServices, name: OptionalText = None, version: OptionalText = None
) -> dict[str, bool]:
    """Tell whether an environment, or one version of it, is registered."""
    found = await services.database.read(lambda session: store.one(session, name or "", version))
    return {"exists": found is not None}


@router.get("/entrypoints")
async def entrypoints(
    services: WithServices, name: OptionalText = None, version: OptionalText = None
) -> list[str]:
    """List the classes of a version that could be trained on, found without importing it."""
    row = await services.database.read(lambda session: find(session, name or "", version))
    if row.entrypoints:
        return [str(entrypoint) for entrypoint in row.entrypoints]
    source = services.paths.source(row.digest)
    candidates = await asyncio.to_thread(find_candidates, source)
    return [candidate.entrypoint for candidate in candidates]


@router.get("/details")
async def details(
    services: WithServices, name: OptionalText = None, version: OptionalText = None
) -> dict[str, Any]:
    """Show a version with its checks, spaces and profile, and which algorithms fit it."""
    return await services.environments.details(name or "", version)


@router.get("/rollout")
async def rollout(
    services: WithServices, name: OptionalText = None, version: OptionalText = None
) -> FileResponse:
    """Return the recorded random episode of a version, an animated GIF."""
    path = await services.environments.animation(name or "", version)
    return FileResponse(path, media_type="image/gif", filename=f"{name}.gif")
