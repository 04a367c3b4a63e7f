"""What can go wrong, as one tree.

    ArenaError
    ├── ArenaConfigError                  a setting is missing or cannot be read
    │   └── ArenaNotRunningError          the local Arena is meant, and none runs
    ├── ArenaFileNotFoundError            a file of yours is not there (also FileNotFoundError)
    ├── ArenaAuthError                    not authenticated, or not allowed
    ├── ArenaTimeoutError                 something was not done in time; it also is an
    │                                     ArenaAuthError (a login) or ArenaAPIError (a request)
    └── ArenaAPIError                     the service said no, or could not be reached
        ├── ArenaValidationError          environments, datasets, arguments
        ├── ArenaTrainingError            submission
        │   └── ArenaEnvironmentNotFoundError
        └── ArenaInferenceError           deployed agents

A time-out of a request also is of the class of its endpoint, and an environment that is not found
by its name alone also is an ArenaValidationError, so a handler of those gets them too.

Every error carries `detail`, `status_code` (0 when the network failed), `extras` (the further keys
of the error body) and a hint in two wordings, for Python callers and for the command line.
"""

from __future__ import annotations

import json
import re
from typing import Any

MESSAGE_KEYS = ("description", "message", "detail", "error")
NOT_OFFERED = "NOT_OFFERED"
"""The `error_code` of a 404 that is for want of the whole thing, and not of one of that name."""
ENVIRONMENT_NOT_FOUND = "ENVIRONMENT_NOT_FOUND"
"""The `error_code` of a 404 for want of an environment of that name."""
BODY_LIMIT = 1 << 20
"""Bytes of an error body that are looked at."""
TEXT_LIMIT = 2_000
NESTING_LIMIT = 3
"""How many messages within messages are opened."""


class ArenaError(Exception):
    """The base of all errors of this SDK.

    Args:
        detail: One sentence: what went wrong, where, and what to do next.
        status_code: HTTP status; 0 when there was no answer or no request.
        extras: Further keys of the error body.
        hint_python: What a Python caller can do about it.
        hint_cli: The same for the command line.
    """

    def __init__(
        self,
        detail: str,
        *,
        status_code: int = 0,
        extras: dict[str, Any] | None = None,
        hint_python: str | None = None,
        hint_cli: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status_code = status_code
        self.extras = extras or {}
        self.hint_python = hint_python
        self.hint_cli = hint_cli or hint_python

    @property
    def hint(self) -> str | None:
        """The hint for Python callers."""
        return self.hint_python

    @property
    def error_code(self) -> str | None:
        """The service's word for the error, if it gave one."""
        code = self.extras.get("error_code")
        return code if isinstance(code, str) else None


class ArenaConfigError(ArenaError):
    """A setting is missing or cannot be read."""


class ArenaNotRunningError(ArenaConfigError):
    """The Arena on this machine is meant, and none runs."""


class ArenaFileNotFoundError(ArenaError, FileNotFoundError):
    """A file or folder of yours is not there."""

    def __str__(self) -> str:
        return self.detail


class ArenaAuthError(ArenaError):
    """The service does not know you, or does not let you."""


class ArenaTimeoutError(ArenaError):
    """A login was not finished in time, or a service did not answer in time."""


class ArenaLoginTimeoutError(ArenaTimeoutError, ArenaAuthError):
    """A login was not finished in time."""


class ArenaAPIError(ArenaError):
    """The service said no, or could not be reached."""

    @property
    def is_network(self) -> bool:
        """Whether there was no answer at all."""
        return self.status_code == 0


class ArenaValidationError(ArenaAPIError):
    """An environment, a dataset or an argument is not valid.

    What is found before anything is sent has the status that the service would answer with, 422.
    """

    def __init__(self, detail: str, *, status_code: int = 422, **more: Any) -> None:
        super().__init__(detail, status_code=status_code, **more)


class ArenaTrainingError(ArenaAPIError):
    """A training run was not accepted."""


class ArenaEnvironmentNotFoundError(ArenaTrainingError):
    """The environment that a manifest or a call names is not registered."""


class NamedEnvironmentNotFoundError(ArenaEnvironmentNotFoundError, ArenaValidationError):
    """The environment that a call names is not registered."""


class ArenaInferenceError(ArenaAPIError):
    """A deployed agent could not answer."""


class RequestTimeoutError(ArenaTimeoutError, ArenaAPIError):
    """A service did not answer in time."""


class ValidationTimeoutError(RequestTimeoutError, ArenaValidationError):
    """It did not answer in time about an environment or a dataset."""


class TrainingTimeoutError(RequestTimeoutError, ArenaTrainingError):
    """It did not answer a submission in time."""


class InferenceTimeoutError(RequestTimeoutError, ArenaInferenceError):
    """A deployed agent did not answer in time."""


def timed_out(kind: type[ArenaAPIError]) -> type[ArenaAPIError]:
    """Return the class of a time-out where other errors are of the class `kind`."""
    kinds = (
        RequestTimeoutError, ValidationTimeoutError, TrainingTimeoutError, InferenceTimeoutError,
    )  # fmt: skip
    return next((each for each in kinds if issubclass(each, kind)), RequestTimeoutError)


def parse_body(body: bytes | str) -> tuple[str, dict[str, Any]]:
    """Find the message and the further keys in an error body.

    Understands JSON, JSON with raw line ends inside strings, JSON nested once in a string, NDJSON
    with an `error` line, and plain text; HTML is cut down to its text.

    Returns:
        The message, empty when there is none, and the other keys.
    """
    text = body.decode("utf-8", errors="replace") if isinstance(body, bytes) else body
    text = text[:BODY_LIMIT].strip()
    document = _as_mapping(text)
    if document is None:
        document = _error_line(text)
    if document is None:
        return _plain_text(text), {}
    return _from_mapping(document)


def _as_mapping(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text, strict=False)
        if isinstance(value, str):
            value = json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _error_line(text: str) -> dict[str, Any] | None:
    """Return the last line of NDJSON that tells of an error."""
    found = None
    for line in text.split("\n"):
        document = _as_mapping(line.strip()) if line.strip() else None
        if document and ("error" in document or document.get("status") == "failed"):
            found = document
    return found


def _from_mapping(document: dict[str, Any], depth: int = 0) -> tuple[str, dict[str, Any]]:
    extras = dict(document)
    for key in MESSAGE_KEYS:
        value = document.get(key)
        if value in (None, "", [], {}):
            continue
        extras.pop(key)
        nested = value if isinstance(value, dict) else None
        if nested is None and isinstance(value, str) and value.lstrip().startswith("{"):
            nested = _as_mapping(value)
        if nested and depth < NESTING_LIMIT:
            message, more = _from_mapping(nested, depth + 1)
            return message, {**extras, **more}
        if isinstance(value, str):
            return value[:TEXT_LIMIT], extras
        return _listed(value)[:TEXT_LIMIT], extras
    return "", extras


def _listed(value: Any) -> str:
    """Return a message that is no text as one; a list of problems with where each one is."""
    if isinstance(value, list) and all(isinstance(row, dict) and "msg" in row for row in value):
        return "; ".join(f"{_place(row.get('loc'))}{row['msg']}" for row in value)
    return json.dumps(value, ensure_ascii=False)


def _place(location: Any) -> str:
    return f"{'.'.join(map(str, location))}: " if isinstance(location, list) and location else ""


def _plain_text(text: str) -> str:
    if re.match(r"\s*<(!doctype|html)", text, re.IGNORECASE):
        text = re.sub(r"(?is)<(script|style)\b.*?</\1>|<[^>]+>", " ", text)
    return " ".join(text.split())[:TEXT_LIMIT]


def from_response(
    kind: type[ArenaAPIError], status_code: int, body: bytes | str, *, url: str = ""
) -> ArenaError:
    """Make the error for an answer that is not a success.

    Args:
        kind: The class of the endpoint.
        status_code: The answer's HTTP status.
        body: The answer's body, or its beginning.
        url: Where the request went, for answers that say nothing.
    """
    message, extras = parse_body(body)
    message = (
        message or f"The service answered with HTTP {status_code}{f' for {url}' if url else ''}."
    )
    return classified(kind, message, status_code, extras)


def classified(
    kind: type[ArenaAPIError], message: str, status_code: int, extras: dict[str, Any]
) -> ArenaError:
    """Return the error of the class that its status and message call for, with its hints."""
    if status_code in (401, 403):
        return ArenaAuthError(
            message,
            status_code=status_code,
            extras=extras,
            hint_python="Pass api_key=…, set ARENA_API_KEY, or call client.login().",
            hint_cli="Set ARENA_API_KEY or run `arena login`; for the Arena on this machine:"
            " export ARENA_API_KEY=$(arena local token).",
        )
    missing = _environment_error(kind, message, extras)
    if missing is not None:
        return missing(
            message,
            status_code=status_code,
            extras=extras,
            hint_python="client.list_environments() shows what is registered.",
            hint_cli="`arena env list` shows what is registered.",
        )
    python, cli = _hints(extras)
    return kind(message, status_code=status_code, extras=extras, hint_python=python, hint_cli=cli)


def _environment_error(
    kind: type[ArenaAPIError], message: str, extras: dict[str, Any]
) -> type[ArenaEnvironmentNotFoundError] | None:
    """Return the class of an error that says that there is no such environment, or None."""
    if kind is ArenaValidationError and extras.get("error_code") == ENVIRONMENT_NOT_FOUND:
        return NamedEnvironmentNotFoundError
    if kind is ArenaTrainingError and re.search(
        r"environment\b.{0,200}\bnot found", message, re.IGNORECASE | re.DOTALL
    ):
        return ArenaEnvironmentNotFoundError
    return None


def _hints(extras: dict[str, Any]) -> tuple[str | None, str | None]:
    entrypoints = extras.get("available_entrypoints")
    if (
        extras.get("error_code") == "AMBIGUOUS_ENTRYPOINT"
        and isinstance(entrypoints, list)
        and entrypoints
    ):
        listed = ", ".join(map(str, entrypoints))
        return (
            f"Pass entrypoint={entrypoints[0]!r}; there are: {listed}.",
            f"Add --entrypoint {entrypoints[0]}; there are: {listed}.",
        )
    return None, None
