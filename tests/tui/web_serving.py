"""The program serving a dashboard to browsers, in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tui_canned import TOKEN

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)")


class Served(NamedTuple):
    """Where a dashboard is served, and the token that it wants."""

    base: str
    token: str


@contextmanager
def serving(url: str) -> Iterator[Served]:
    """Serve a dashboard of the Arena at `url` while the context lasts."""
    environ = {**os.environ, "ARENA_API_KEY": TOKEN, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "arena_tui", "--web", "--url", url, "--readonly"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=environ,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    found = ADDRESS.match(process.stdout.readline())
    assert found is not None
    yield Served(f"http://127.0.0.1:{found[1]}", found[2])
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    process.stdout.close()
    process.stderr.close()
