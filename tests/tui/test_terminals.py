"""The program on terminals that can do little, over a pty: no crash, and what they can show."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from tui_canned import TOKEN

from arena_tui.ascii_only import to_ascii

ESCAPES = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[()][0-9A-B]|\x1b\][^\x07]*\x07|\x1bP.*?\x1b\\")
KEYS = [*"1234567", "6", "n", "e", "a", "\x1b", "\x1b", "\x1bOP", "?", "\x1b", "\x0f", "z", "q"]


class Terminal:
    """The dashboard on a pty of its own."""

    def __init__(self, url: str, size: tuple[int, int], environ: dict[str, str]) -> None:
        self.seen = b""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "COLOR", "TMUX"))}
        clean = {**clean, "ARENA_API_KEY": TOKEN, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            arguments = [sys.executable, "-m", "arena_tui", "--url", url]
            os.execve(sys.executable, arguments, {**clean, **environ})
        self.resize(*size)

    def resize(self, width: int, height: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def press(self, key: str) -> None:
        os.write(self.fd, key.encode())

    async def read(self, seconds: float) -> None:
        """Read what comes for a while."""
        os.set_blocking(self.fd, False)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(BlockingIOError, OSError):
                self.seen += os.read(self.fd, 1 << 16)
            await asyncio.sleep(0.01)

    async def sees(self, word: bytes, seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while word not in self.text and time.monotonic() < end:
            await self.read(0.1)
        assert word in self.text, self.text[-3000:]

    @property
    def text(self) -> bytes:
        return ESCAPES.sub(b"", self.seen)

    def _ended(self, how: int = os.WNOHANG) -> tuple[int, int]:
        return os.waitpid(self.pid, how)

    async def end(self) -> int:
        """Wait for its end; returns the exit code."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            await self.read(0.05)
            pid, status = self._ended()
            if pid:
                await self.read(0.1)
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        self._ended(0)
        os.close(self.fd)
        raise AssertionError(f"It did not end: {self.text[-2000:]!r}")


@pytest.mark.parametrize(
    ("environ", "size"),
    [
        ({}, (80, 24)),
        ({"TERM": "xterm-16color"}, (80, 24)),
        ({"NO_COLOR": "1"}, (80, 24)),
        ({"LANG": "C", "LC_ALL": "C"}, (80, 24)),
        ({"TERM": "dumb"}, (80, 24)),
        ({"TERM": "linux", "LANG": "C"}, (80, 24)),
        ({}, (40, 12)),
        ({}, (240, 70)),
    ],
    ids=["usual", "sixteen", "no-colour", "lang-c", "dumb", "console", "tiny", "wide"],
)
async def test_every_screen_on_a_poor_terminal(url, environ, size):
    terminal = Terminal(url, size, environ)
    await terminal.sees(b"1 running" if size[0] < 80 else b"grid-dqn")
    for key in KEYS:
        terminal.press(key)
        await terminal.read(0.25)
    terminal.press("\x1b")
    await terminal.read(0.4)
    terminal.press("q")
    assert await terminal.end() == 0
    assert b"Traceback" not in terminal.text
    if environ.get("NO_COLOR"):
        assert not re.search(rb"\x1b\[[0-9;]*(38|48);", terminal.seen)
    if environ.get("TERM") == "xterm-16color":
        assert not re.search(rb"\x1b\[[0-9;]*[34]8;[25];", terminal.seen)
    if environ.get("LANG") == "C":
        assert terminal.text.isascii()


async def test_a_terminal_that_is_resized_all_the_while(url):
    terminal = Terminal(url, (120, 36), {})
    await terminal.sees(b"grid-dqn")
    for number in range(28):
        terminal.resize(30 + (number * 37) % 190, 8 + (number * 13) % 55)
        terminal.press("1234567"[number % 7])
        await terminal.read(0.2)
    await terminal.read(0.5)
    terminal.press("q")
    assert await terminal.end() == 0
    assert b"Traceback" not in terminal.text


@given(st.text(max_size=40))
def test_what_is_made_ascii_is_as_wide_as_it_was(text):
    made = to_ascii(text)
    assert made.isascii()
    assert text.isascii() or cell_len(made) == cell_len(text) or not text.isprintable()
