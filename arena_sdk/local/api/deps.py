"""What routes need: the services of this server, and query values as the contract means them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Query, Request, WebSocket
from pydantic import BeforeValidator

from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.services import Services

PREFIX = "/api/cli/v1"

MOST_LINES = 10_000
"""Lines of a log in one answer."""


def absent_when_empty(value: Any) -> Any:
    """Return None for an empty query value."""
    return None if value == "" else value


# The published client sends a query parameter that is not set as an empty one.
OptionalText = Annotated[str | None, BeforeValidator(absent_when_empty), Query()]
OptionalInteger = Annotated[int | None, BeforeValidator(absent_when_empty), Query()]
OptionalFlag = Annotated[bool | None, BeforeValidator(absent_when_empty), Query()]


def services(request: Request) -> Services:
    """Return the services of the server that handles a request."""
    found: Services = request.app.state.services
    return found


def websocket_services(websocket: WebSocket) -> Services:
    """Return the services of the server that handles a WebSocket."""
    found: Services = websocket.app.state.services
    return found


WithServices = Annotated[Services, Depends(services)]
WithWebSocketServices = Annotated[Services, Depends(websocket_services)]


def bounded(value: int | None, default: int, most: int, name: str, least: int = 0) -> int:
    """Return a whole number of a query, or its default.

    Raises:
        ApiError: 422 when it is below the least; above the most, the most is taken.
    """
    if value is None:
        return default
    if value < least:
        raise ApiError(422, f"{name} must be at least {least}, not {value}.", "INVALID_REQUEST")
    return min(value, most)


async def log_answer(
    services: Services, path: Path, after: int, limit: int, *, over: bool
) -> dict[str, Any]:
    """Return a page of a log as it is sent.

    Args:
        services: Of this server.
        path: The log.
        after: How many lines the reader has.
        limit: The most lines to give.
        over: Whether nothing more is written.
    """
    lines, reached = await asyncio.to_thread(services.logs.page, path, after, limit, whole=over)
    return {"lines": lines, "next": reached, "ended": over and len(lines) < limit}
