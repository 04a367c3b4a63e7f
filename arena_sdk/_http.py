"""What both flavours of the client know of HTTP: queries, retries, redirects, problems."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx

from arena_sdk._network import is_stale_connection, was_never_sent
from arena_sdk._network import network_problem as network_problem
from arena_sdk._network import user_agent as user_agent
from arena_sdk._pause import backoff
from arena_sdk.errors import NOT_OFFERED, ArenaAPIError

TRIES = 4
"""How often an idempotent request is sent at most."""
LONGEST_WAIT = 30.0
"""Seconds that a `Retry-After` may ask for; a service that asks for more is an error at once."""
REDIRECTS = 5
NOT_RETRIED = frozenset({501, 505, 507})
"""Statuses above 499 that asking again does not mend: not made, or the disk is full."""

T = TypeVar("T")
Query = Sequence[tuple[str, str]]


def query(**values: Any) -> list[tuple[str, str]]:
    """Return query parameters as the contract wants them.

    What is None is sent empty, booleans as `true` and `false`.
    """
    return [(key, _query_text(value)) for key, value in values.items()]


def given(**values: Any) -> list[tuple[str, str]]:
    """Return query parameters without those that are None."""
    return query(**{key: value for key, value in values.items() if value is not None})


def _query_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def json_value(kind: type[ArenaAPIError], content: bytes, content_type: str, path: str) -> Any:
    """Return the JSON value of a successful answer, unwrapped; text where it is plain text.

    Raises:
        ArenaAPIError: Of the class `kind`; the answer is neither.
    """
    if not content:
        return None
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        if content_type.startswith("text/plain"):
            return content.decode("utf-8", errors="replace")
        raise unexpected(kind, path, "JSON", content[:80].decode("utf-8", "replace")) from None
    if isinstance(value, dict) and value.get("ok") is True and "data" in value:
        return value["data"]
    return value


def unexpected(kind: type[ArenaAPIError], path: str, wanted: str, found: Any) -> ArenaAPIError:
    """Return the error for a successful answer that is of no use."""
    return kind(
        f"The answer to {path} is not {wanted} but begins with {json.dumps(found)[:60]}.",
        status_code=200,
        hint_python="Check that the base URL is that of an Arena.",
    )


def list_of(kind: type[T], what: str, error: type[ArenaAPIError], path: str, value: Any) -> list[T]:
    """Return an answer that is a list of things of one kind.

    Raises:
        ArenaAPIError: Of the class `error`; it is none.
    """
    if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
        raise unexpected(error, path, f"a list of {what}", value)
    return value


def mapping_of_objects(
    error: type[ArenaAPIError], path: str, value: Any
) -> dict[str, dict[str, Any]]:
    """Return an answer that is an object of objects.

    Raises:
        ArenaAPIError: Of the class `error`; it is none.
    """
    if not isinstance(value, dict) or not all(isinstance(each, dict) for each in value.values()):
        raise unexpected(error, path, "an object of objects", value)
    return value


def not_offered(kind: type[ArenaAPIError], base_url: str, what: str) -> ArenaAPIError:
    """Return the error for what a service does not have, and the Arena on this machine has.

    Its status is what such a service answers; its `error_code` tells it from a name that is wrong.
    """
    return kind(
        f"{base_url} does not offer {what}.",
        status_code=404,
        extras={"error_code": NOT_OFFERED},
        hint_python="The Arena on this machine does: ArenaClient(profile='local').",
        hint_cli="The Arena on this machine does: `arena --local …`.",
    )


class AgentRequests:
    """Makes the requests to an agent, which must cost little: a policy asks at every step.

    Building a request anew from URL, headers and time-outs takes httpx longer than sending it, so
    what all of them share is made once.

    Args:
        headers: What each request carries to say who asks.
        timeout: Seconds that a request may take.
    """

    def __init__(self, headers: Mapping[str, str], timeout: float) -> None:
        self.carry(headers)
        self._extensions = {"timeout": httpx.Timeout(timeout).as_dict()}
        self._urls: dict[str, httpx.URL] = {}

    def carry(self, headers: Mapping[str, str]) -> None:
        """Set what each request carries from now on."""
        # `send` adds none of a client's own headers to a request that is made without it.
        self.headers = httpx.Headers(
            {
                "Accept": "*/*",
                "Accept-Encoding": "gzip, deflate",
                "Connection": "keep-alive",
                "User-Agent": user_agent(),
                **headers,
            }
        )
        self._with_body = httpx.Headers({**self.headers, "Content-Type": "application/json"})

    def make(self, method: str, url: str, body: Any) -> httpx.Request:
        """Return a request with a JSON body; with none when `body` is None."""
        known = self._urls.get(url)
        if known is None:
            if len(self._urls) > 100:  # each session has an address of its own
                self._urls.clear()
            known = self._urls[url] = httpx.URL(url)
        if body is None:
            return httpx.Request(method, known, headers=self.headers, extensions=self._extensions)
        content = json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
        return httpx.Request(
            method, known, headers=self._with_body, content=content, extensions=self._extensions
        )


def rewind(files: Any) -> None:
    """Let the files of a form be read from their beginning, so that they can be sent again."""
    parts = files.values() if isinstance(files, Mapping) else (part for _, part in files or ())
    for part in parts:
        content = part[1] if isinstance(part, tuple) else part
        if hasattr(content, "seek"):
            content.seek(0)


def may_be_sent_again(method: str, error: httpx.RequestError) -> bool:
    """Tell whether a request that failed may be tried again without doing something twice.

    A time-out says that the service is slow; asking again would make it slower.
    """
    if was_never_sent(error):
        return True
    return method == "GET" and not isinstance(error, httpx.ReadTimeout | httpx.DecodingError)


def wait_after(error: httpx.RequestError, attempt: int) -> float:
    """Return the seconds to wait after a failed attempt.

    A connection that the service closed while it idled says nothing of the service, so the first
    attempt after that is made at once.
    """
    return 0.0 if attempt == 1 and is_stale_connection(error) else backoff(attempt)


def asked_wait(answer: httpx.Response, attempt: int) -> float | None:
    """Return the seconds to wait before trying again, or None when that is of no use."""
    status = answer.status_code
    if status != 429 and (status < 500 or status in NOT_RETRIED):
        return None
    asked = _retry_after(answer.headers.get("retry-after", ""))
    if asked is None:
        return backoff(attempt)
    return asked if asked <= LONGEST_WAIT else None


def _retry_after(text: str) -> float | None:
    """Return the seconds that `Retry-After` asks for, as a number or as a date."""
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def redirect_target(
    kind: type[ArenaAPIError], answer: httpx.Response, method: str
) -> httpx.URL | None:
    """Return where a redirect leads, or None for an answer that is none.

    Raises:
        ArenaAPIError: It leads to another host, where the credential must not go, or it would
            send a body again.
    """
    location = answer.headers.get("location")
    if answer.status_code not in (301, 302, 303, 307, 308) or not location:
        return None
    here = answer.request.url
    try:
        target = here.join(location)
    except httpx.InvalidURL:
        target = None
    if target is None or (target.scheme, target.netloc) != (here.scheme, here.netloc):
        where = "nowhere" if target is None else f"{target.scheme}://{target.netloc.decode()}"
        raise kind(
            f"{here.scheme}://{here.netloc.decode()} redirects to {where}; the credential is not"
            " sent there.",
            status_code=answer.status_code,
            hint_python="If that is the service, pass its address as base_url=….",
            hint_cli="If that is the service, give its address with --base-url.",
        )
    if method != "GET":
        raise kind(
            f"{here.path} has moved to {target.path}; a {method} is not sent again blindly.",
            status_code=answer.status_code,
        )
    return target
