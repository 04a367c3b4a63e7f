"""A large Arena that is made up: `python tests/benchmarks/synthetic.py` serves it.

500 experiments, 2,000 environments, a log of 100,000 lines, and one run whose eight members report
four times a second. It is the small Arena of the dashboard's tests with more in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.websockets import WebSocket, WebSocketDisconnect

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from tests.tui.tui_canned import TOKEN, Canned, iso, metrics, serve  # noqa: E402

EXPERIMENTS, ENVIRONMENTS, LOG_LINES = 500, 2_000, 100_000
MEMBERS, GENERATIONS, UPDATES_A_SECOND = 8, 250, 4
LIVE = "synthetic-0000"


class Large(Canned):
    """Much of everything."""

    def __init__(self, updates_a_second: float = UPDATES_A_SECOND) -> None:
        super().__init__()
        self.updates_a_second = updates_a_second
        self.paused = False
        self.projects = [{"name": "merge-ppo", "type": "simulation", "description": "large"}]
        self.environments = {
            f"environment-{number:04}": {"v1": {"validated": True, "profiled": number % 2 == 0}}
            for number in range(ENVIRONMENTS)
        }
        self.records = metrics(GENERATIONS, MEMBERS)
        states = ("running", "completed", "failed", "stopped")
        self.experiments = [
            self.experiment(
                f"synthetic-{number:04}",
                "running" if number == 0 else states[number % 4],
                60.0 * number,
                12_000 + number,
            )
            for number in range(EXPERIMENTS)
        ]
        self.log = [
            f"{iso(LOG_LINES - at)} {'WARNING' if at % 50 == 0 else 'INFO'} step {at}: all is well"
            for at in range(LOG_LINES)
        ]

    def answer(self, method: str, path: str, request: Request, body: Any) -> Any:
        """Answer as the small one does, but with pages of a long log and of many records."""
        query = request.query_params
        after = int(query.get("after") or 0)
        if path == "/experiments/logs":
            lines = self.log[after : after + int(query.get("limit") or 1000)]
            return {"lines": lines, "next": after + len(lines), "ended": False}
        if path == "/experiments/records":
            limit = int(query.get("limit") or 10_000)
            records = self.records[after : after + limit]
            return {"records": records, "last_seq": len(self.records), "state": "running"}
        return super().answer(method, path, request, body)

    async def grow(self) -> None:
        """Let the members of the live run report, for ever."""
        generation = GENERATIONS
        while True:
            await asyncio.sleep(1 / self.updates_a_second)
            if self.paused:
                continue
            generation += 1
            for record in metrics(1, MEMBERS):
                data = record["data"] | {"generation": generation, "steps": generation * 1000}
                changed = {"seq": len(self.records) + 1, "time": time.time(), "data": data}
                self.records.append(record | changed)

    async def live(self, socket: WebSocket) -> None:
        """Push what there is in one go, then what is new at the pace at which it comes."""
        await socket.accept()
        sent = int(socket.query_params.get("after") or 0)
        await socket.send_json({"kind": "hello", "last_seq": len(self.records), "state": "running"})
        with contextlib.suppress(WebSocketDisconnect, asyncio.CancelledError):
            while True:
                for record in self.records[sent:]:
                    await socket.send_json(record)
                sent = len(self.records)
                await asyncio.sleep(0.05)


async def forever(updates_a_second: float) -> None:
    """Serve until the process is ended; the first line of output is the URL.

    SIGUSR1 lets the live run stand still, SIGUSR2 lets it go on.
    """
    large = Large(updates_a_second)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, setattr, large, "paused", True)
    loop.add_signal_handler(signal.SIGUSR2, setattr, large, "paused", False)
    async with serve(large) as url:
        print(url, flush=True)
        await large.grow()


@dataclass(frozen=True)
class Feed:
    """A large Arena in a process of its own."""

    url: str
    token: str
    process: subprocess.Popen[str]

    def pause(self) -> None:
        """Let the live run stand still."""
        self.process.send_signal(signal.SIGUSR1)

    def resume(self) -> None:
        """Let the live run go on."""
        self.process.send_signal(signal.SIGUSR2)


@contextlib.contextmanager
def feeding(updates_a_second: float) -> Iterator[Feed]:
    """Run the large Arena in a process, with so many reports a second of each member."""
    command = [sys.executable, __file__, str(updates_a_second)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield Feed(process.stdout.readline().strip(), TOKEN, process)
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def running() -> Iterator[tuple[str, str]]:
    """Run the large Arena in a process; gives its URL and token."""
    with feeding(UPDATES_A_SECOND) as feed:
        yield feed.url, feed.token


if __name__ == "__main__":
    asyncio.run(forever(float(sys.argv[1]) if len(sys.argv) > 1 else UPDATES_A_SECOND))
