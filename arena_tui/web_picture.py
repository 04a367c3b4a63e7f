"""A picture of the dashboard in a real browser, for `arena_tui.screenshots`."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .chromium import PROGRAM, Chromium

DRAWN_BYTES = 40_000
"""A picture with the dashboard on it takes more; an empty page takes a few thousand."""
DRAWN_SECONDS, SETTLED_SECONDS = 60.0, 4.0


def take(url: str, token: str, experiment: str, out: Path) -> bool:
    """Serve the dashboard of an Arena, open it at an experiment in Chromium, and take a picture.

    Args:
        url: Base URL of the Arena.
        token: What it wants to be shown.
        experiment: The experiment's name.
        out: Where the PNG is written.

    Returns:
        Whether it was taken: not so where Chromium is not installed, or draws nothing.
    """
    if PROGRAM is None:
        return False
    command = [sys.executable, "-m", "arena_tui", "--web", "--url", url, "--experiment", experiment]
    environ = {**os.environ, "ARENA_API_KEY": token, "PYTHONUNBUFFERED": "1"}
    with contextlib.ExitStack() as stack:
        served = stack.enter_context(
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ)
        )
        stack.callback(served.terminate)
        address = re.search(r"http://\S+", served.stdout.readline() if served.stdout else "")
        if address is None:
            return False
        profile = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        browser = Chromium(Path(profile))
        stack.callback(browser.close)
        browser.open(address[0])
        end = time.monotonic() + DRAWN_SECONDS
        while len(browser.picture()) < DRAWN_BYTES:
            if time.monotonic() > end:
                return False
            time.sleep(0.5)
        time.sleep(SETTLED_SECONDS)
        out.write_bytes(browser.picture())
        return True
