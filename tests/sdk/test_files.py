"""Files that answers are written to, and parts that are made of files."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from sdk_service import Service
from starlette.responses import JSONResponse, Response

from arena_sdk import (
    ArenaAPIError,
    ArenaClient,
    ArenaFileNotFoundError,
    ArenaValidationError,
    AsyncArenaClient,
)
from arena_sdk._files import shards


def offer_csv(service: Service, name: str = "m.csv") -> None:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    service.on(
        "GET",
        "/experiments/metrics",
        lambda request: Response("a\n1\n", media_type="text/csv", headers=headers),
    )


def test_metrics_are_written_whole(service: Service, client: ArenaClient, tmp_path: Path) -> None:
    offer_csv(service)
    written = client.download_experiment_metrics("e", tmp_path / "out.csv", metrics=["a"])
    assert written.read_text() == "a\n1\n"
    assert not stat.S_IMODE(written.stat().st_mode) & 0o111
    assert [
        name for name in os.listdir(tmp_path) if "arena-" in name and name != "arena-home"
    ] == []
    assert ("preview_rows", "50000") in service.calls[-1].query
    assert ("metric", "a") in service.calls[-1].query


@pytest.mark.parametrize("name", ["../../escape.csv", "/etc/escape.csv", "..\\escape.csv"])
def test_a_suggested_name_cannot_leave_the_folder(
    service: Service, client: ArenaClient, tmp_path: Path, name: str
) -> None:
    offer_csv(service, name)
    assert client.download_experiment_metrics("e", tmp_path) == tmp_path / "escape.csv"


def test_an_answer_that_is_no_csv_is_not_written(
    service: Service, client: ArenaClient, tmp_path: Path
) -> None:
    service.on("GET", "/experiments/metrics", lambda request: JSONResponse({"a": 1}))
    with pytest.raises(ArenaAPIError, match="did not come as CSV"):
        client.download_experiment_metrics("e", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_folder_that_is_not_there_is_named(
    service: Service, client: ArenaClient, tmp_path: Path
) -> None:
    offer_csv(service)
    with pytest.raises(ArenaValidationError, match="nowhere"):
        client.download_experiment_metrics("e", tmp_path / "nowhere" / "out.csv")


@pytest.mark.parametrize("which", ["source", "env_config", "requirements"])
async def test_a_missing_file_is_named_before_anything_is_sent(
    service: Service, async_client: AsyncArenaClient, tmp_path: Path, which: str
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "env.py").write_text("x")
    files = {"source": tmp_path / "src", which: tmp_path / "absent"}
    with pytest.raises(ArenaFileNotFoundError, match="absent"):
        await async_client.validate_environment(name="e", **files)
    assert service.calls == []


def test_datasets_of_shards_go_by_their_paths(
    service: Service, client: ArenaClient, tmp_path: Path
) -> None:
    service.on("POST", "/datasets/create", {"is_ready": True})
    for name in ("b/2.parquet", "a/x/1.parquet", "a/0.parquet", "a/notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    mapping = {"prompt": "q", "target": "a"}
    client.create_dataset(
        name="d", category="sft", column_mapping=mapping, file=tmp_path, config="a"
    )
    form = service.calls[-1].form
    assert [part.filename for part in form["file"]] == ["a/0.parquet", "a/x/1.parquet"]
    assert {part.content_type for part in form["file"]} == {"application/vnd.apache.parquet"}
    assert form["file"][0].content == b"a/0.parquet"


@pytest.mark.parametrize(
    ("category", "mapping", "said"),
    [
        ("other", {}, "there are: reasoning, preference, sft"),
        ("sft", {"prompt": "q"}, "'target'"),
        ("reasoning", "{half", "no JSON"),
        ("preference", "[]", "'prompt' and 'chosen' and 'rejected'"),
    ],
)
def test_a_column_mapping_is_checked_first(
    service: Service, client: ArenaClient, category: str, mapping: object, said: str
) -> None:
    with pytest.raises(ArenaValidationError, match=said):
        client.create_dataset(name="d", category=category, column_mapping=mapping)  # type: ignore[arg-type]
    assert service.calls == []


def laid_out(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"PAR1")
    return folder


def test_shards_of_a_configuration(tmp_path: Path) -> None:
    folder = laid_out(tmp_path, "x/c/a/0.parquet", "x/c/1.parquet", "x/2.parquet", ".h/3.parquet")
    assert [name for name, _ in shards(folder, "c")] == ["c/1.parquet", "c/a/0.parquet"]
    assert [name for name, _ in shards(folder, "default")] == ["2.parquet"]
    with pytest.raises(ArenaValidationError, match=r"has several configurations: c, default\."):
        shards(folder, None)
    with pytest.raises(ArenaValidationError, match=r"no configuration 'd', only these: c, default"):
        shards(folder, "d")


def test_one_configuration_needs_no_name(tmp_path: Path) -> None:
    folder = laid_out(tmp_path, "data/train-0.parquet", "data/train-1.parquet")
    assert [name for name, _ in shards(folder, None)] == ["train-0.parquet", "train-1.parquet"]
