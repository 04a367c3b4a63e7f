"""What is read of a Hugging Face cache: models by headers, datasets by cards and names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from huggingface_hub import constants
from safetensors import safe_open

from arena_sdk.local.datasets.problems import DatasetProblem
from arena_sdk.local.huggingface import cache, models
from arena_sdk.local.huggingface.datasets import split_files

from .hub_cache import (
    COMMIT,
    TINY_CONFIG,
    TINY_PARAMETERS,
    TINY_SHAPES,
    add_repository,
    add_tiny_model,
    block,
    safetensors,
)


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"HF_HUB_CACHE": "/a", "HF_HOME": "/b"}, "/a"),
        ({"HF_HOME": "/b", "XDG_CACHE_HOME": "/c"}, "/b/hub"),
        ({"XDG_CACHE_HOME": "/c"}, "/c/huggingface/hub"),
        ({"HF_HUB_CACHE": ""}, str(Path.home() / ".cache/huggingface/hub")),
    ],
)
def test_the_cache_is_where_the_variables_say(variables: dict[str, str], folder: str) -> None:
    assert str(cache.hub_folder(variables)) == folder


def test_the_cache_is_where_its_own_library_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert str(cache.hub_folder()) == constants.default_cache_path


def described(hub: Path, name: str) -> dict[str, object]:
    found = cache.find("models", name, hub)
    assert found is not None
    row = models.describe(found)
    assert row is not None
    return row


def test_a_model_is_described_by_its_configuration_and_headers(tmp_path: Path) -> None:
    add_tiny_model(tmp_path)
    row = described(tmp_path, "TINY/qwen-0")
    assert row["model_name"] == "tiny/Qwen-0"
    assert row["num_params"] == TINY_PARAMETERS
    assert row["max_context_length"] == 4096
    assert row["revision"] == COMMIT
    layers = row["lora_info"]
    assert layers == {
        "k_proj": [layer("model.layers.self_attn", 8, 2)],
        "q_proj": [layer("model.layers.self_attn", 8, 8)],
        "up_proj": [layer("model.layers.mlp", 8, 16)],
    }


def layer(scope: str, inside: int, outside: int) -> dict[str, object]:
    return {
        "kind": "module",
        "scope": scope,
        "type": "Linear",
        "in_features": inside,
        "out_features": outside,
        "count": 2,
    }


def test_the_header_is_read_as_the_format_s_own_library_reads_it(tmp_path: Path) -> None:
    path = add_tiny_model(tmp_path) / "model.safetensors"
    with safe_open(path, framework="numpy") as file:
        theirs = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    assert models._header(path) == theirs == TINY_SHAPES


def sharded(hub: Path, *, missing: bool) -> dict[str, object]:
    index = {"weight_map": dict.fromkeys(block(0), "a.safetensors")}
    index["weight_map"] |= dict.fromkeys(block(1), "b.safetensors")
    files = {
        "config.json": json.dumps(TINY_CONFIG).encode(),
        "model.safetensors.index.json": json.dumps(index).encode(),
        "a.safetensors": safetensors(block(0)),
        "b.safetensors": safetensors(block(1)),
    }
    if missing:
        del files["b.safetensors"]
    add_repository(hub, "models", "tiny/sharded", files)
    return described(hub, "tiny/sharded")


def test_shards_are_counted_together(tmp_path: Path) -> None:
    assert sharded(tmp_path, missing=False)["num_params"] == TINY_PARAMETERS - 80


def test_a_model_half_downloaded_has_no_count(tmp_path: Path) -> None:
    row = sharded(tmp_path, missing=True)
    assert (row["num_params"], row["lora_info"]) == (None, None)


@pytest.mark.parametrize(
    "weights",
    [b"", b"\xff" * 16, b"\x10\0\0\0\0\0\0\0not json........", safetensors(TINY_SHAPES)[:-1]],
)
def test_damaged_weights_have_no_count(tmp_path: Path, weights: bytes) -> None:
    files = {"config.json": json.dumps(TINY_CONFIG).encode(), "model.safetensors": weights}
    add_repository(tmp_path, "models", "tiny/broken", files)
    assert described(tmp_path, "tiny/broken")["num_params"] is None


def test_what_describes_no_model_is_left_out(tmp_path: Path) -> None:
    add_repository(tmp_path, "models", "a/empty", {"README.md": b"x"})
    add_repository(tmp_path, "models", "a/list", {"config.json": b"[]"})
    add_repository(tmp_path, "models", "a/deep", {"config.json": b"[" * 100_000})
    (tmp_path / "models--a--none").mkdir()
    found = cache.repositories("models", tmp_path)
    assert [r.name for r in found] == ["a/deep", "a/empty", "a/list"]
    assert [models.describe(r) for r in found] == [None, None, None]


def test_an_absent_cache_holds_nothing(tmp_path: Path) -> None:
    assert cache.repositories("models", tmp_path / "nowhere") == []


def test_the_configuration_of_the_text_part_counts(tmp_path: Path) -> None:
    config = {"model_type": "vlm", "text_config": {"max_position_embeddings": 77}}
    add_repository(tmp_path, "models", "a/vlm", {"config.json": json.dumps(config).encode()})
    assert described(tmp_path, "a/vlm")["max_context_length"] == 77


def test_main_is_the_revision_that_is_read(tmp_path: Path) -> None:
    add_repository(tmp_path, "models", "a/b", {"config.json": b'{"model_type": "old"}'}, "1" * 40)
    add_repository(tmp_path, "models", "a/b", {"config.json": b'{"model_type": "new"}'}, "2" * 40)
    (tmp_path / "models--a--b" / "refs" / "main").write_text("1" * 40)
    assert described(tmp_path, "a/b")["model_type"] == "old"


CARD = """---
configs:
- config_name: main
  data_files:
  - split: train
    path: main/train-*
  - split: test
    path: main/test-*
- config_name: socratic
  data_files:
  - split: train
    path: socratic/train-*
---
# A card
"""
PARTS = (
    "main/train-00000-of-00002.parquet",
    "main/train-00001-of-00002.parquet",
    "main/test-00000-of-00001.parquet",
    "socratic/train-00000-of-00001.parquet",
)


def names(hub: Path, config: str | None, split: str | None) -> list[str]:
    found = cache.find("datasets", "o/d", hub)
    assert found is not None
    return [str(path) for path in split_files(found, config, split)]


@pytest.mark.parametrize("card", [CARD, "", "---\nconfigs: [3]\n---\n", "---\n{\n---\n"])
def test_files_of_a_split_by_card_or_by_name(tmp_path: Path, card: str) -> None:
    files = {name: name.encode() for name in PARTS} | {"README.md": card.encode()}
    add_repository(tmp_path, "datasets", "o/d", files)
    assert names(tmp_path, "main", "train") == list(PARTS[:2])
    assert names(tmp_path, "socratic", None) == [PARTS[3]]
    with pytest.raises(DatasetProblem, match=r"more than one configuration.*main, socratic"):
        names(tmp_path, None, "train")
    with pytest.raises(DatasetProblem, match=r"no configuration 'other'.*main, socratic"):
        names(tmp_path, "other", "train")
    with pytest.raises(DatasetProblem, match="no split 'dev'; there are: "):
        names(tmp_path, "main", "dev")
    with pytest.raises(DatasetProblem, match="more than one split"):
        names(tmp_path, "main", None)


def test_the_only_configuration_needs_no_name(tmp_path: Path) -> None:
    add_repository(tmp_path, "datasets", "o/d", {"data/train-0.parquet": b"", "test.csv": b""})
    assert names(tmp_path, None, "train") == ["data/train-0.parquet"]
    assert names(tmp_path, "default", "test") == ["test.csv"]


def test_a_dataset_in_other_formats_is_said_so(tmp_path: Path) -> None:
    add_repository(tmp_path, "datasets", "o/d", {"train.jsonl": b"{}"})
    with pytest.raises(DatasetProblem, match=r"no \.parquet or \.csv file"):
        names(tmp_path, None, None)
