# Made by `python -m arena_sdk._unasync` from arena_sdk/_async/transport.py; change that one.
"""One HTTP stack: requests, bounded retries, answers and errors of the contract.

What may have reached the service is sent again only when it is a GET: a submission that got no
answer may have been accepted. A request that could not be sent at all, since no connection was to
be had, is tried again whatever it is; and one that was refused with a 401 is sent once more with
another credential, its body from the beginning. Redirects are followed on the same host only, since
a redirect must not carry a credential elsewhere.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from arena_sdk._http import (
    REDIRECTS,
    TRIES,
    Query,
    asked_wait,
    json_value,
    list_of,
    may_be_sent_again,
    redirect_target,
    rewind,
    unexpected,
    wait_after,
)
from arena_sdk._logs import harmless, logger
from arena_sdk._network import client_options, is_loopback, network_problem, was_never_sent
from arena_sdk._pause import blocking_sleep
from arena_sdk._progress import Progress
from arena_sdk._sync.keeper import Keeper
from arena_sdk.config import seconds
from arena_sdk.credentials import Credential
from arena_sdk.errors import BODY_LIMIT, ArenaAPIError, ArenaError, from_response
from arena_sdk.events import StreamEvent, StreamReading

EventHandler = Callable[[StreamEvent], None]

OPEN_PATHS = frozenset({"/health"})
"""What is asked without a credential."""


class Transport:
    """Talks with one service.

    Args:
        base_url: Without a slash at its end.
        keeper: Keeps what requests carry.
        request_timeout: Seconds that a request may take.
        upload_timeout: Seconds that an upload may take.

    Raises:
        ArenaConfigError: A variable for proxies or certificates cannot be used.
    """

    def __init__(
        self,
        base_url: str,
        keeper: Keeper,
        *,
        request_timeout: float = 30.0,
        upload_timeout: float = 300.0,
    ) -> None:
        self.base_url = base_url
        self.keeper = keeper
        self.request_timeout = request_timeout
        self.upload_timeout = upload_timeout
        self._client = httpx.Client(**client_options(base_url, request_timeout))

    def with_timeouts(self, request: float | None, upload: float | None) -> Transport:
        """Return a transport on the same connections with other time-outs.

        Raises:
            ArenaConfigError: One is no number of seconds above 0.
        """
        made = copy.copy(self)
        if request is not None:
            made.request_timeout = seconds("request_timeout", request, "argument")
        if upload is not None:
            made.upload_timeout = seconds("upload_timeout", upload, "argument")
        return made

    def move(self, base_url: str, keeper: Keeper) -> None:
        """Talk with the service at another address of this machine from now on."""
        self.base_url = base_url
        self.keeper = keeper

    @property
    def is_loopback(self) -> bool:
        """Whether the service is on this machine, which no proxy can reach."""
        return is_loopback(self.base_url)

    @property
    def credential(self) -> Credential | None:
        """What requests carry now."""
        return self.keeper.credential

    def headers(self) -> dict[str, str]:
        """Return the headers of authentication as they are now.

        Raises:
            ArenaAuthError: There is no credential.
        """
        return self.keeper.current().headers()

    def fresh_headers(self) -> dict[str, str]:
        """Return the headers of authentication, of a login that is renewed when it is due.

        Raises:
            ArenaAuthError: There is no credential, or it has ended.
        """
        return (self.keeper.ready()).headers()

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def json(
        self,
        method: str,
        path: str,
        *,
        kind: type[ArenaAPIError] = ArenaAPIError,
        params: Query = (),
        body: Any = None,
        files: Any = None,
        timeout: float | None = None,
    ) -> Any:
        """Send a request and return its JSON answer, unwrapped.

        Raises:
            ArenaError: Of the class `kind`, or the one that the answer calls for.
        """
        answer = self.request(
            method, path, kind=kind, params=params, body=body, files=files, timeout=timeout
        )
        return json_value(kind, answer.content, answer.headers.get("content-type", ""), path)

    def document(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """Send a request as `json` does; the answer is an object, or nothing after a change."""
        value = self.json(method, path, **options)
        if value is None and method != "GET":
            return {}
        if not isinstance(value, dict):
            raise unexpected(options.get("kind", ArenaAPIError), path, "an object", value)
        return value

    def rows(self, method: str, path: str, **options: Any) -> list[dict[str, Any]]:
        """Send a request as `json` does; the answer must be a list of objects."""
        value = self.json(method, path, **options)
        return list_of(dict, "objects", options.get("kind", ArenaAPIError), path, value)

    def texts(self, method: str, path: str, **options: Any) -> list[str]:
        """Send a request as `json` does; the answer must be a list of texts."""
        value = self.json(method, path, **options)
        return list_of(str, "texts", options.get("kind", ArenaAPIError), path, value)

    def request(
        self,
        method: str,
        path: str,
        *,
        kind: type[ArenaAPIError] = ArenaAPIError,
        params: Query = (),
        body: Any = None,
        files: Any = None,
        timeout: float | None = None,
        on_progress: Progress | None = None,
    ) -> httpx.Response:
        """Send a request; idempotent ones again when the network or the service falters.

        Args:
            method: Of HTTP.
            path: Below the base URL.
            kind: Class of the error for an answer that is none of success.
            params: Query parameters.
            body: JSON to send.
            files: Parts of a form to send.
            timeout: Seconds that it may take; the client's own when None.
            on_progress: Called with the bytes of the answer as they come.

        Returns:
            A successful answer, read.
        """
        options: dict[str, Any] = {"params": params, "timeout": timeout or self.request_timeout}
        if body is not None:
            options["json"] = body
        if files is not None:
            options["files"] = files
        for attempt in range(1, TRIES + 1):
            last = attempt == TRIES
            try:
                with self._open(kind, method, path, options) as answer:
                    if answer.is_success:
                        return _whole(answer, on_progress)
                    wait = None if last or method != "GET" else asked_wait(answer, attempt)
                    if wait is None:
                        raise self._refusal(kind, answer, path)
                    why = f"HTTP {answer.status_code}"
            except httpx.RequestError as error:
                if last or not may_be_sent_again(method, error):
                    raise network_problem(kind, self.base_url, error) from None
                wait, why = wait_after(error, attempt), str(error) or type(error).__name__
            self._log_retry(method, path, attempt, why, wait)
            blocking_sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def stream(
        self,
        path: str,
        *,
        kind: type[ArenaAPIError],
        on_event: EventHandler | None = None,
        body: Any = None,
        data: Mapping[str, str] | None = None,
        files: Any = None,
    ) -> dict[str, Any]:
        """Post, hand over the events of the NDJSON answer as they come, return its result.

        It is sent once: what a service has begun must not be begun again blindly.
        """
        limits = httpx.Timeout(self.request_timeout, read=None)
        options: dict[str, Any] = {"timeout": limits}
        if files is not None:
            limits = httpx.Timeout(self.upload_timeout, read=None)
            options = {"timeout": limits, "data": data, "files": files}
        else:
            options["json"] = body
        reading = StreamReading(kind)
        for attempt in range(1, TRIES + 1):
            try:
                with self._open(kind, "POST", path, options) as answer:
                    if not answer.is_success:
                        raise self._refusal(kind, answer, path)
                    for chunk in answer.iter_bytes():
                        for event in reading.feed(chunk):
                            if on_event is not None:
                                on_event(event)
                break
            except httpx.RequestError as error:
                if attempt == TRIES or not was_never_sent(error):
                    problem = network_problem(kind, self.base_url, error)
                    raise reading.broken_off(problem) from None
                wait, why = wait_after(error, attempt), str(error) or type(error).__name__
            self._log_retry("POST", path, attempt, why, wait)
            blocking_sleep(wait)
        for event in reading.finish():
            if on_event is not None:
                on_event(event)
        return reading.result()

    @contextmanager
    def _open(
        self, kind: type[ArenaAPIError], method: str, path: str, options: dict[str, Any]
    ) -> Iterator[httpx.Response]:
        """Send a request and give its answer, unread.

        Redirects that may be followed are followed. An answer of 401 is not given as long as the
        keeper finds another credential: a key gives way to a login once, and a login is renewed
        once.
        """
        if self._client.is_closed:
            raise kind("This client is closed; make another one.")
        url = httpx.URL(self.base_url + path)
        try:
            url.copy_merge_params(options.get("params") or {})
        except httpx.InvalidURL as error:
            # A name of a megabyte, say: the service is not even asked.
            raise kind(f"{path} cannot be asked for: {error}.", status_code=414) from None
        redirects = 0
        given_up: set[str] = set()  # kinds of credentials that were refused
        while redirects <= REDIRECTS:
            credential = None if path in OPEN_PATHS else self.keeper.ready()
            rewind(options.get("files"))
            with self._answer(method, url, credential, options) as answer:
                target = redirect_target(kind, answer, method)
                if target is None:
                    refused = credential if answer.status_code == 401 else None
                    first = refused is not None and refused.kind not in given_up
                    if refused and first and self.keeper.recover(refused):
                        given_up.add(refused.kind)
                        _beginning(answer)  # read, so that the connection is used again
                        continue
                    yield answer
                    return
            redirects += 1
            url = target
            options = {key: value for key, value in options.items() if key != "params"}
        raise kind(f"{self.base_url}{path} leads round in circles.", status_code=310)

    @contextmanager
    def _answer(
        self, method: str, url: httpx.URL, credential: Credential | None, options: dict[str, Any]
    ) -> Iterator[httpx.Response]:
        """Send a request once; say so to those who want to know."""
        headers = credential.headers() if credential else {}
        start = time.monotonic()
        logger.debug("%s %s %s", method, url, harmless(headers))
        with self._client.stream(method, url, headers=headers, **options) as answer:
            took = time.monotonic() - start
            logger.info("%s %s: %d (%.2f s)", method, url, answer.status_code, took)
            logger.debug("answered %s", harmless(answer.headers))
            yield answer

    def _log_retry(self, method: str, path: str, attempt: int, why: str, wait: float) -> None:
        logger.info(
            "%s %s: attempt %d of %d failed (%s), again in %.1f s",
            method, path, attempt, TRIES, why, wait,
        )  # fmt: skip

    def _refusal(self, kind: type[ArenaAPIError], answer: httpx.Response, path: str) -> ArenaError:
        """Return the error for an answer that is not a success."""
        error = from_response(kind, answer.status_code, _beginning(answer), url=path)
        if answer.status_code == 401:
            self.keeper.explain(error)
        return error


def _beginning(answer: httpx.Response) -> bytes:
    """Return the beginning of an error's body, however long it is."""
    parts: list[bytes] = []
    size = 0
    for chunk in answer.iter_bytes():
        parts.append(chunk)
        size += len(chunk)
        if size >= BODY_LIMIT:
            break
    return b"".join(parts)[:BODY_LIMIT]


def _whole(answer: httpx.Response, on_progress: Progress | None) -> httpx.Response:
    """Return an answer that is read to its end."""
    if on_progress is None:
        answer.read()
        return answer
    length = answer.headers.get("content-length", "")
    packed = "content-encoding" in answer.headers  # its length is not that of what it holds
    total = int(length) if length.isdigit() and not packed else None
    parts: list[bytes] = []
    done = 0
    for part in answer.iter_bytes():
        parts.append(part)
        done += len(part)
        on_progress(done, total)
    kept = {
        name: answer.headers[name]
        for name in ("content-type", "content-disposition")
        if name in answer.headers
    }
    return httpx.Response(
        answer.status_code, headers=kept, content=b"".join(parts), request=answer.request
    )
