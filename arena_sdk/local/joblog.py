"""What a worker prints: captured to a file, capped, and never able to block worker or server."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from pathlib import Path

CHUNK = 1 << 16
CAP = 64 << 20
"""Bytes that a log may have."""


class LogPump:
    """A thread that moves what comes out of a pipe to the end of a file.

    A thread and not the event loop: a worker that prints a gigabyte must cost the server's
    answers nothing. It reads on whatever happens to the file, so that the worker never waits.

    Args:
        fd: Read end of the pipe; closed here.
        path: The log; created, or appended to.
        cap: Bytes that the file may have; what comes after is dropped, and a line says so.
    """

    def __init__(self, fd: int, path: Path, cap: int = CAP) -> None:
        self._fd = fd
        self._path = path
        self._cap = cap
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._pump, name=f"log {path}", daemon=True)
        self._thread.start()

    def close(self, timeout: float) -> None:
        """Take what is still in the pipe, for at most `timeout` seconds, and end."""
        self._thread.join(timeout)
        self._closing.set()  # somebody else still holds the pipe's other end
        self._thread.join(1.0)

    def _pump(self) -> None:
        log = self._open()
        left = 0 if log is None else self._cap - os.fstat(log).st_size
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        while not self._closing.is_set():
            if not poll.poll(200):
                continue
            chunk = os.read(self._fd, CHUNK)
            if not chunk:
                break
            if log is not None and left > 0:
                left = self._write(log, chunk, left)
        os.close(self._fd)
        if log is not None:
            os.close(log)

    def _open(self) -> int | None:
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return None

    def _write(self, log: int, chunk: bytes, left: int) -> int:
        """Write what fits; return how many bytes may still come."""
        try:
            os.write(log, chunk[:left])
            if len(chunk) >= left:
                os.write(log, f"\n[output beyond {self._cap:,} bytes is dropped]\n".encode())
        except OSError:  # a full disk costs the worker its log, nothing else
            return 0
        return left - len(chunk)


def tail(path: Path, lines: int = 12, limit: int = 1 << 16) -> list[str]:
    """Return the last lines of a log, reading at most `limit` bytes; none when there is no log."""
    try:
        with path.open("rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - limit))
            text = log.read(limit).decode("utf-8", errors="replace")
    except OSError:
        return []
    return text.splitlines()[-lines:]
