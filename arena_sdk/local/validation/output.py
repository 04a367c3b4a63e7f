"""What user code prints: counted, and its beginning kept."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

KEPT_BYTES = 2_000
PASSED_ON_BYTES = 8 << 20


@dataclass
class Output:
    """What was printed since the last `take`, and what goes on to the job's log.

    Attributes:
        size: How many bytes were printed.
        lines: How many line ends it had.
        head: Its first bytes.
    """

    size: int = 0
    lines: int = 0
    head: bytearray = field(default_factory=bytearray)
    _passed_on: int = 0

    def add(self, chunk: bytes) -> None:
        """Take what was printed; its first megabytes go on to this process's own output."""
        self.size += len(chunk)
        self.lines += chunk.count(b"\n")
        if len(self.head) < KEPT_BYTES:
            self.head += chunk[: KEPT_BYTES - len(self.head)]
        left = PASSED_ON_BYTES - self._passed_on
        if left > 0:
            self._passed_on += len(chunk)
            os.write(1, chunk[:left])

    def take(self) -> Output:
        """Return what was printed so far and begin afresh."""
        taken = Output(self.size, self.lines, self.head)
        self.size, self.lines, self.head = 0, 0, bytearray()
        return taken

    @property
    def first_line(self) -> str:
        """The first line that says something, cut to 120 characters."""
        text = self.head.decode("utf-8", errors="replace")
        line = next((line.strip() for line in text.splitlines() if line.strip()), "")
        return line if len(line) <= 120 else line[:119] + "…"
