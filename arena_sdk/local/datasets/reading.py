"""From the files of a dataset to what is told of it; runs in a worker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import comma, parquet
from .naming import CSV
from .table import Table


def read(folder: Path, names: Sequence[str], kind: str, wanted: Sequence[str] = ()) -> Table:
    """Read a dataset.

    Args:
        folder: Where its files lie.
        names: Their relative paths.
        kind: `csv` or `parquet`.
        wanted: Columns whose every cell is to be looked at.

    Raises:
        DatasetProblem: They are not what their names say.
    """
    if kind == CSV:
        return comma.read(folder / names[0], names[0])
    return parquet.read([(name, folder / name) for name in sorted(names)], wanted)


def first_row(folder: Path, names: Sequence[str], kind: str) -> dict[str, Any]:
    """Return the first row of a dataset, with whole cells.

    Raises:
        DatasetProblem: It has none, or cannot be read.
    """
    if kind == CSV:
        return dict(comma.first_row(folder / names[0], names[0]))
    return parquet.first_row([(name, folder / name) for name in sorted(names)])
