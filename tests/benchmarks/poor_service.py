"""Measures keys while the service is poor; `python tests/benchmarks/poor_service.py`.

The dashboard runs in a pseudo terminal on a small Arena that takes 2 s for every answer, comes and
goes twice a second, answers nothing but errors, or is gone. Meanwhile keys are pressed; printed is
the CPU time from a key to a changed screen, what the clock said, what the header said, and how long
after the end of the trouble it said that all is well again. Exits 1 when a key takes 100 ms or more
of CPU, when the header does not say what is the matter, or when all is not well within 40 s.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.terminal import Terminal, judge, start
from tests.tui.tui_canned import TOKEN, Canned, serve

KEYS, WORST_MS, RECOVERY_SECONDS, RUN = 20, 100.0, 40.0, "grid-dqn"
DELAY_SECONDS, FLAP_SECONDS = 2.0, 0.25
WELL = "● live"


class Service:
    """A small Arena on a thread, which can be ended and started again at the same address."""

    def __init__(self) -> None:
        self.canned = Canned()
        self.url = ""
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Answer."""
        begun = threading.Event()
        port = int(self.url.rpartition(":")[2] or 0)

        async def run() -> None:
            async with serve(self.canned, port) as self.url:
                begun.set()
                while not self._ended.is_set():  # noqa: ASYNC110
                    await asyncio.sleep(0.02)

        self._ended.clear()
        self._thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
        self._thread.start()
        begun.wait(20)

    def end(self) -> None:
        """Be gone."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(20)


@contextlib.contextmanager
def slow(service: Service) -> Iterator[None]:
    """Every answer takes its time."""
    service.canned.delay = DELAY_SECONDS
    yield
    service.canned.delay = 0.0


@contextlib.contextmanager
def flapping(service: Service) -> Iterator[None]:
    """It answers and does not, by turns."""
    ended = threading.Event()

    def flap() -> None:
        while not ended.wait(FLAP_SECONDS):
            service.canned.down = not service.canned.down

    thread = threading.Thread(target=flap, daemon=True)
    thread.start()
    yield
    ended.set()
    thread.join()
    service.canned.down = False


@contextlib.contextmanager
def broken(service: Service) -> Iterator[None]:
    """It answers with errors."""
    service.canned.broken = True
    yield
    service.canned.broken = False


@contextlib.contextmanager
def gone(service: Service) -> Iterator[None]:
    """Nothing answers."""
    service.end()
    yield
    service.begin()


@dataclass(frozen=True)
class Case:
    """A way to be poor, and what the header may say of it."""

    name: str
    trouble: Callable[[Service], contextlib.AbstractContextManager[None]]
    told: tuple[str, ...]


CASES = (
    Case("2 s an answer", slow, ("live",)),
    Case("comes and goes", flapping, ("reconnecting", "live")),
    Case("answers errors", broken, ("live",)),
    Case("gone", gone, ("reconnecting", "offline")),
)


def header(terminal: Terminal) -> str:
    """Let the screen be drawn anew, and return what the header says of the connection."""
    terminal.redraw()
    terminal.wait("UTC")
    found = terminal.text.decode(errors="replace")
    words = ("connecting", "signed out", "reconnecting", "offline", "polling", "live")
    said = [(found.find(f"{mark} {word}"), word) for word in words for mark in "●◐○◌✗"]
    return min((each for each in said if each[0] >= 0), default=(0, "nothing"))[1]


def pressed(terminal: Terminal) -> tuple[list[float], list[float]]:
    """Press a key again and again; return the CPU times and the waits in ms."""
    costs, waits = [], []
    for _ in range(KEYS):
        before = terminal.cpu()
        waits.append(terminal.press("?", "other keys, by these ids"))
        costs.append(1000 * (terminal.cpu() - before))
        terminal.type("\x1b")
        terminal.settle(0.3, 0.6)
    return costs, waits


def recovered(terminal: Terminal) -> float:
    """Return the seconds until the header says that all is well, or infinity."""
    start_of_wait = time.monotonic()
    while time.monotonic() - start_of_wait < RECOVERY_SECONDS:
        if header(terminal) == "live":
            return time.monotonic() - start_of_wait
    return float("inf")


def measure(service: Service, home: str) -> Iterator[tuple[str, bool]]:
    """Go through the cases; yield what was found, and whether it is well."""
    for case in CASES:
        terminal = start(service.url, TOKEN, home, "--experiment", RUN)
        try:
            terminal.wait(WELL)
            terminal.wait("fitness")
            with case.trouble(service):
                time.sleep(3.0)
                costs, waits = pressed(terminal)
                said = header(terminal)
            seconds = recovered(terminal)
        finally:
            terminal.end()
        text = (
            f"{case.name}: key to changed screen {statistics.median(costs):.0f} ms of CPU, worst"
            f" {max(costs):.0f} (by the clock {statistics.median(waits):.0f} and"
            f" {max(waits):.0f}); header: {said}; well again after {seconds:.1f} s"
        )
        yield text, max(costs) < WORST_MS and said in case.told and seconds < RECOVERY_SECONDS


def verdicts() -> Iterator[tuple[str, bool]]:
    """Run all of it on a service of its own."""
    service = Service()
    service.begin()
    try:
        with tempfile.TemporaryDirectory() as home:
            yield from measure(service, home)
    finally:
        service.end()


if __name__ == "__main__":
    sys.exit(judge(verdicts()))
