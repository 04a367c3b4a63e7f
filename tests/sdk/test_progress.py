"""Uploads and downloads say how far they are, and truly so."""

from __future__ import annotations

import io
import random
from pathlib import Path

from sdk_service import Service, ndjson
from starlette.responses import Response

from arena_sdk import ArenaClient
from arena_sdk._progress import Upload

COMPLETED = {"kind": "status", "status": "completed", "detail": {"validated": True}}
Told = list[tuple[int, int | None]]


def check(told: Told, total: int) -> None:
    assert len(told) > 1
    assert told == sorted(told)
    assert {of for _, of in told} == {total}
    assert told[-1][0] == total


def test_an_environment_counts_the_archive(
    service: Service, client: ArenaClient, tmp_path: Path
) -> None:
    service.on("POST", "/environments/create-and-validate", ndjson(COMPLETED))
    (tmp_path / "env.py").write_bytes(bytes(range(256)) * 2000)
    (tmp_path / "noise").write_bytes(random.Random(0).randbytes(300_000))
    told: Told = []
    client.validate_environment(
        name="e", source=tmp_path, on_progress=lambda done, total: told.append((done, total))
    )
    check(told, len(service.calls[-1].form["file"][0].content))


def test_a_folder_of_shards_counts_all_files(
    service: Service, client: ArenaClient, tmp_path: Path
) -> None:
    service.on("POST", "/datasets/create", {"is_ready": True})
    for name in ("a", "b"):
        (tmp_path / f"{name}.parquet").write_bytes(b"x" * 200_000)
    told: Told = []
    client.create_dataset(
        name="d",
        category="sft",
        column_mapping={"prompt": "p", "target": "t"},
        file=tmp_path,
        on_progress=lambda done, total: told.append((done, total)),
    )
    check(told, 400_000)
    assert sum(len(part.content) for part in service.calls[-1].form["file"]) == 400_000


def test_a_download_ends_with_all_of_it(
    service: Service, client: ArenaClient, tmp_path: Path
) -> None:
    service.on(
        "GET", "/experiments/metrics", lambda request: Response("a,b\n1,2\n", media_type="text/csv")
    )
    told: Told = []
    path = client.download_experiment_metrics(
        "e", tmp_path / "m.csv", on_progress=lambda done, total: told.append((done, total))
    )
    assert told[-1][0] == path.stat().st_size == 8


def test_what_is_sent_once_more_is_not_counted_twice() -> None:
    told: Told = []
    file = Upload(lambda done, total: told.append((done, total))).file(io.BytesIO(b"x" * 10))
    file.read(6)
    file.seek(0)
    while file.read(4):
        pass
    assert told == [(6, 10), (4, 10), (8, 10), (10, 10)]
