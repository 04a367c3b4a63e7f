"""Datasets of the hub: fetched from a small one, refused in one sentence, found by a search."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.local.conftest import ArenaServer, end_arena, start_arena
from tests.local.huggingface.small_hub import CONVERTED, SmallHub, small_hub

MAPPING = {"question": "q", "answer": "a"}
CARD = b"""---
configs:
- config_name: main
  data_files:
  - split: train
    path: main/train-*.parquet
  - split: test
    path: main/test-*.parquet
- config_name: socratic
  data_files: socratic/*.parquet
---
"""


def parquet(rows: int) -> bytes:
    made = pa.BufferOutputStream()
    pq.write_table(pa.table({"q": [f"{n}?" for n in range(rows)], "a": ["x"] * rows}), made)
    return bytes(made.getvalue())


@pytest.fixture(scope="module")
def hub() -> Iterator[SmallHub]:
    with small_hub() as hub:
        shards = {f"main/train-{n}-of-2.parquet": parquet(3 + n) for n in range(2)}
        rest = {"main/test-0-of-1.parquet": parquet(2), "socratic/all.parquet": parquet(9)}
        hub.add("openai/gsm8k", {"README.md": CARD, "model.bin": b"x", **shards, **rest})
        lines = "".join(json.dumps({"q": f"{n}?", "a": "x"}) + "\n" for n in range(2_500))
        hub.add("acme/lines", {"train.jsonl": lines.encode()})
        hub.add("acme/copied", {"train.jsonl": b"{}\n"})
        hub.add("acme/copied", {"default/train/0000.parquet": parquet(4)}, CONVERTED)
        hub.add("acme/gated", {"train.csv": b"q,a\n1,2\n"})
        hub.add("acme/others", {"train.csv": b"q,a\n1,2\n"})
        hub.gated.add("acme/gated")
        yield hub


@pytest.fixture(scope="module")
def arena_server(hub: SmallHub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArenaServer]:
    """An Arena whose hub is the small one."""
    server = start_arena(
        tmp_path_factory.mktemp("arena"),
        HF_HOME=str(tmp_path_factory.mktemp("hf")),
        HF_ENDPOINT=hub.url,
        HF_HUB_OFFLINE="0",
        HF_HUB_DISABLE_XET="1",
    )
    yield server
    end_arena(server)


def create(api: httpx.Client, name: str, hub_id: str, **fields: str) -> httpx.Response:
    given = {
        "name": name,
        "category": "reasoning",
        "column_mapping": json.dumps(MAPPING),
        "hf_dataset_name": hub_id,
        **fields,
    }
    parts: list[Any] = [(key, (None, value.encode())) for key, value in given.items()]
    return api.post("/datasets/create", files=parts, timeout=120)


def test_the_shards_of_one_split_are_fetched_and_kept(
    api: httpx.Client, hub: SmallHub, arena_server: ArenaServer
) -> None:
    made = create(api, "gsm", "openai/gsm8k", hf_config="main", hf_split="train")
    assert made.status_code == 200, made.text
    row = made.json()
    assert (row["hf_dataset_id"], row["num_rows"], row["uploaded"]) == ("openai/gsm8k", 7, False)
    found = api.get("/datasets/details", params={"name": "gsm"}).json()
    assert [file["path"] for file in found["files"]] == [
        "main/train-0-of-2.parquet", "main/train-1-of-2.parquet",
    ]  # fmt: skip
    fetched = "\n".join(hub.asked)
    assert "train-1-of-2" in fetched
    assert "socratic/all" not in fetched
    assert "model.bin" not in fetched
    assert list((arena_server.data_dir / "datasets").glob("*-hub")) == []


@pytest.mark.parametrize(
    ("hub_id", "fields", "said"),
    [
        ("openai/gsm8k", {}, "more than one configuration; name one of: main, socratic"),
        ("openai/gsm8k", {"hf_config": "main"}, "more than one split; name one of: train, test"),
        ("acme/nothing", {}, "The Hugging Face hub has no dataset 'acme/nothing', or it is"),
        ("acme/gated", {}, "'acme/gated' is gated: accept its terms"),
        ("a//b", {}, "'a//b' is no id of the hub; write it as owner/name"),
    ],
)
def test_what_cannot_be_fetched_is_one_sentence(
    api: httpx.Client, arena_server: ArenaServer, hub_id: str, fields: dict[str, str], said: str
) -> None:
    before = list((arena_server.data_dir / "datasets").iterdir())
    refused = create(api, "refused", hub_id, **fields)
    assert refused.status_code == 422, refused.text
    assert said in refused.json()["message"]
    assert list((arena_server.data_dir / "datasets").iterdir()) == before


def test_the_hub_s_parquet_copy_is_taken_of_other_formats(api: httpx.Client) -> None:
    made = create(api, "copied", "acme/copied", hf_split="train")
    assert made.status_code == 200, made.text
    assert made.json()["num_rows"] == 4


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("datasets") is None, reason="needs the extra hub")
def test_other_formats_are_read_by_the_library(api: httpx.Client) -> None:
    made = create(api, "lines", "acme/lines", hf_split="train")
    assert made.status_code == 200, made.text
    assert made.json()["num_rows"] == 2_500
    refused = create(api, "lines2", "acme/lines", hf_split="test")
    assert refused.status_code == 422
    assert "no split 'test'; there are: train" in refused.json()["message"]


def test_a_search_finds_what_is_on_the_hub(api: httpx.Client) -> None:
    found = api.get("/datasets", params={"search": "acme"}).json()
    names = {row["name"]: row for row in found}
    assert {"acme/others", "acme/gated"} <= set(names)
    assert (names["acme/gated"]["description"], names["acme/gated"]["is_ready"]) == (
        "Of the hub.", False,
    )  # fmt: skip
    both = api.get("/datasets/search", params={"search": "acme"}).json()
    assert both == {"datasets": found, "warnings": []}


@pytest.mark.slow
def test_without_a_hub_it_is_said_and_the_cache_is_searched(tmp_path: Path) -> None:
    gone = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": "0", "HF_HOME": str(tmp_path)}
    server = start_arena(tmp_path / "arena", **gone)
    try:
        with server.client() as api:
            refused = create(api, "x", "openai/gsm8k")
            assert refused.status_code == 404
            message = refused.json()["message"]
            assert "is not in this machine's Hugging Face cache" in message
            assert "The Hugging Face hub (http://127.0.0.1:9) cannot be reached (" in message
            assert "give its files with --file" in message
            found = api.get("/datasets/search", params={"search": "gsm"}).json()
            assert found["datasets"] == []
            (warning,) = found["warnings"]
            assert warning.startswith("The Hugging Face hub (http://127.0.0.1:9) cannot be reached")
            assert warning.endswith("; only what is on this machine was searched.")
            assert api.get("/datasets", params={"search": "gsm"}).json() == []
    finally:
        end_arena(server)
