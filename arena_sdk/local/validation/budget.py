"""How long a check may go on, such that a busy machine does not change its verdict."""

from __future__ import annotations

import time

PATIENCE = 2.0
STALL_SECONDS = 8.0
"""Wall time that may pass beside the processor time: for environments that wait, and for stalls."""


class Budget:
    """A span of processor time, bounded in wall time too.

    Args:
        seconds: Processor seconds of this process.
    """

    def __init__(self, seconds: float) -> None:
        self._until = time.process_time() + seconds
        self._deadline = time.monotonic() + PATIENCE * seconds + STALL_SECONDS

    @property
    def is_spent(self) -> bool:
        """True when there is no time left."""
        return time.process_time() > self._until or time.monotonic() > self._deadline
