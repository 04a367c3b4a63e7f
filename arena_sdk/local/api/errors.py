"""How a request is refused: one exception, one body, never a traceback to the client."""

from __future__ import annotations

import errno
import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException

from arena_sdk.text import shorten_words

logger = logging.getLogger(__name__)


class ApiError(Exception):
    """A request that cannot be granted.

    Args:
        status: HTTP status.
        message: One sentence: what, where, and what to do next.
        error_code: A short upper-case word for programs.
        **context: Further facts for the body, such as `available_entrypoints`.
    """

    def __init__(self, status: int, message: str, error_code: str, **context: Any) -> None:
        message = shorten_words(message)
        super().__init__(message)
        self.status = status
        self.message = message
        self.error_code = error_code
        self.context = context

    def body(self) -> dict[str, Any]:
        """Return the error as JSON."""
        return {"message": self.message, "error_code": self.error_code, **self.context}

    def response(self) -> JSONResponse:
        """Return the error as an answer."""
        return JSONResponse(self.body(), self.status)


def install(app: FastAPI) -> None:
    """Answer every error of the routes in the contract's shape."""

    @app.exception_handler(ApiError)
    async def refuse(request: Request, error: ApiError) -> JSONResponse:
        return error.response()

    @app.exception_handler(RequestValidationError)
    async def misshapen(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return ApiError(422, "The request body is not JSON.", "INVALID_REQUEST").response()
        where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query"))
        message = f"{where or 'The request body'}: {first['msg']}."
        return ApiError(422, message, "INVALID_REQUEST").response()

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        message = str(error.detail)
        if error.status_code == 404:
            message = f"This Arena has no {request.method} {request.url.path}."
        if error.status_code == 400 and "parsing the body" in message:
            message = "The request body cannot be read as what its Content-Type says."
        return ApiError(error.status_code, message, "HTTP_ERROR").response()

    @app.exception_handler(OSError)
    async def operating_system(request: Request, error: OSError) -> JSONResponse:
        return _disk_full() if is_disk_full(error) else _unexpected(request, error)

    @app.exception_handler(OperationalError)
    async def store(request: Request, error: OperationalError) -> JSONResponse:
        return _disk_full() if is_disk_full(error) else _unexpected(request, error)

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        return _unexpected(request, error)


def is_disk_full(error: Exception) -> bool:
    """Tell whether something failed for want of space, in the file system or the database."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return isinstance(error, OperationalError) and "disk is full" in str(error.orig)


def _disk_full() -> JSONResponse:
    message = "The disk that holds the Arena's data is full; free some space and try again."
    return ApiError(507, message, "DISK_FULL").response()


def _unexpected(request: Request, error: Exception) -> JSONResponse:
    """Keep the traceback in the log and tell the client where to look."""
    logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
    message = (
        f"The Arena failed on this request ({type(error).__name__}); its log has the details:"
        " `arena local logs`."
    )
    return ApiError(500, message, "INTERNAL_ERROR").response()
