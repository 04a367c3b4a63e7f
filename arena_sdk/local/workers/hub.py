"""The worker that fetches a dataset of the Hugging Face hub.

Payload: `{"name", "config", "split", "cache", "scratch"}`, see `huggingface/fetching.py`. Result:
`{"name", "folder", "files": [relative path…]}`, or `{"unreachable": why}`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena_sdk.local.workers.channel import Channel, WorkerError


def main(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Fetch it.

    Raises:
        WorkerError: There is no such dataset, or it cannot be read.
    """
    from arena_sdk.local.datasets.problems import DatasetProblem
    from arena_sdk.local.huggingface.endpoint import HubUnreachable
    from arena_sdk.local.huggingface.fetching import Wanted, fetch

    paths = {key: Path(payload[key]) for key in ("cache", "scratch")}
    try:
        found = fetch(Wanted(payload["name"], payload["config"], payload["split"], **paths))
    except HubUnreachable as problem:
        return {"unreachable": str(problem)}
    except DatasetProblem as problem:
        raise WorkerError(str(problem), error_code="INVALID_DATASET") from None
    files = [str(path) for path in found.files]
    return {"name": found.name, "folder": str(found.folder), "files": files}
