"""The refusals of the services in this package, short to raise."""

from __future__ import annotations

from typing import Any

from arena_sdk.local.api.errors import ApiError


def not_found(message: str, error_code: str, **context: Any) -> ApiError:
    """Return a 404: there is no such thing."""
    return ApiError(404, message, error_code, **context)


def conflict(message: str, error_code: str, **context: Any) -> ApiError:
    """Return a 409: it is not in a state for this."""
    return ApiError(409, message, error_code, **context)


def invalid(message: str, error_code: str, **context: Any) -> ApiError:
    """Return a 422: what was asked for makes no sense."""
    return ApiError(422, message, error_code, **context)
