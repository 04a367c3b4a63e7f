"""Error bodies in all the forms that services send, and the hints that follow from them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_sdk.errors import (
    ArenaAPIError,
    ArenaAuthError,
    ArenaEnvironmentNotFoundError,
    ArenaFileNotFoundError,
    ArenaInferenceError,
    ArenaTimeoutError,
    ArenaTrainingError,
    ArenaValidationError,
    from_response,
    parse_body,
    timed_out,
)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"description": "a", "message": "b"}', "a"),
        ('{"message": "b", "error": "c"}', "b"),
        ('{"detail": "c"}', "c"),
        ('{"error": "d"}', "d"),
        ('{"message": "two\nlines"}', "two\nlines"),
        (json.dumps(json.dumps({"message": "nested"})), "nested"),
        ('{"message": "{\\"error\\": \\"inside\\"}"}', "inside"),
        ('{"kind":"status"}\n{"error": "at the end"}', "at the end"),
        ("plain words", "plain words"),
        ("<html><style>x{}</style><body><h1>502</h1> Bad Gateway</body></html>", "502 Bad Gateway"),
        ("", ""),
    ],
)
def test_the_message_is_found(body: str, message: str) -> None:
    assert parse_body(body)[0] == message


@given(st.binary(max_size=300))
def test_no_body_is_too_strange(body: bytes) -> None:
    message, extras = parse_body(body)
    assert isinstance(message, str)
    assert isinstance(extras, dict)


def test_the_error_keeps_what_else_the_body_said() -> None:
    error = from_response(ArenaAPIError, 409, b'{"message": "taken", "error_code": "X", "id": 3}')
    assert (error.detail, error.status_code, error.error_code) == ("taken", 409, "X")
    assert error.extras["id"] == 3


def test_an_ambiguous_entrypoint_names_flag_and_value() -> None:
    body = {
        "message": "several",
        "error_code": "AMBIGUOUS_ENTRYPOINT",
        "available_entrypoints": ["a:A", "b:B"],
    }
    error = from_response(ArenaValidationError, 422, json.dumps(body))
    assert error.hint_cli is not None
    assert "--entrypoint a:A" in error.hint_cli
    assert error.hint_python is not None
    assert "entrypoint='a:A'" in error.hint_python


def test_classes_follow_status_and_message() -> None:
    assert isinstance(from_response(ArenaTrainingError, 401, b"no"), ArenaAuthError)
    found = from_response(
        ArenaTrainingError, 404, b'{"message": "Environment \'x\' was not found"}'
    )
    assert isinstance(found, ArenaEnvironmentNotFoundError)
    assert isinstance(ArenaFileNotFoundError("gone"), FileNotFoundError)
    assert str(ArenaFileNotFoundError("gone")) == "gone"


@pytest.mark.parametrize(
    "kind", [ArenaAPIError, ArenaValidationError, ArenaTrainingError, ArenaInferenceError]
)
def test_a_time_out_is_of_its_own_class_and_of_that_of_the_endpoint(
    kind: type[ArenaAPIError],
) -> None:
    made = timed_out(kind)("late", status_code=0)
    assert isinstance(made, ArenaTimeoutError)
    assert isinstance(made, kind)
    assert not isinstance(made, ArenaAuthError)
    others = {ArenaValidationError, ArenaTrainingError, ArenaInferenceError} - {kind}
    assert not isinstance(made, tuple(others))


def test_an_environment_that_is_named_and_not_there_has_a_class_of_its_own() -> None:
    body = b'{"message": "No environment is named x.", "error_code": "ENVIRONMENT_NOT_FOUND"}'
    found = from_response(ArenaValidationError, 404, body)
    assert isinstance(found, ArenaEnvironmentNotFoundError)
    assert isinstance(found, ArenaValidationError)
    assert found.status_code == 404
