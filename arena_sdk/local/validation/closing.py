"""What an environment holds while it is open, and what it leaves behind when it is closed."""

from __future__ import annotations

import threading
from contextlib import suppress

import psutil

from arena_sdk.local.validation.subject import Subject, Warn


def open_files() -> frozenset[str]:
    """Return the paths of the files that this process has open."""
    try:
        return frozenset(file.path for file in psutil.Process().open_files())
    except psutil.Error:
        return frozenset()


def children() -> dict[int, str]:
    """Return the processes that this one started and their descendants: names by id."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE:
                found[process.pid] = process.name()
    return found


def check_close(subject: Subject, warn: Warn) -> None:
    """Warn of what stays behind after `close`, and when it cannot be called twice."""
    subject.call("close()", subject.env.close)
    left = list(children().values())
    if left:
        warn(f"close() leaves {len(left)} process(es) running: {', '.join(left[:3])}.")
    files = sorted(open_files() - subject.files)
    if files:
        warn(f"close() leaves {len(files)} file(s) open: {', '.join(files[:3])}.")
    threads = [thread.name for thread in threading.enumerate() if not thread.daemon][1:]
    if threads:
        warn(f"close() leaves {len(threads)} thread(s) running: {', '.join(threads[:3])}.")
    try:
        subject.pulse()
        subject.env.close()
    except Exception as error:
        warn(f"Closing twice raised {type(error).__name__}; trainers may do that.")
