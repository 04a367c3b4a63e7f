"""What an experiment can run on."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from arena_sdk.local.api.deps import PREFIX
from arena_sdk.local.tiers import all_tiers

router = APIRouter(prefix=PREFIX)


@router.get("/resources/list")
def list_resources() -> dict[str, Any]:
    """Return the tiers by key; only `local` runs anything here."""
    return {"tiers": all_tiers()}
