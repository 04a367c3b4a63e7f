"""What is told of a table: its columns, its rows, and the first of them in small."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from arena_sdk.records import encode_number

PREVIEW_ROWS = 20
MAX_COLUMNS = 1_000
SHOWN_PLACES = 3
"""How many places of empty cells are told."""
LONGEST_CELL, SHORTEST_CELL = 500, 40
"""Characters of a cell in the preview: the more columns there are, the fewer."""
ROW_BUDGET = 40_000
"""Characters of a row in the preview, about."""


@dataclass
class Table:
    """A table as its files have it.

    Attributes:
        columns: `{"name", "type"}` of each; with `empty` (how many cells are) and `empty_at` (the
            first of them: lines of a CSV file, rows of Parquet ones) where they were looked at, and
            with `words` and `words_at` (line and text) where nearly all cells are numbers but some.
        num_rows: Of all files.
        preview: The first rows, with short cells.
    """

    columns: list[dict[str, Any]]
    num_rows: int
    preview: list[dict[str, Any]] = field(default_factory=list)

    def json(self) -> dict[str, Any]:
        """Return it as a worker's result."""
        return asdict(self)


def cell_limit(columns: int) -> int:
    """Return how many characters a cell of the preview may have."""
    return max(SHORTEST_CELL, min(LONGEST_CELL, ROW_BUDGET // max(1, columns)))


def preview_of(rows: Iterable[Mapping[str, Any]], columns: int) -> list[dict[str, Any]]:
    """Return rows as JSON has them, with short cells."""
    limit = cell_limit(columns)
    return [{name: _cell(value, limit) for name, value in row.items()} for row in rows]


def _cell(value: Any, limit: int) -> Any:
    """Return one value as JSON has it: text cut, bytes counted, what is nested as short text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)
    if isinstance(value, float):
        return encode_number(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value):,} bytes>"
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, dict | list | tuple):
        value = json.dumps(value, ensure_ascii=False, default=_inner)
    text = str(value).encode("utf-8", "replace").decode()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _inner(value: Any) -> Any:
    return f"<{len(value):,} bytes>" if isinstance(value, bytes) else str(value)
