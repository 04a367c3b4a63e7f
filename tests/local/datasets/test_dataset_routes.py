"""Datasets over HTTP: taken in, listed, shown, refused with nothing left, deleted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient

from arena_sdk.local.app import create_app
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.services import dataset_files
from tests.local.conftest import ArenaServer, end_arena, start_arena
from tests.local.huggingface.hub_cache import add_repository

CSV = b"prompt,completion\n1+1?,2\n2+2?,4\n"
MAPPING = {"question": "prompt", "answer": "completion"}


def parquet(folder: Path, rows: int = 2) -> bytes:
    path = folder / "made.parquet"
    columns = {"prompt": [f"q{n}" for n in range(rows)], "completion": ["a"] * rows}
    pq.write_table(pa.table(columns), path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def arena_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArenaServer]:
    """An Arena on a machine whose Hugging Face cache holds one dataset."""
    folder = tmp_path_factory.mktemp("hub")
    data = parquet(folder, rows=3)
    add_repository(folder / "hub", "datasets", "openai/gsm8k", {"main/train-0.parquet": data})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HOME", str(folder))
        patch.delenv("HF_HUB_CACHE", raising=False)
        server = start_arena(tmp_path_factory.mktemp("arena"))
    yield server
    end_arena(server)


def create(
    api: httpx.Client, name: str, *files: tuple[str, bytes, str], **fields: str
) -> httpx.Response:
    given = {
        "name": name,
        "category": "reasoning",
        "column_mapping": json.dumps(MAPPING),
        **fields,
    }
    parts: list[Any] = [(key, (None, value.encode())) for key, value in given.items()]
    return api.post("/datasets/create", files=parts + [("file", file) for file in files])


def folders(server: ArenaServer) -> list[Path]:
    return list((server.data_dir / "datasets").iterdir())


def test_a_csv_file_is_kept_as_it_was_uploaded(
    api: httpx.Client, arena_server: ArenaServer
) -> None:
    made = create(api, "sums", ("data.csv", CSV, "text/csv"), description="small ones")
    assert made.status_code == 200, made.text
    row = made.json()
    assert set(row) == {
        "id", "name", "version", "hf_dataset_id", "category", "description", "num_rows", "columns",
        "size_mb", "is_ready", "uploaded", "created_at", "column_mapping",
    }  # fmt: skip
    assert (row["num_rows"], row["columns"]) == (2, ["prompt", "completion"])
    assert (row["is_ready"], row["uploaded"], row["hf_dataset_id"]) == (True, True, None)
    assert row["column_mapping"] == MAPPING
    assert row in api.get("/datasets", params={"name": "", "search": ""}).json()
    assert api.get("/datasets/exists", params={"name": "sums"}).json() == {
        "exists": True,
        "id": row["id"],
        "datasetType": "reasoning",
    }
    assert CSV in [path.read_bytes() for path in arena_server.data_dir.glob("datasets/*/data.csv")]


def test_details_show_columns_files_and_first_rows(api: httpx.Client) -> None:
    create(api, "shown", ("data.csv", CSV, "text/csv"))
    found = api.get("/datasets/details", params={"name": "shown"}).json()
    assert found["columns"] == [
        {"name": "prompt", "type": "string", "empty": 0, "empty_at": []},
        {"name": "completion", "type": "integer", "empty": 0, "empty_at": []},
    ]
    assert found["size_bytes"] == len(CSV)
    sha256 = hashlib.sha256(CSV).hexdigest()
    assert found["files"] == [{"path": "data.csv", "size_bytes": len(CSV), "sha256": sha256}]
    assert found["preview"][0] == {"prompt": "1+1?", "completion": "2"}
    features = api.get("/capabilities").json()["data"]["features"]
    assert features["dataset_details"]["path"].endswith("/datasets/details")


def test_the_same_content_is_recognised_under_another_name(api: httpx.Client) -> None:
    content = CSV + b"unlike the others,1\n"
    first = create(api, "original", ("data.csv", content, "text/csv")).json()
    assert "warnings" not in first
    again = create(api, "copied", ("data.csv", content, "text/csv")).json()
    assert again["warnings"] == ["Dataset 'original' has the very same content."]
    digests = [
        api.get("/datasets/details", params={"name": name}).json()["digest"]
        for name in ("original", "copied")
    ]
    assert digests[0] == digests[1]
    assert len(digests[0]) == 64


def test_the_same_dataset_sent_again_is_recognised(
    api: httpx.Client, arena_server: ArenaServer
) -> None:
    content = CSV + b"sent twice,1\n"
    first = create(api, "twice", ("data.csv", content, "text/csv")).json()
    before = folders(arena_server)
    again = create(api, "twice", ("data.csv", content, "text/csv"))
    assert again.status_code == 200, again.text
    notes = again.json().pop("warnings")
    assert notes == ["Dataset 'twice' has this content already; nothing was changed."]
    assert (again.json()["id"], again.json()["version"]) == (first["id"], first["version"])
    assert folders(arena_server) == before
    digest = api.get("/datasets/details", params={"name": "twice"}).json()["digest"]
    assert first["version"] == digest[:12]
    other = {"question": "completion", "answer": "prompt"}
    refused = create(
        api, "twice", ("data.csv", content, "text/csv"), column_mapping=json.dumps(other)
    )
    assert refused.status_code == 409
    assert folders(arena_server) == before


def test_a_dataset_may_be_told_of_before_its_files_are_there(
    api: httpx.Client, arena_server: ArenaServer
) -> None:
    before = folders(arena_server)
    made = create(api, "planned", description="to come")
    assert made.status_code == 200, made.text
    row = made.json()
    assert (row["is_ready"], row["uploaded"], row["num_rows"]) == (False, False, 0)
    assert (row["version"], row["columns"], row["column_mapping"]) == (None, [], MAPPING)
    assert folders(arena_server) == before
    assert api.get("/datasets/exists", params={"name": "planned"}).json()["exists"] is True
    assert create(api, "planned").status_code == 409
    filled = create(api, "planned", ("data.csv", CSV + b"filled,1\n", "text/csv"))
    assert filled.status_code == 200, filled.text
    assert (filled.json()["is_ready"], filled.json()["num_rows"]) == (True, 3)
    assert len(api.get("/datasets", params={"name": "planned"}).json()) == 1


def test_what_is_only_told_of_can_be_deleted(api: httpx.Client, arena_server: ArenaServer) -> None:
    before = folders(arena_server)
    create(api, "dropped")
    assert api.request("DELETE", "/datasets/delete", json={"name": "dropped"}).status_code == 200
    assert folders(arena_server) == before
    assert api.get("/datasets/exists", params={"name": "dropped"}).json() == {"exists": False}


def test_rows_without_an_answer_are_told_with_their_lines(api: httpx.Client) -> None:
    content = b"prompt,completion\n1+1?,2\n2+2?,\n3+3?,6\n4+4?, \n"
    row = create(api, "gaps", ("data.csv", content, "text/csv")).json()
    assert row["warnings"] == [
        "2 of 4 rows have no 'answer' (column 'completion'); the first: line 3, 5."
    ]


def test_shards_keep_their_relative_paths(
    api: httpx.Client, arena_server: ArenaServer, tmp_path: Path
) -> None:
    data, kind = parquet(tmp_path), "application/vnd.apache.parquet"
    shards = [(f"en/train-{n}-of-2.parquet", data, kind) for n in range(2)]
    made = create(api, "sharded", *shards, config="en")
    assert made.status_code == 200, made.text
    assert made.json()["num_rows"] == 4
    found = api.get("/datasets/details", params={"name": "sharded"}).json()
    assert [file["path"] for file in found["files"]] == [name for name, _, _ in shards]
    assert found["config"] == "en"
    assert len(list(arena_server.data_dir.glob("datasets/*/en/train-*.parquet"))) == 2


@pytest.mark.parametrize(
    ("files", "fields", "status", "said"),
    [
        ([("../up.csv", CSV, "text/csv")], {}, 422, "leads out of the dataset"),
        ([("/abs.csv", CSV, "text/csv")], {}, 422, "leads out of the dataset"),
        ([("a.json", b"{}", "application/json")], {}, 422, "neither a .csv nor"),
        ([("a.csv", b"q,a\n1,\xff\n", "text/csv")], {}, 422, "not UTF-8"),
        ([("a.parquet", b"PAR1", "x/y")], {}, 422, "no Parquet file"),
        ([("a.csv", CSV, "text/csv")] * 2, {}, 422, "occurs twice"),
        ([("a.csv", CSV, "text/csv"), ("b.csv", CSV, "text/csv")], {}, 422, "one CSV file"),
        ([], {"column_mapping": '{"question": "q"}'}, 422, "needs 'answer'."),
        ([("a.csv", CSV, "text/csv")], {"hf_dataset_name": "o/d"}, 422, "not both"),
        ([], {"hf_dataset_name": "o/d"}, 404, "is not in this machine's Hugging Face cache"),
        ([("a.csv", CSV, "text/csv")], {"category": "poems"}, 422, "no category"),
        ([("a.csv", CSV, "text/csv")], {"column_mapping": "{"}, 422, "not valid JSON"),
        (
            [("a.csv", CSV, "text/csv")],
            {"column_mapping": '{"question": "prompt", "answer": "none"}'},
            422,
            "the columns are: prompt, completion",
        ),
        (
            [("a.csv", CSV, "text/csv")],
            {"column_mapping": '{"question": "prompt"}'},
            422,
            "needs 'answer'; the columns that can be named are: prompt, completion",
        ),
    ],
)
def test_what_is_refused_leaves_nothing(
    api: httpx.Client,
    arena_server: ArenaServer,
    files: list[tuple[str, bytes, str]],
    fields: dict[str, str],
    status: int,
    said: str,
) -> None:
    before = folders(arena_server)
    refused = create(api, "refused", *files, **fields)
    assert refused.status_code == status, refused.text
    assert said in refused.json()["message"]
    assert api.get("/datasets/exists", params={"name": "refused"}).json() == {"exists": False}
    assert folders(arena_server) == before


def test_too_many_files_are_refused(api: httpx.Client, arena_server: ArenaServer) -> None:
    before = folders(arena_server)
    refused = create(api, "many", *((f"{n}.parquet", b"", "x/y") for n in range(1001)))
    assert refused.status_code == 422
    assert "1,001 files; at most 1,000" in refused.json()["message"]
    assert folders(arena_server) == before


@pytest.mark.parametrize("name", ["", "..", "a/b", "x" * 200])
def test_a_bad_name_is_refused(api: httpx.Client, name: str) -> None:
    assert create(api, name, ("a.csv", CSV, "text/csv")).status_code == 422


def test_a_body_that_is_no_form_is_refused(api: httpx.Client) -> None:
    refused = api.post("/datasets/create", json={"name": "x"})
    assert refused.status_code == 422
    assert "multipart/form-data" in refused.json()["message"]


def test_a_taken_name_is_409_and_the_first_one_stays(
    api: httpx.Client, arena_server: ArenaServer
) -> None:
    create(api, "taken", ("a.csv", CSV, "text/csv"))
    before = folders(arena_server)
    again = create(api, "taken", ("b.csv", CSV + b"3,3\n", "text/csv"))
    assert again.status_code == 409
    assert "'taken'" in again.json()["message"]
    assert folders(arena_server) == before
    assert api.get("/datasets", params={"name": "taken"}).json()[0]["num_rows"] == 2


def test_a_dataset_of_the_hub_is_taken_from_this_machine_s_cache(api: httpx.Client) -> None:
    made = create(api, "gsm", hf_dataset_name="openai/gsm8k", hf_split="train")
    assert made.status_code == 200, made.text
    row = made.json()
    assert (row["hf_dataset_id"], row["num_rows"], row["uploaded"]) == ("openai/gsm8k", 3, False)
    refused = create(api, "gsm2", hf_dataset_name="openai/gsm8k", hf_split="test")
    assert refused.status_code == 422
    assert "no split 'test'; there are: train" in refused.json()["message"]


def test_a_search_finds_by_name_and_in_the_cache(api: httpx.Client) -> None:
    create(api, "findable", ("a.csv", CSV, "text/csv"), description="of apples")
    found = api.get("/datasets", params={"search": "APPLES"}).json()
    assert [row["name"] for row in found] == ["findable"]
    cached = api.get("/datasets", params={"search": "gsm8k"}).json()
    said = api.get("/datasets/search", params={"search": "gsm8k"}).json()
    assert said["datasets"] == cached
    assert said["warnings"] == [
        "HF_HUB_OFFLINE is set, so the Hugging Face hub was not asked; only what is on this"
        " machine was searched."
    ]
    assert [row["hf_dataset_id"] for row in cached] == ["openai/gsm8k"]
    assert api.get("/datasets", params={"search": "nothing like it"}).json() == []


def test_deleting_removes_row_and_files(api: httpx.Client, arena_server: ArenaServer) -> None:
    before = folders(arena_server)
    create(api, "doomed", ("a.csv", CSV, "text/csv"))
    gone = api.request("DELETE", "/datasets/delete", json={"name": "doomed"})
    assert gone.json() == {"name": "doomed", "deleted": True}
    assert folders(arena_server) == before
    again = api.request("DELETE", "/datasets/delete", json={"name": "doomed"})
    assert again.status_code == 404
    assert "'doomed'" in again.json()["message"]
    assert api.get("/datasets/details", params={"name": "doomed"}).status_code == 404


def test_a_full_disk_is_507_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = DataPaths(tmp_path / "data")
    paths.create()
    leftover = paths.datasets / "of-a-server-that-was-killed"
    leftover.mkdir()

    def full(*place: object) -> IO[bytes]:
        return open("/dev/full", "wb")

    monkeypatch.setattr(dataset_files, "_new_file", full)
    app = create_app(paths, "secret")
    with TestClient(app, base_url="http://127.0.0.1:1") as client:
        assert not leftover.exists()
        form = {"name": "x", "category": "reasoning", "column_mapping": json.dumps(MAPPING)}
        answer = client.post(
            "/api/cli/v1/datasets/create",
            data=form,
            files={"file": ("a.csv", CSV, "text/csv")},
            headers={"Authorization": "Bearer secret"},
        )
    assert answer.status_code == 507
    assert "disk" in answer.json()["message"]
    assert list(paths.datasets.iterdir()) == []
