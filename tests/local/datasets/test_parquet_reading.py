"""Parquet files: rows by their footers, the first of them as JSON, and what is said of bad ones."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arena_sdk.local.datasets import parquet
from arena_sdk.local.datasets.problems import DatasetProblem


def shard(folder: Path, name: str, columns: dict[str, Any], **options: Any) -> tuple[str, Path]:
    path = folder / name
    pq.write_table(pa.table(columns), path, **options)
    return name, path


def test_the_rows_of_all_shards_are_one_table(tmp_path: Path) -> None:
    first = shard(tmp_path, "a.parquet", {"q": ["1", "2"], "a": ["x", "y"]})
    second = shard(tmp_path, "b.parquet", {"a": ["z"], "q": ["3"]})
    table = parquet.read([first, second])
    assert table.num_rows == 3
    assert sorted(c["name"] for c in table.columns) == ["a", "q"]
    assert {c["type"] for c in table.columns} == {"string"}
    assert [row["q"] for row in table.preview] == ["1", "2", "3"]


def test_rows_are_counted_without_being_decoded(tmp_path: Path) -> None:
    name, path = shard(
        tmp_path, "a.parquet", {"q": [f"row {n}" for n in range(50_000)]}, row_group_size=1_000
    )
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 4_000] = b"\xff" * 4_000  # a page far behind the first rows
    path.write_bytes(content)
    assert parquet.read([(name, path)]).num_rows == 50_000


def test_wanted_columns_are_looked_at_in_every_row(tmp_path: Path) -> None:
    rows = 3_000
    texts = [None if n == 1_500 else " " if n == 2_999 else f"{n}" for n in range(rows)]
    talks = [[] if n == 7 else [{"role": "user", "content": "hi"}] for n in range(rows)]
    first = shard(tmp_path, "a.parquet", {"q": texts, "t": talks, "x": texts})
    second = shard(tmp_path, "b.parquet", {"q": [""], "t": talks[:1], "x": ["."]})
    table = parquet.read([first, second], ["q", "t", "absent"])
    columns = {c["name"]: c for c in table.columns}
    assert (columns["q"]["empty"], columns["q"]["empty_at"]) == (3, [1_501, 3_000, 3_001])
    assert (columns["t"]["empty"], columns["t"]["empty_at"]) == (1, [8])
    assert "empty" not in columns["x"]


def test_every_kind_of_cell_becomes_json(tmp_path: Path) -> None:
    columns = {
        "text": ["x" * 5_000],
        "bytes": [b"\0" * 1_234],
        "when": [dt.datetime(2026, 1, 2, 3, 4, 5)],
        "nested": [[{"role": "user", "content": "hi"}]],
        "nan": [float("nan")],
        "exact": [Decimal("1.50")],
        "none": pa.array([None], pa.string()),
        "flag": [True],
    }
    (row,) = parquet.read([shard(tmp_path, "a.parquet", columns)]).preview
    assert json.loads(json.dumps(row, allow_nan=False)) == {
        "text": "x" * 499 + "…",
        "bytes": "<1,234 bytes>",
        "when": "2026-01-02T03:04:05",
        "nested": '[{"role": "user", "content": "hi"}]',
        "nan": "NaN",
        "exact": "1.50",
        "none": None,
        "flag": True,
    }


def test_a_shard_with_other_columns_is_named(tmp_path: Path) -> None:
    first = shard(tmp_path, "a.parquet", {"q": ["1"]})
    second = shard(tmp_path, "b.parquet", {"other": ["1"]})
    with pytest.raises(DatasetProblem, match=r"b\.parquet has other columns \(other\) than a"):
        parquet.read([first, second])


@pytest.mark.parametrize("content", [b"", b"no parquet at all", b"PAR1" + b"\xff" * 100 + b"PAR1"])
def test_what_is_no_parquet_file_is_said_so(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.parquet"
    path.write_bytes(content)
    with pytest.raises(DatasetProblem) as caught:
        parquet.read([("bad.parquet", path)])
    assert str(caught.value).startswith("bad.parquet is no Parquet file that can be read: ")
    assert str(tmp_path) not in str(caught.value)


def test_a_cut_off_file_is_refused(tmp_path: Path) -> None:
    name, path = shard(tmp_path, "a.parquet", {"q": ["1"] * 1000})
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DatasetProblem, match="no Parquet file"):
        parquet.read([(name, path)])


def test_no_rows_are_no_dataset(tmp_path: Path) -> None:
    empty = shard(tmp_path, "a.parquet", {"q": pa.array([], pa.string())})
    with pytest.raises(DatasetProblem, match="no row"):
        parquet.read([empty])


def test_a_shard_whose_column_is_of_another_type_is_named_with_its_rows(tmp_path: Path) -> None:
    first = shard(tmp_path, "a.parquet", {"q": ["1", "2"], "a": ["x", "y"]})
    second = shard(tmp_path, "b.parquet", {"q": ["3", "4", "5"], "a": [1, 2, 3]})
    with pytest.raises(DatasetProblem, match=r"b.parquet \(rows 3 to 5\) has column 'a' as int64"):
        parquet.read([first, second])


def test_types_that_only_differ_in_storage_go_together(tmp_path: Path) -> None:
    wide = pa.array(["x"], pa.large_string())
    coded = pa.array(["x"]).dictionary_encode()
    shards = [
        shard(tmp_path, "a.parquet", {"q": pa.nulls(1), "n": pa.array([1], pa.int32())}),
        shard(tmp_path, "b.parquet", {"q": wide, "n": pa.array([1], pa.int64())}),
        shard(tmp_path, "c.parquet", {"q": coded, "n": pa.array([1], pa.uint8())}),
        shard(tmp_path, "d.parquet", {"q": ["x"], "n": pa.nulls(1)}),
    ]
    table = parquet.read(shards, ["q", "n"])
    assert [c["type"] for c in table.columns] == ["large_string", "int32"]
    assert table.num_rows == 4


def test_text_that_is_not_utf8_is_named_with_its_row(tmp_path: Path) -> None:
    raw = [b"fine"] * 2_000
    raw[1_234] = b"caf\xe9"
    texts = pa.StringArray.from_buffers(len(raw), *pa.array(raw, pa.binary()).buffers()[1:])
    first = shard(tmp_path, "a.parquet", {"q": ["x"] * 10})
    second = shard(tmp_path, "b.parquet", {"q": texts})
    with pytest.raises(DatasetProblem, match=r"b.parquet, row 1,245: the text in column 'q'"):
        parquet.read([first, second], ["q"])
