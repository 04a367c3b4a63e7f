"""What a terminal sees: tables that fit, bars, questions, and an end on Ctrl-C."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse

from tests.cli.llm_service import LanguageService
from tests.sdk.sdk_service import Service, ndjson

SECONDS = 30.0
ROWS = [
    {"name": "first-experiment-with-a-long-name", "state": "completed", "algorithm": "DQN"},
    {"name": "second", "state": "running", "algorithm": "PPO", "environment": "LunarLander-v3"},
]
DONE = {"kind": "status", "status": "completed", "detail": {"validated": True}}


@dataclass
class Terminal:
    """A program on a terminal of its own.

    Attributes:
        process: The program.
        master: The other end of its terminal.
        seen: Everything that it has shown.
    """

    process: subprocess.Popen[bytes]
    master: int
    seen: str = ""

    def read_until(self, words: str) -> str:
        """Read until the program has shown some words; return what it showed up to then."""
        deadline = time.monotonic() + SECONDS
        start = len(self.seen)
        while words not in self.seen[start:]:
            assert time.monotonic() < deadline, self.seen
            if not self._more(0.1) and self.process.poll() is not None:
                assert self._more(0.1), f"it ended without {words!r}: {self.seen}"
        return self.seen[start:]

    def type(self, text: str) -> None:
        """Type something."""
        os.write(self.master, text.encode())

    def interrupt(self) -> int:
        """Press Ctrl-C and return the exit code.

        Python loses the one that comes just as it begins to read a line; then it is pressed again.
        """
        deadline = time.monotonic() + SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.seen
            self.type("\x03")
            again = time.monotonic() + 1
            while self.process.poll() is None and time.monotonic() < again:
                self._more(0.05)
        return self.end()

    def end(self) -> int:
        """Wait for the end and return the exit code."""
        deadline = time.monotonic() + SECONDS
        while self._more(0.1) or self.process.poll() is None:
            assert time.monotonic() < deadline, self.seen
        return self.process.wait()

    def _more(self, seconds: float) -> bool:
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            piece = os.read(self.master, 65536)
        except OSError:  # so Linux says that the program's end is closed
            return False
        self.seen += piece.decode("utf-8", errors="replace")
        return bool(piece)


@contextmanager
def on_terminal(
    *words: str, columns: int = 120, lines: int = 30, **variables: str
) -> Iterator[Terminal]:
    """Run `arena` on a terminal of a size."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    kept = {key: os.environ[key] for key in os.environ if key not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-m", "arena_sdk.cli", *words],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**kept, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **variables},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()
        os.close(master)


@pytest.fixture
def service(service: Service) -> Service:
    """A service that knows two experiments."""
    service.on("GET", "/experiments/list", ROWS)
    service.on("GET", "/projects", [{"name": "p"}])
    return service


LIST = ("experiments", "list", "--project", "p")


def test_a_wide_terminal_shows_a_table_with_a_bold_heading(service: Service) -> None:
    with on_terminal(*LIST) as terminal:
        assert terminal.end() == 0
    heading, *rows = terminal.seen.splitlines()
    assert heading.startswith("\x1b[1m")
    assert len(rows) == 2
    assert "\x1b" not in "".join(rows)


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_can_be_had_without(service: Service, variables: dict[str, str]) -> None:
    with on_terminal(*LIST, **variables) as terminal:
        assert terminal.end() == 0
    assert "\x1b" not in terminal.seen


@pytest.mark.parametrize("how", ["window", "COLUMNS"])
def test_a_narrow_terminal_shows_a_block_a_row_with_nothing_cut(service: Service, how: str) -> None:
    narrow: dict[str, Any] = {"columns": 40} if how == "window" else {"COLUMNS": "40"}
    with on_terminal(*LIST, **narrow) as terminal:
        assert terminal.end() == 0
    first, second = terminal.seen.replace("\r\n", "\n").strip().split("\n\n")
    assert first.splitlines()[0].split() == ["name", "first-experiment-with-a-long-name"]
    assert ["environment", "LunarLander-v3"] in [line.split() for line in second.splitlines()]


def test_a_document_on_a_terminal_is_still_the_document(service: Service) -> None:
    with on_terminal(*LIST, "-o", "json", columns=40) as terminal:
        assert terminal.end() == 0
    assert '"name": "first-experiment-with-a-long-name"' in terminal.seen
    assert "\x1b" not in terminal.seen


def test_an_upload_draws_a_bar_on_terminals_only(service: Service, tmp_path: Path) -> None:
    import random

    check = {"kind": "check", "detail": {"check": "Step", "result": {"success": True}}}
    service.on("POST", "/environments/create-and-validate", ndjson(check, DONE))
    (tmp_path / "env.py").write_bytes(random.Random(0).randbytes(3_000_000))
    words = ("env", "validate", "e", "--source", str(tmp_path))
    with on_terminal(*words) as terminal:
        assert terminal.end() == 0
    assert re.search(r"Uploading  \[#+ *\] +\d+%  [\d.]+ \wB of 3.0 MB", terminal.seen)
    assert "100%" in terminal.seen
    after = terminal.seen.rsplit("100%", 1)[1]
    assert "\x1b[K" in after.split("Step")[0]  # it is taken away before the first check is told
    with on_terminal(*words, "-q") as terminal:
        assert terminal.end() == 0
    assert "Uploading" not in terminal.seen
    done = subprocess.run(
        [sys.executable, "-m", "arena_sdk.cli", *words], capture_output=True, text=True, timeout=60
    )
    assert "Uploading" not in done.stderr + done.stdout
    assert "ok   Step" in done.stderr


def test_what_destroys_asks_first_and_takes_no_for_an_answer(service: Service) -> None:
    for answer in ("n\n", "\n"):
        with on_terminal("experiments", "delete", "second") as terminal:
            terminal.read_until("[y/N]")
            terminal.type(answer)
            assert terminal.end() == 1  # a refusal is no interrupt
        assert terminal.seen.splitlines()[-1] == "error: You answered no; nothing was deleted."
    assert service.calls == []


def test_a_name_that_is_left_out_is_picked_from_a_list(service: Service) -> None:
    service.on("GET", "/experiments/jobs/checkpoints", lambda request: checkpoints_of(request))
    words = ("experiments", "checkpoints", "-q")
    with on_terminal(*words) as terminal:
        listed = terminal.read_until("Which experiment")
        assert "1  first-experiment-with-a-long-name" in listed
        terminal.type("e\n")
        terminal.read_until("2 are called like that")
        terminal.type("7\n")
        terminal.read_until("nothing is called that")
        terminal.type("sec\n")
        assert terminal.end() == 0
    assert service.calls[-1].query == [("experiment_name", "second")]
    with on_terminal(*words) as terminal:
        terminal.read_until("Which experiment")
        terminal.type("\x04")
        assert terminal.end() == 130
    done = subprocess.run(
        [sys.executable, "-m", "arena_sdk.cli", *words], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "Missing argument 'NAME'" in done.stderr


def checkpoints_of(request: Request) -> JSONResponse:
    return JSONResponse(
        [{"name": "step_1", "steps": 1, "of": request.query_params["experiment_name"]}]
    )


def test_talking_goes_on_until_an_empty_line(language_service: LanguageService) -> None:
    with on_terminal("agent", "generate", "chatter") as terminal:
        terminal.read_until("> ")
        terminal.type("one\n")
        terminal.read_until("«one» is turn 1. ✓")
        terminal.read_until("> ")
        terminal.type("two\n")
        terminal.read_until("«two» is turn 2. ✓")
        terminal.read_until("> ")
        terminal.type("\n")
        assert terminal.end() == 0
    assert len(language_service.sessions) == 1


def test_a_deployment_to_run_is_picked_and_then_active(
    language_service: LanguageService, arena_home: Path
) -> None:
    with on_terminal("agent", "run") as terminal:
        terminal.read_until("Which deployment")
        terminal.type("1\n")
        assert terminal.end() == 0
    assert '"deployment": "chatter"' in (arena_home / "inference.json").read_text()


def test_ctrl_c_at_a_question_is_one_line_and_130(language_service: LanguageService) -> None:
    with on_terminal("agent", "run") as terminal:
        terminal.read_until("Which deployment")
        assert terminal.interrupt() == 130
    assert terminal.seen.splitlines()[-1] == "interrupted"
    assert "Traceback" not in terminal.seen


def test_ctrl_c_in_an_answer_is_one_line_and_130(language_service: LanguageService) -> None:
    with on_terminal("agent", "generate", "chatter", "--prompt", "x" * 4000) as terminal:
        terminal.read_until("xxx")
        assert terminal.interrupt() == 130
    assert terminal.seen.splitlines()[-1] == "interrupted"
    assert "Traceback" not in terminal.seen
