"""NDJSON: the same events however the bytes are cut, and the rule for a stream's result."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_sdk.errors import ArenaTrainingError, ArenaValidationError
from arena_sdk.events import CheckEvent, LogEvent, StatusEvent, StreamReading, WarningEvent

LINES = [
    {"kind": "status", "stage": "upload", "status": "running", "message": "größer ✓ 🚀"},
    {"kind": "warning", "stage": "x", "status": "running", "message": "take care"},
    {"kind": "check", "detail": {"check": "Step", "result": {"success": False, "error": "é"}}},
    {"kind": "check", "detail": {"check": "Reset", "result": {"success": False, "error msg": "b"}}},
    {"kind": "status", "status": "completed", "message": "done", "detail": {"validated": False}},
]
TEXT = "not json\n" + "\n".join(json.dumps(line, ensure_ascii=False) for line in LINES) + "\n"


def read(chunks: list[bytes]) -> tuple[list[object], dict[str, object]]:
    reading = StreamReading(ArenaValidationError)
    events: list[object] = []
    for chunk in chunks:
        events += reading.feed(chunk)
    events += reading.finish()
    return events, reading.result()


def test_every_split_gives_the_same_events() -> None:
    raw = TEXT.encode()
    whole = read([raw])
    for offset in range(len(raw) + 1):
        assert read([raw[:offset], raw[offset:]]) == whole


def test_events_have_their_types() -> None:
    events, result = read([TEXT.encode()])
    kinds = [LogEvent, StatusEvent, WarningEvent, CheckEvent, CheckEvent, StatusEvent]
    assert [type(event) for event in events] == kinds
    assert [event.error for event in events if isinstance(event, CheckEvent)] == ["é", "b"]
    assert result == {"validated": False}


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))))
def test_only_a_line_feed_ends_a_line(lines: list[str]) -> None:
    reading = StreamReading(ArenaValidationError)
    events = [*reading.feed("\n".join(lines).encode()), *reading.finish()]
    assert len(events) == sum(1 for line in lines if line.strip("\r "))


def test_a_stream_that_breaks_off_says_what_was_last_heard() -> None:
    with pytest.raises(ArenaValidationError, match="Installed rich"):
        read([b'{"kind":"status","status":"running","message":"Installed rich"}\n'])


def test_one_object_is_a_result() -> None:
    assert read([b'{"accepted": true}'])[1] == {"accepted": True}
    assert read([b'{"ok": true, "data": {"accepted": true}}'])[1] == {"accepted": True}


def test_a_failed_status_is_an_error_of_the_endpoint_even_after_checks() -> None:
    reading = StreamReading(ArenaTrainingError)
    list(
        reading.feed(
            b'{"kind":"check","detail":{"check":"a","result":{"success":true}}}\n'
            b'{"kind":"status","status":"failed","message":"no room",'
            b'"detail":{"error_code":"FULL"}}\n'
        )
    )
    with pytest.raises(ArenaTrainingError, match="no room") as caught:
        reading.result()
    assert caught.value.error_code == "FULL"


def test_memory_does_not_grow_with_the_stream() -> None:
    def peak(chunks: int) -> int:
        line = json.dumps({"kind": "status", "status": "running", "message": "x" * 500}) + "\n"
        reading = StreamReading(ArenaValidationError)
        tracemalloc.start()
        for _ in range(chunks):
            for _event in reading.feed(line.encode() * 20):
                pass
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(10)
    assert peak(500) < 2 * peak(10)
