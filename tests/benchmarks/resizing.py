"""Resizes the dashboard while four charts are live; `python tests/benchmarks/resizing.py`.

The program runs in a pseudo terminal that pyte emulates: with 16 colours, with `TERM=dumb`, and in
`LANG=C`; 200 sizes from 20×6 to 240×70 each, keys in between. At every twentieth size the feed
stands still, and the screen must be, cell by cell, what a repaint from scratch gives. Then a feed
that is thirty times as fast plays 30 minutes, over which memory may not grow by more than what the
new points take. Exits 1 when a cell is stale, no key is heard, the program ends, or memory grows.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import pty
import random
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pyte

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.synthetic import LIVE, UPDATES_A_SECOND, Feed, feeding

PLACES = {
    "16 colours": {"TERM": "xterm-16color", "LANG": "C.UTF-8"},
    "dumb": {"TERM": "dumb", "LANG": "C.UTF-8"},
    "LANG=C": {"TERM": "xterm-256color", "LANG": "C"},
}
RESIZES, CHECKED_EVERY = 200, 20
SMALLEST, LARGEST = (20, 6), (240, 70)
KEY_SECONDS = 20.0
"""Longest wait for a key behind 20 sizes, on a machine that others use; what it took is printed."""
MINUTES, SETTLED_MINUTES, HASTE = 30, 10, 30
GROWTH_MB = 15.0
"""What 20 minutes of points of eight members may take, with the pyramids above them."""
# What a terminal swallows, and pyte prints: questions, titles, key protocols.
UNKNOWN = re.compile(
    rb"\x1bP.*?\x1b\\|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[<>=][0-9;]*[a-zA-Z]"
)
CLOCK = re.compile(r"\d\d:\d\d:\d\d UTC")


class Emulated:
    """The dashboard in a terminal whose every cell is known."""

    def __init__(self, url: str, token: str, variables: dict[str, str]) -> None:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "COLOR", "TMUX"))}
        self.size = (160, 45)
        self.screen = pyte.Screen(*self.size)
        self._stream = pyte.ByteStream(self.screen)
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            command = [sys.executable, "-m", "arena_tui", "--url", url, "--experiment", LIVE]
            os.execve(command[0], command, {**kept, "ARENA_API_KEY": token, **variables})
        self.resize(*self.size)
        self.process = psutil.Process(self.pid)

    def resize(self, width: int, height: int) -> None:
        """Be another size."""
        self.size = (width, height)
        self.screen.resize(height, width)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def read(self, seconds: float) -> bool:
        """Take what is written within a time; False when nothing is."""
        ready, _, _ = select.select([self._fd], [], [], seconds)
        if not ready:
            return False
        try:
            self._stream.feed(UNKNOWN.sub(b"", os.read(self._fd, 1 << 20)))
        except OSError:
            raise SystemExit("MISSED the program ended:\n" + "\n".join(self.text)) from None
        return True

    def read_for(self, seconds: float) -> None:
        """Take what is written for a time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.read(left)

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._fd, keys.encode())

    @property
    def text(self) -> list[str]:
        """The lines of the screen."""
        return list(self.screen.display)

    def sees(self, word: str, seconds: float) -> bool:
        """Wait for a text to be on the screen."""
        end = time.monotonic() + seconds
        while not any(word in line for line in self.text):
            if time.monotonic() > end:
                return False
            self.read(0.1)
        return True

    def misses(self, word: str, seconds: float) -> None:
        """Wait for a text to be gone."""
        end = time.monotonic() + seconds
        while any(word in line for line in self.text) and time.monotonic() < end:
            self.read(0.1)

    def cells(self) -> list[list[tuple[object, ...]]]:
        """Return every cell, with its looks; the clock is left out."""
        width, height = self.size
        lines = []
        for y in range(height):
            line = [tuple(self.screen.buffer[y][x]) for x in range(width)]
            clock = CLOCK.search(self.text[y])
            if clock and y == 0:
                line[clock.start() : clock.end()] = [(" ",)] * (clock.end() - clock.start())
            lines.append(line)
        return lines

    def settle(self) -> None:
        """Read until only the clock goes on."""
        before = None
        for _ in range(40):
            self.read_for(1.2)
            now = self.cells()
            if now == before:
                return
            before = now

    def repaint(self) -> None:
        """Let it draw all anew, as after it was stopped and continued in a shell."""
        os.kill(self.pid, signal.SIGTSTP)
        while self.process.status() != psutil.STATUS_STOPPED:
            self.read_for(0.1)
        self.screen.reset()
        os.kill(self.pid, signal.SIGCONT)
        self.settle()

    def end(self) -> None:
        """End the program."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        os.close(self._fd)


@contextlib.contextmanager
def dashboard(url: str, token: str, variables: dict[str, str]) -> Iterator[Emulated]:
    """Run the dashboard at the live experiment."""
    with tempfile.TemporaryDirectory() as home:
        terminal = Emulated(url, token, {"ARENA_HOME": home, **variables})
        try:
            if not terminal.sees("fitness", 60):
                raise SystemExit("MISSED no chart came:\n" + "\n".join(terminal.text))
            yield terminal
        finally:
            terminal.end()


def stale_cells(terminal: Emulated) -> int:
    """Return how many cells are not what a repaint from scratch gives."""
    terminal.settle()
    before, text = terminal.cells(), terminal.text
    terminal.repaint()
    after = terminal.cells()
    stale = sum(a != b for old, new in zip(before, after, strict=True)
                for a, b in zip(old, new, strict=True))  # fmt: skip
    if stale:
        for old, new in zip(text, terminal.text, strict=True):
            if old != new:
                print(f"  was  {old.rstrip()}\n  is   {new.rstrip()}")
    return stale


def resized(feed: Feed, name: str, resizes: int, seed: int) -> bool:
    """Resize in one kind of terminal; True when all is well."""
    chance = random.Random(seed)
    stale, slowest = 0, 0.0
    with dashboard(feed.url, feed.token, PLACES[name]) as terminal:
        for number in range(1, resizes + 1):
            terminal.resize(*(chance.randint(a, b) for a, b in zip(SMALLEST, LARGEST, strict=True)))
            terminal.read_for(chance.choice((0.0, 0.02, 0.1, 0.3)))
            if number % CHECKED_EVERY:
                continue
            terminal.resize(chance.randint(100, 200), chance.randint(30, 60))
            began = time.monotonic()
            terminal.press("?")
            if not terminal.sees(" Keys ", KEY_SECONDS):
                print(f"MISSED {name}: no key heard at size {number}:\n" + "\n".join(terminal.text))
                return False
            slowest = max(slowest, time.monotonic() - began)
            terminal.press("\x1b")
            terminal.misses(" Keys ", KEY_SECONDS)
            feed.pause()
            stale += stale_cells(terminal)
            feed.resume()
        memory = terminal.process.memory_info().rss / 1e6
    print(
        f"{'ok    ' if not stale else 'MISSED'} {name}: {resizes} sizes, {stale} stale cells,"
        f" slowest key {1000 * slowest:.0f} ms, {memory:.0f} MB"
    )
    return not stale


def steady(minutes: int) -> bool:
    """Play some minutes of a feed in haste; True when memory stays."""
    with (
        feeding(UPDATES_A_SECOND * HASTE) as feed,
        dashboard(feed.url, feed.token, PLACES["16 colours"]) as terminal,
    ):
        sizes = []
        for minute in range(minutes):
            terminal.read_for(60 / HASTE)
            if minute >= SETTLED_MINUTES:
                sizes.append(terminal.process.memory_info().rss / 1e6)
    growth = sizes[-1] - sizes[0]
    good = growth <= GROWTH_MB
    print(
        f"{'ok    ' if good else 'MISSED'} {minutes} simulated minutes: {sizes[0]:.0f} MB after"
        f" {SETTLED_MINUTES}, {sizes[-1]:.0f} MB at the end"
    )
    return good


def main() -> int:
    """Do all, print, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--resizes", type=int, default=RESIZES)
    parser.add_argument("--minutes", type=int, default=MINUTES)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with feeding(UPDATES_A_SECOND) as feed:
        good = [resized(feed, name, options.resizes, options.seed) for name in PLACES]
    if options.minutes > SETTLED_MINUTES:
        good.append(steady(options.minutes))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
