"""A real Arena in a process of its own, for every test that speaks HTTP with one."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest

WORKER_MARK = "ARENA_WORKER_FOLDER"
GONE_SECONDS = 5.0


@dataclass(frozen=True)
class ArenaServer:
    """A running Arena.

    Attributes:
        home: Its `ARENA_HOME`.
        data_dir: Its data folder.
        base_url: Where it answers.
        token: What requests must carry.
        pid: Its process.
    """

    home: Path
    data_dir: Path
    base_url: str
    token: str
    pid: int

    @property
    def headers(self) -> dict[str, str]:
        """What every request must carry."""
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def websocket_url(self) -> str:
        """The base URL of its WebSockets."""
        return self.base_url.replace("http://", "ws://")

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a program that is to use it, such as the published client."""
        return {
            **arena_environment(self.home),
            "ARENA_BASE_URL": self.base_url,
            "ARENA_API_KEY": self.token,
        }

    def client(self) -> httpx.Client:
        """Make an HTTP client of its API; paths are relative to the contract's prefix."""
        return httpx.Client(
            base_url=f"{self.base_url}/api/cli/v1", headers=self.headers, timeout=30
        )

    def workers(self) -> list[psutil.Process]:
        """Return every process that a job of it started, wherever it has gone."""
        return workers_of(self.data_dir)


def arena_environment(home: Path) -> dict[str, str]:
    """Return an environment in which `~/.arena` is `home` and nobody is logged in."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ARENA_")}
    return {**kept, "ARENA_HOME": str(home)}


def run_arena(
    home: Path, *arguments: str, timeout: float = 60, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the program `arena` with `~/.arena` at `home`, and more in its environment."""
    return subprocess.run(
        [sys.executable, "-m", "arena_sdk.cli", *arguments],
        env={**arena_environment(home), **(variables or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def workers_of(data_dir: Path) -> list[psutil.Process]:
    """Return every process that a job of a data folder started."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            mark = process.environ().get(WORKER_MARK, "")
            if mark.startswith(str(data_dir)) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait for a condition; tell whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def start_arena(home: Path, **variables: str) -> ArenaServer:
    """Start an Arena on a free port; `~/.arena` is at `home`, and more is in its environment."""
    started = run_arena(home, "local", "up", "--detach", "--port", "0", variables=variables)
    assert started.returncode == 0, started.stderr
    data_dir = home / "local"
    info = json.loads((data_dir / "server.json").read_text())
    token = (data_dir / "token").read_text().strip()
    return ArenaServer(home, data_dir, info["url"], token, info["pid"])


def end_arena(server: ArenaServer) -> None:
    """End an Arena, if it runs, and check that nothing of it is left."""
    ended = run_arena(server.home, "local", "down")
    left = [process.cmdline() for process in server.workers()]
    for process in server.workers():
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    assert ended.returncode == 0, ended.stderr
    assert not is_alive(server.pid)
    assert left == []


@pytest.fixture(scope="module")
def arena_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArenaServer]:
    """One Arena for all tests of a module."""
    server = start_arena(tmp_path_factory.mktemp("arena"))
    yield server
    end_arena(server)


@pytest.fixture
def fresh_arena(tmp_path: Path) -> Iterator[ArenaServer]:
    """An Arena for one test only, which may end it."""
    server = start_arena(tmp_path / "fresh-arena")
    yield server
    end_arena(server)


@pytest.fixture
def api(arena_server: ArenaServer) -> Iterator[httpx.Client]:
    """An HTTP client of the module's Arena."""
    with arena_server.client() as client:
        yield client
