"""Which algorithms fit an environment, for people to read."""

from __future__ import annotations

from typing import Any

from arena_sdk.cli.output import Sink, echo, table_lines


def show_algorithms(sink: Sink, rows: list[dict[str, Any]]) -> None:
    """Print what fits and why the rest does not, below a table for people; else nothing.

    Args:
        sink: Where the data went; the machine formats hold the algorithms already.
        rows: `{"algorithm", "fits", "why"}` for each.
    """
    if rows and sink.format == "table" and not sink.quiet and not sink.columns:
        echo()
        echo("\n".join(table_lines(rows, ("algorithm", "fits", "why"))))
