"""A network that is not there, or goes away in the middle of the work: exit 5, and what was had."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli import test_formats
from tests.cli.cli_running import Run
from tests.sdk.sdk_calls import make_files
from tests.sdk.sdk_faults import CLOSE, HANG, Act, FaultyService, answer, chunked, faulty

CHECK = {"kind": "check", "detail": {"check": "Reset seed", "result": {"success": True}}}
DEPLOYMENT = {"name": "d", "url": "", "status": "running"}
OF_THIS_MACHINE = ("config", "models supported", "projects get-default", "doctor")
LINES = [
    line
    for line in test_formats.COMMANDS
    if not line.startswith(OF_THIS_MACHINE) and "--dry-run" not in line
]
LINES += ["projects delete p --yes", "projects set-default p", "env delete c --yes"]
LINES += ["experiments delete e --yes", "experiments wait e", "experiments watch e"]
LINES += ["experiments logs e -f", "agent play d", "agent generate d --prompt x"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of files, a key, and no pauses between tries."""
    monkeypatch.setenv("ARENA_API_KEY", "arena_pat_test")
    monkeypatch.setattr("random.uniform", lambda low, high: 0.0)
    make_files(tmp_path)
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def nowhere() -> Iterator[str]:
    """An address where nothing listens, and nothing else can begin to."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.mark.parametrize("line", LINES)
def test_no_network_is_exit_code_5_and_one_sentence(run: Run, nowhere: str, line: str) -> None:
    done = run("--base-url", nowhere, *line.split(" "))
    assert done.code == 5, done
    assert done.out == ""
    said = done.err.splitlines()
    assert said[-2].startswith(f"error: {nowhere} cannot be reached: "), done
    assert "arena doctor" in said[-1]


def test_no_identity_server_is_exit_code_5(run: Run, nowhere: str) -> None:
    done = run("--keycloak-url", nowhere, "login", "--force", "--no-browser")
    assert done.code == 5
    assert f"{nowhere} cannot be reached" in done.err


def on(service: FaultyService, run: Run, *words: str) -> tuple[int, str, str]:
    done = run("--base-url", service.url, *words)
    return done.code, done.out, done.err


@pytest.mark.parametrize("more", [[], ["--source", "corridor"]])
def test_a_validation_that_breaks_off_says_how_far_it_came(run: Run, more: list[str]) -> None:
    head, body, _ = chunked(json.dumps(CHECK).encode() + b"\n")
    with faulty([head + body, CLOSE]) as service:
        code, out, err = on(service, run, "env", "validate", "e", *more)
        assert (code, out) == (5, "")
        assert "ok   Reset seed" in err
        assert "The last that was heard: " in err
        assert "hint: The work may go on at the service" in err
        assert len(service.asked) == 1


def test_a_submission_that_breaks_off_is_not_sent_again(run: Run) -> None:
    head, body, _ = chunked(b'{"kind":"status","status":"running","message":"Queueing"}\n')
    with faulty([head + body, CLOSE]) as service:
        code, out, err = on(service, run, "experiments", "submit", "dqn.yaml", "--project", "p")
        assert (code, out) == (5, "")
        assert "Queueing" in err
        assert [asked.method for asked in service.asked] == ["POST"]


def test_metrics_that_break_off_leave_no_file(run: Run, folder: Path) -> None:
    before = sorted(folder.iterdir())
    with faulty([answer(200, b"a,b\n1,", length=99, kind="text/csv"), CLOSE]) as service:
        code, out, err = on(service, run, "experiments", "metrics", "e")
        assert (code, out) == (5, "")
        assert "cannot be reached" in err
    assert sorted(folder.iterdir()) == before


def test_a_log_that_is_followed_ends_with_its_service(run: Run) -> None:
    page = {"lines": ["one", "two"], "next": 2, "ended": False}
    with faulty([answer(200, json.dumps(page).encode())], [CLOSE]) as service:
        code, out, err = on(service, run, "experiments", "logs", "e", "-f")
        assert (code, out) == (5, "one\ntwo\n")
        assert "cannot be reached" in err


def test_text_that_breaks_off_is_kept(run: Run) -> None:
    status = {"success": True, "agent": {"algo": "GRPO", "llm": True}}
    head, body, _ = chunked(b"Once upon a ti", kind="text/plain")
    known = answer(200, json.dumps(status).encode())
    scripts: list[list[Act]] = [[], [known], [head + body, CLOSE]]
    with faulty(*scripts) as service:
        row = json.dumps({**DEPLOYMENT, "url": service.url}).encode()
        scripts[0].append(answer(200, row))
        code, out, err = on(service, run, "agent", "generate", "d", "--prompt", "x")
        assert code == 5, err
        assert out.startswith("Once upon a ti")
        assert "cannot be reached" in err


def test_ctrl_c_in_an_upload_leaves_nothing(folder: Path) -> None:
    temporary = folder / "temporary"
    temporary.mkdir()
    (folder / "corridor" / "noise.bin").write_bytes(os.urandom(5_000_000))
    with faulty([HANG], body_limit=100_000) as service:
        process = subprocess.Popen(
            [sys.executable, "-m", "arena_sdk.cli", "--base-url", service.url, "env", "validate",
             "e", "--source", "corridor"],
            env={**os.environ, "TMPDIR": str(temporary)},
            stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        deadline = time.monotonic() + 30
        while not service.asked:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert said.strip() == "interrupted"
    assert list(temporary.iterdir()) == []
