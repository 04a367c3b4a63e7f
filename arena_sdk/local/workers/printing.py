"""What user code prints, in the log of its job."""

from __future__ import annotations

import io
import sys


def print_whole_lines() -> None:
    """Write each printed line at once, so that lines of processes that share a log stay whole.

    Unbuffered, as workers run so that nothing is lost when they are killed, Python writes a line
    and its end apart.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, write_through=False)
