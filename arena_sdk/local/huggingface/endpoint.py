"""Where the Hugging Face hub is, whether it may be asked, and its search.

The variables are those of its own libraries
(https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

DEFAULT = "https://huggingface.co"
SEARCH_SECONDS, CONNECT_SECONDS = 6.0, 3.0
FOUND = 20
"""How many datasets a search of the hub finds at most."""
PASSED_ON = (
    "HF_ENDPOINT", "HF_HUB_OFFLINE", "HF_TOKEN", "HF_HUB_DISABLE_XET", "HF_HUB_DOWNLOAD_TIMEOUT",
    "HF_HUB_ETAG_TIMEOUT", "ALL_PROXY",
)  # fmt: skip
NOT_ASKED = "HF_HUB_OFFLINE is set, so the Hugging Face hub was not asked"
YES = ("1", "on", "yes", "true")


class HubUnreachable(Exception):
    """The hub cannot be asked; one sentence, without its full stop, says why."""


def endpoint(environment: Mapping[str, str] | None = None) -> str:
    """Return the hub's address: HF_ENDPOINT, or the public one."""
    variables = os.environ if environment is None else environment
    return (variables.get("HF_ENDPOINT") or DEFAULT).rstrip("/")


def is_offline(environment: Mapping[str, str] | None = None) -> bool:
    """Tell whether HF_HUB_OFFLINE says that the hub must not be asked."""
    variables = os.environ if environment is None else environment
    return variables.get("HF_HUB_OFFLINE", "").strip().lower() in YES


def variables_of_a_worker(hub: Path) -> dict[str, str]:
    """Return what a worker that fetches must know of its server's environment."""
    kept = {name: os.environ[name] for name in PASSED_ON if os.environ.get(name)}
    stored = Path(os.environ.get("HF_TOKEN_PATH") or hub.parent / "token")
    return {**kept, "HF_HUB_CACHE": str(hub), "HF_TOKEN_PATH": str(stored)}


async def search(text: str) -> list[dict[str, Any]]:
    """Search the hub's datasets by name.

    Returns:
        `{"id", "description", "downloads", …}` of each, as the hub has them.

    Raises:
        HubUnreachable: It cannot be asked, or answers nothing of the kind.
    """
    if is_offline():
        raise HubUnreachable(NOT_ASKED)
    address = endpoint()
    limits = httpx.Timeout(SEARCH_SECONDS, connect=CONNECT_SECONDS)
    try:
        async with httpx.AsyncClient(timeout=limits, follow_redirects=True) as client:
            asked = {"search": text, "limit": str(FOUND)}
            answer = await client.get(f"{address}/api/datasets", params=asked)
            answer.raise_for_status()
            rows = answer.json()
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
        raise HubUnreachable(f"The Hugging Face hub ({address}) answered {status}") from None
    except (httpx.HTTPError, ValueError, OSError) as error:
        reason = str(error) or type(error).__name__
        raise HubUnreachable(
            f"The Hugging Face hub ({address}) cannot be reached ({reason.rstrip('. ')})"
        ) from None
    if not isinstance(rows, list):
        raise HubUnreachable(f"The Hugging Face hub ({address}) answered no list")
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]
