"""A worker's log, a page of lines at a time.

Readers say how many lines they have. Where every so many lines begin is remembered for the logs
that were read lately, so that a page of a long log costs the page and not the log.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from pathlib import Path
from typing import IO

MAX_LINE = 4000
"""Characters of a line that are given; environments print anything."""

STRIDE = 256
"""Lines from one remembered place to the next."""

INDEXES = 128
"""Logs whose places are remembered."""


class _Index:
    """Where lines 0, STRIDE, 2 * STRIDE, … of one file begin, as far as it was read."""

    def __init__(self, file: tuple[int, int]) -> None:
        self.file = file
        self.places = [0]


class LogPages:
    """Pages of logs; safe to use from any thread."""

    def __init__(self) -> None:
        self._indexes: OrderedDict[Path, _Index] = OrderedDict()
        self._lock = threading.Lock()

    def page(self, path: Path, after: int, limit: int, *, whole: bool) -> tuple[list[str], int]:
        """Return at most `limit` lines after the first `after`, and how many lines that makes.

        Args:
            path: The log; an absent one is empty.
            after: How many lines the reader has.
            limit: The most lines to give.
            whole: Whether nothing more is written; else a last line without its end is left for
                the next page.
        """
        lines: list[str] = []
        try:
            log = path.open("rb")
        except OSError:
            return lines, after
        with log:
            number = self._seek(path, log, after)
            while len(lines) < limit:
                start = log.tell()
                raw = log.readline()
                if not raw or not (whole or raw.endswith(b"\n")):
                    break
                self._note(path, number, start)
                if number >= after:
                    lines.append(raw.rstrip(b"\r\n").decode("utf-8", "replace")[:MAX_LINE])
                number += 1
        return lines, after + len(lines)

    def _seek(self, path: Path, log: IO[bytes], after: int) -> int:
        """Go to the last remembered place that is not after a line; return that place's line."""
        status = os.fstat(log.fileno())
        identity = status.st_dev, status.st_ino
        with self._lock:
            index = self._indexes.get(path)
            if index is None or index.file != identity or index.places[-1] > status.st_size:
                index = self._indexes[path] = _Index(identity)
            self._indexes.move_to_end(path)
            while len(self._indexes) > INDEXES:
                self._indexes.popitem(last=False)
            chosen = min(after // STRIDE, len(index.places) - 1)
            place = index.places[chosen]
        log.seek(place)
        return chosen * STRIDE

    def _note(self, path: Path, number: int, start: int) -> None:
        """Remember where a line begins, if it is one of those that are remembered."""
        if number % STRIDE:
            return
        with self._lock:
            index = self._indexes.get(path)
            if index is not None and number // STRIDE == len(index.places):
                index.places.append(start)
