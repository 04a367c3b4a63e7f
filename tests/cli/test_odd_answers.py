"""Whatever a service answers, a command ends in a sentence and a documented exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse, Response

from arena_sdk.cli import exits
from tests.cli import test_formats
from tests.cli.cli_running import Run
from tests.sdk.sdk_calls import make_files
from tests.sdk.sdk_service import Service

CODES = {
    exits.OK, exits.REFUSED, exits.USAGE, exits.UNAUTHENTICATED, exits.NOT_FOUND, exits.NETWORK,
}  # fmt: skip
HOSTILE = "\x1b[2J\x1b]52;c;aGk=\x07\u202ered\x9b1m"
ODD: list[Any] = [
    None,
    True,
    -1.5e308,
    "text",
    HOSTILE,
    [],
    [None],
    [1, "a", [], {}],
    [{}],
    [{"name": None, "steps": "many", "type": [], "url": 3, "status": {}, "state": 7}],
    [{"name": HOSTILE, HOSTILE: HOSTILE}],
    {},
    {"ok": True, "data": None},
    {"ok": False},
    {"tiers": []},
    {"tiers": {"a": None, "b": {"price_per_node_hour": "dear"}}},
    {"exists": "perhaps"},
    {"a": {"v1": None}, "b": None, "c": {"v1": {"validated": "perhaps"}}},
    {"features": 3},
    {HOSTILE: {HOSTILE: {"validated": True}}},
    {"kind": "status", "status": "completed", "detail": HOSTILE},
    {"kind": "status", "status": "completed", "detail": None},
    {"kind": "check", "status": [], "detail": 3},
    {"kind": "check", "detail": {"check": {}, "result": []}},
    {"kind": "status", "status": "failed", "message": {"a": HOSTILE}, "detail": [1]},
    {"error": None, "message": 3},
    {"success": True, "agent": {"algo": 3, "llm": "no", "recurrent": []}},
    {"action": "AAAA"},
    {"action": None, "url": "gopher://x", "name": "d"},
    {"url": "http://[::1", "name": "d"},
]
RAW: list[tuple[bytes, str]] = [
    (b"", "application/json"),
    (b"\xff\xfe\x00", "application/json"),
    (b"{" * 100_000, "application/json"),
    (b"[" * 100_000 + b"]" * 100_000, "application/json"),
    (b'{"a": 1e999, "b": NaN, "c": 123456789012345678901234567890}', "application/json"),
    (b"9" * 5000, "application/json"),
    (b'"' + b"x" * 100_000 + b'"', "application/json"),
    (b"<html>portal</html>", "text/html"),
    (b"\n\n\n", "application/x-ndjson"),
    (b'{"kind":"status"}\n{"kind":', "application/x-ndjson"),
    (b"a,b\n1\n", "text/csv"),
    (b"\xff\xfe,\x00\n", "text/csv"),
    (b"", "text/csv"),
]
LINES = [*test_formats.COMMANDS, "agent stop d", "projects delete p --yes", "env delete c --yes"]
LINES += ["datasets delete d --yes", "experiments delete e --yes", "experiments logs e"]
LINES += ["experiments compare e f", "projects set-default p", "open experiment e"]


@pytest.fixture
def folder(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the commands name."""
    make_files(tmp_path)
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answers_of_all_kinds() -> list[Response]:
    made: list[Response] = [JSONResponse(value, status) for value in ODD for status in (200, 400)]
    made += [Response(body, 200, media_type=kind) for body, kind in RAW]
    return [*made, Response(b"", 204), Response(b"x", 418), Response(b"", 304)]


def check_answers(
    run: Run, service: Service, folder: Path, line: str, answers: list[Response]
) -> None:
    for answer in answers:
        service.answer_all(lambda request, answer=answer: answer)
        (folder / "e_metrics.csv").unlink(missing_ok=True)
        done = run(*line.split(" "))
        told = (line, answer.status_code, answer.body[:80], done)
        assert done.code in CODES, told
        for text in (done.out, done.err):
            assert not set(text) & set("\x1b\x07\x9b\u202e"), told
        assert max(map(len, done.err.splitlines()), default=0) < 3000, told
        if done.code != exits.OK:
            assert done.err.strip(), told


@pytest.mark.parametrize("line", LINES)
def test_no_answer_is_too_odd(run: Run, service: Service, folder: Path, line: str) -> None:
    """Each command gets every eighth answer, and each answer goes to every eighth command."""
    check_answers(run, service, folder, line, answers_of_all_kinds()[LINES.index(line) % 8 :: 8])


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_no_answer_is_too_odd_for_any_command(
    run: Run, service: Service, folder: Path, line: str
) -> None:
    check_answers(run, service, folder, line, answers_of_all_kinds())


NO_TEXT = "a-\udcff-b"
"""What Python makes of a word of the command line that is no UTF-8."""


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "line",
    [
        "projects create p --description",
        "projects show",
        "projects delete --yes",
        "env list --name",
        "env show",
        "env delete --yes",
        "experiments list --project",
        "experiments stop",
        "experiments show",
        "experiments watch",
        "agent deploy",
        "agent run",
        "agent play",
        "agent act d [0] --project-name",
        "datasets exists",
        "models info",
        "config set realm",
    ],
)
def test_a_word_that_is_no_text_is_refused_and_named(run: Run, service: Service, line: str) -> None:
    service.on("GET", "/capabilities", {"features": {"play": {}, "experiment_details": {}}})
    service.on("GET", "/projects", [])
    service.on("GET", "/inference/deployments/one", {"name": "d", "url": service.url})
    done = run(*line.split(" "), NO_TEXT)
    assert done.code in (exits.USAGE, exits.NOT_FOUND), done
    assert "udcff-b'" in done.err
    assert "\udcff" not in done.err
