"""The worker that reads an uploaded dataset: what columns and how many rows it has.

Payload: `{"folder", "files": [relative path…], "kind": "csv"|"parquet", "wanted":
[column…]}`. Result: `{"columns": [{"name", "type", "empty", "empty_at"}…], "num_rows", "preview":
[row…]}`; what is empty is looked for in every column of a CSV file and in the wanted ones of
Parquet files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena_sdk.local.workers.channel import Channel, WorkerError


def main(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Read the files.

    Raises:
        WorkerError: They are not what their names say.
    """
    from arena_sdk.local.datasets.problems import DatasetProblem
    from arena_sdk.local.datasets.reading import read

    try:
        wanted = payload.get("wanted") or ()
        return read(Path(payload["folder"]), payload["files"], payload["kind"], wanted).json()
    except DatasetProblem as problem:
        raise WorkerError(str(problem), error_code="INVALID_DATASET") from None
