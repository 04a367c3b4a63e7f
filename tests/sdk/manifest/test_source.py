"""Reading text: YAML's stranger sides, positions, and what is too large."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from arena_sdk.manifest import ManifestError, ManifestUnreadable, TrainingManifest
from arena_sdk.manifest.source import parse

MERGED = """\
algorithm: {name: DQN}
environment: {name: CartPole-v1}
network:
  arch: mlp
  encoder_config: &mlp {hidden_size: [64], activation: ELU}
  head_config:
    <<: *mlp
    hidden_size: [32]
"""


def test_anchors_and_merge_keys_are_followed() -> None:
    network = TrainingManifest.load(MERGED).network
    assert network.head_config.activation == "ELU"
    assert network.head_config.hidden_size == [32]


def test_a_mistake_behind_an_anchor_is_pointed_at_where_it_is_written() -> None:
    problems = TrainingManifest.validate(MERGED.replace("ELU", "elu"))
    assert {(one.line, one.column) for one in problems} == {(5, 56)}


def test_merging_several_mappings_the_first_wins() -> None:
    assert parse("a: &a {x: 1}\nb: &b {x: 2, y: 3}\nc: {<<: [*a, *b], z: 4}\n").document["c"] == {
        "x": 1, "y": 3, "z": 4,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [("1_000", 1000), ("0x10", 16), ("1.5", 1.5), ("yes", True), ("~", None), ("'5'", "5")],
)
def test_plain_values_are_those_of_yaml(text: str, value: object) -> None:
    assert parse(f"a: {text}\n").document == {"a": value}


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system [id]\n", "a: !mine 1\n", "a: !!int x\n", "? [1]\n: 2\n",
        "a: 1\n---\nb: 2\n", "a: 2024-99-99\n", "a: *b\n", "<<: 3\n", "\x01", "a: '\n", "a: @x\n",
    ],
)  # fmt: skip
def test_what_is_no_plain_yaml_is_refused_with_a_place(text: str) -> None:
    with pytest.raises(ManifestUnreadable) as caught:
        parse(text)
    assert caught.value.problems[0].line


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_bytes(b"\xef\xbb\xbfalgorithm: {name: DQN}\nenvironment: {name: e}\n")
    assert TrainingManifest.load(path).algorithm.name == "DQN"


def test_what_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_bytes(b"algorithm:\n  name: \xff\n")
    with pytest.raises(ManifestUnreadable, match="line 2"):
        TrainingManifest.load(path)


def bomb() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]\n", "a: &a\n  <<: *a\n", bomb(), "[" * 100_000, "- " * 100_000, "{a: " * 50_000,
        "a: " + "x" * (10 << 20), "\n".join(f"k{n}: {n}" for n in range(60_000)),
    ],
    ids=["itself", "merged", "bomb", "brackets", "dashes", "braces", "10MB", "keys"],
)  # fmt: skip
def test_what_would_grow_without_end_is_refused_quickly(text: str) -> None:
    start = time.process_time()
    with pytest.raises(ManifestError):
        TrainingManifest.load(text + "\n")
    assert time.process_time() - start < 2


def test_a_file_of_10_mb_is_refused_without_being_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    path.write_bytes(b"a: 1\n" * (2 << 20))
    start = time.process_time()
    with pytest.raises(ManifestUnreadable, match="more than 1 MB"):
        TrainingManifest.load(path)
    assert time.process_time() - start < 0.2


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "3\n", "- a\n", "text\nmore\n"])
def test_what_is_no_mapping_is_invalid_rather_than_unreadable(text: str, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ManifestError) as caught:
        TrainingManifest.load(path)
    assert not isinstance(caught.value, ManifestUnreadable)
    assert "manifest" in str(caught.value).lower()


def test_a_folder_is_no_manifest(tmp_path: Path) -> None:
    with pytest.raises(ManifestUnreadable, match="Is a directory"):
        TrainingManifest.load(tmp_path)
