"""Events of the work that a service does while it answers, and the NDJSON that carries them."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from arena_sdk.errors import (
    ArenaAPIError,
    ArenaError,
    ArenaTimeoutError,
    classified,
    parse_body,
    timed_out,
)
from arena_sdk.text import safe_text

LINE_LIMIT = 4 << 20
"""Characters of a line; what goes beyond them is dropped, so no service can fill the memory."""


@dataclass(frozen=True)
class StreamEvent:
    """One line of a stream.

    Attributes:
        message: What it says.
        kind: `status`, `warning`, `check` or `log`.
        stage: Part of the work: `upload`, `requirements`, `validation`, …
        status: `running`, `completed` or `failed`.
        level: `info`, `secondary-info`, …
        detail: Further facts.
    """

    message: str = ""
    kind: str = "log"
    stage: str = ""
    status: str = ""
    level: str = "info"
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StatusEvent(StreamEvent):
    """The work began, goes on, or ended."""


@dataclass(frozen=True)
class WarningEvent(StreamEvent):
    """Something that the user should know."""


@dataclass(frozen=True)
class LogEvent(StreamEvent):
    """A line that is no event of the contract."""


@dataclass(frozen=True)
class CheckEvent(StreamEvent):
    """A check of a validation and its result."""

    check: str = ""
    success: bool = False
    warnings: tuple[str, ...] = ()
    error: str | None = None


_CLASSES: dict[str, type[StreamEvent]] = {"status": StatusEvent, "warning": WarningEvent}


def parse_line(line: str) -> StreamEvent:
    """Return the event that one line holds; a line that is none is a log line."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return LogEvent(line)
    if not isinstance(document, dict):
        return LogEvent(line)
    detail = document.get("detail")
    common: dict[str, Any] = {
        "message": str(document.get("message") or (detail if isinstance(detail, str) else "")),
        "kind": document.get("kind"),
        "stage": str(document.get("stage") or ""),
        "status": str(document.get("status") or ""),
        "level": str(document.get("level") or "info"),
        "detail": detail if isinstance(detail, dict) else {},
    }
    if common["kind"] == "check":
        return _check(common)
    made = _CLASSES.get(str(common["kind"]))
    return LogEvent(line) if made is None else made(**common)


def _check(common: dict[str, Any]) -> CheckEvent:
    detail = common["detail"]
    result = detail.get("result")
    result = result if isinstance(result, dict) else {}
    error = result.get("error") or result.get("error msg")
    warnings = result.get("warnings") or []
    return CheckEvent(
        **common,
        check=str(detail.get("check") or common["message"]),
        success=bool(result.get("success")),
        warnings=tuple(map(str, warnings if isinstance(warnings, list) else [warnings])),
        error=None if error is None else str(error),
    )


def print_event(event: StreamEvent) -> None:
    """Write an event's message to standard error, harmless to the terminal."""
    print(safe_text(event.message), file=sys.stderr)


class LineDecoder:
    """Splits bytes into lines, whatever the chunks; only a line feed ends a line."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._parts: list[str] = []
        self._length = 0

    def feed(self, chunk: bytes) -> Iterator[str]:
        """Yield the lines that a chunk completes, without those that are blank."""
        text = self._decoder.decode(chunk)
        *complete, rest = text.split("\n")
        for part in complete:
            if self._parts or len(part) > LINE_LIMIT:
                self._keep(part)
                yield from self._line()
            elif line := part.strip("\r "):  # the line came whole, as nearly all do
                yield line
        self._keep(rest)

    def finish(self) -> Iterator[str]:
        """Yield what stands after the last line feed."""
        self._keep(self._decoder.decode(b"", final=True))
        yield from self._line()

    def _keep(self, part: str) -> None:
        room = LINE_LIMIT - self._length
        if part and room > 0:
            self._parts.append(part[:room])
            self._length += len(self._parts[-1])

    def _line(self) -> Iterator[str]:
        line = "".join(self._parts).strip("\r ")
        self._parts.clear()
        self._length = 0
        if line:
            yield line


def _tells_of_an_error(line: str) -> bool:
    if not (line.startswith("{") and '"error"' in line):
        return False
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and "kind" not in document and bool(document.get("error"))


class StreamReading:
    """What a stream amounts to: its events as they come, its result in the end.

    Memory does not grow with the stream: only the last event, the result and the first line are
    kept.

    Args:
        kind: The error class of the endpoint.
    """

    def __init__(self, kind: type[ArenaAPIError]) -> None:
        self._kind = kind
        self._decoder = LineDecoder()
        self._lines = 0
        self._only_line = ""
        self._last_heard = ""
        self._completed: StreamEvent | None = None
        self._failed: StreamEvent | None = None
        self._error: str | None = None

    def feed(self, chunk: bytes) -> Iterator[StreamEvent]:
        """Yield the events that a chunk completes."""
        for line in self._decoder.feed(chunk):
            yield self._take(line)

    def finish(self) -> Iterator[StreamEvent]:
        """Yield what the end of the stream completes."""
        for line in self._decoder.finish():
            yield self._take(line)

    def result(self) -> dict[str, Any]:
        """Return the `detail` of the last `completed` status, once the stream has ended.

        A stream that has none but consists of one JSON object is that object.

        Raises:
            ArenaError: The work failed, or the stream broke off before it said how it ended.
        """
        if self._failed is not None:
            raise self._failure(self._failed)
        if self._completed is not None:
            return self._completed.detail
        if self._error is not None:
            message, extras = parse_body(self._error)
            raise classified(self._kind, message or "The work failed.", 200, extras)
        whole = self._whole_object()
        if whole is not None:
            return whole
        raise self.broken_off()

    def broken_off(self, cause: ArenaAPIError | None = None) -> ArenaAPIError:
        """Return the error for a stream that ended before it said how the work ended.

        Args:
            cause: What broke the connection, if that is what happened.
        """
        said = cause.detail if cause else "The answer broke off before the work was done."
        heard = f" The last that was heard: {self._last_heard}" if self._last_heard else ""
        if not heard and cause is not None:
            return cause
        kind = timed_out(self._kind) if isinstance(cause, ArenaTimeoutError) else self._kind
        return kind(
            said + heard,
            status_code=0,
            hint_python="The work may go on at the service; look before you start it again.",
        )

    def _take(self, line: str) -> StreamEvent:
        self._lines += 1
        self._only_line = line if self._lines == 1 else ""
        event = parse_line(line)
        self._last_heard = (event.message or line)[:300]
        if isinstance(event, StatusEvent):
            if event.status == "completed":
                self._completed = event
            elif event.status == "failed":
                self._failed = event
        elif isinstance(event, LogEvent) and _tells_of_an_error(line):
            self._error = line
        return event

    def _whole_object(self) -> dict[str, Any] | None:
        try:
            value = json.loads(self._only_line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict) or "kind" in value:
            return None
        if set(value) == {"ok", "data"} and isinstance(value["data"], dict):
            return dict(value["data"])
        return value

    def _failure(self, event: StreamEvent) -> ArenaError:
        message = event.message or str(event.detail.get("reason") or "The work failed.")
        return classified(self._kind, message, 200, dict(event.detail))
