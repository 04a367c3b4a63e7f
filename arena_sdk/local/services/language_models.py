"""Language models that are on this machine, in its Hugging Face cache."""

from __future__ import annotations

from typing import Any

from arena_sdk.local.huggingface import cache, models

from .refusals import not_found


def all_models() -> list[dict[str, Any]]:
    """Return the rows of all models, by name; none where there is no cache."""
    found = (models.describe(r) for r in cache.repositories("models", cache.hub_folder()))
    return [row for row in found if row is not None]


def one_model(name: str) -> dict[str, Any]:
    """Return one row.

    Raises:
        ApiError: 404 when the model is not on this machine.
    """
    hub = cache.hub_folder()
    repository = cache.find("models", name, hub)
    row = None if repository is None else models.describe(repository)
    if row is None:
        known = ", ".join(row["model_name"] for row in all_models()[:8]) or "none"
        raise not_found(
            f"Model {name[:200]!a} is not in this machine's Hugging Face cache ({hub}), which"
            f" holds {known}; the embedded Arena downloads nothing: `hf download NAME` does.",
            "MODEL_NOT_FOUND",
        )
    return row
