"""A program in a pseudo terminal of 160×45 cells, for benchmarks: what it writes, and costs."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterable

import psutil

COLUMNS, LINES = 160, 45
ESCAPES = re.compile(
    rb"\x1b(\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[()].|[=>78cDEHM])"
)


def _compiled_environment() -> dict[str, str]:
    """Return variables under which modules are compiled once, as those of an installation are."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": os.path.join(tempfile.gettempdir(), "arena-bench-pyc")}


class Terminal:
    """A program in a pseudo terminal."""

    def __init__(self, command: list[str], variables: dict[str, str]) -> None:
        self._leader, follower = pty.openpty()
        self._columns = COLUMNS
        self._be_as_wide()
        self.process = psutil.Popen(
            command,
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env={**_compiled_environment(), **variables},
            start_new_session=True,
        )
        os.close(follower)
        self.text = b""

    def _be_as_wide(self) -> None:
        size = struct.pack("HHHH", LINES, self._columns, 0, 0)
        fcntl.ioctl(self._leader, termios.TIOCSWINSZ, size)

    def redraw(self) -> None:
        """Become a cell narrower, or wider again, so that the whole screen is written anew."""
        self.settle(0.1, 1.0)
        self.text = b""
        self._columns = COLUMNS if self._columns < COLUMNS else COLUMNS - 1
        self._be_as_wide()
        self.settle(0.3, 3.0)

    def read(self, seconds: float) -> bytes:
        """Return what is written within a time; returns at the first piece."""
        ready, _, _ = select.select([self._leader], [], [], seconds)
        piece = os.read(self._leader, 1 << 20) if ready else b""
        self.text = (self.text + ESCAPES.sub(b"", piece))[-200_000:]
        return piece

    def settle(self, quiet: float = 0.3, longest: float = 20.0) -> None:
        """Read until nothing is written for a while."""
        end = time.monotonic() + longest
        while self.read(quiet) and time.monotonic() < end:
            pass

    def wait(self, mark: str, seconds: float = 30.0) -> float:
        """Read until a text is on the screen; return the seconds that took."""
        start = time.monotonic()
        while mark.encode() not in self.text:
            if time.monotonic() - start > seconds:
                shown = self.text[-3000:].decode(errors="replace")
                raise SystemExit(
                    f"{mark!r} did not come within {seconds:.0f} s; there was: {shown}"
                )
            self.read(0.5)
        return time.monotonic() - start

    def press(self, keys: str, mark: str) -> float:
        """Type, and return the milliseconds until a text is shown."""
        self.text = b""
        start = time.perf_counter()
        os.write(self._leader, keys.encode())
        self.wait(mark)
        return (time.perf_counter() - start) * 1000

    def type(self, keys: str) -> None:
        """Type without waiting."""
        os.write(self._leader, keys.encode())

    def cpu(self) -> float:
        """Return the seconds of CPU that the program has taken."""
        times = self.process.cpu_times()
        return float(times.user + times.system)

    def memory_mb(self) -> float:
        """Return the program's memory."""
        return float(self.process.memory_info().rss / 1e6)

    def end(self) -> None:
        """End the program."""
        self.process.kill()
        self.process.wait()
        os.close(self._leader)


def start(url: str, token: str, home: str, *flags: str) -> Terminal:
    """Start the dashboard."""
    variables = {
        "ARENA_HOME": home,
        "ARENA_API_KEY": token,
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
    }
    return Terminal([sys.executable, "-m", "arena_tui", "--url", url, *flags], variables)


def judge(verdicts: Iterable[tuple[str, bool]]) -> int:
    """Print each verdict as it comes; return the exit code, 1 when a bound was missed."""
    missed = 0
    for text, good in verdicts:
        print(("ok    " if good else "MISSED") + f" {text}", flush=True)
        missed += not good
    return int(missed > 0)
