"""Language models: what this machine's Hugging Face cache holds."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from arena_sdk.local.api.deps import PREFIX
from arena_sdk.local.services.language_models import all_models, one_model

router = APIRouter(prefix=f"{PREFIX}/models")


class Which(BaseModel):
    """Which model."""

    model_name: str


@router.get("")
async def list_models() -> list[dict[str, Any]]:
    """Return the models that are on this machine."""
    return await asyncio.to_thread(all_models)


@router.post("/info")
async def model_info(which: Which) -> dict[str, Any]:
    """Return one model."""
    return await asyncio.to_thread(one_model, which.model_name)
