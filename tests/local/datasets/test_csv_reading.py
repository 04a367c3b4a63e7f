"""CSV files: what is read of good ones, and what is said of bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_sdk.local.datasets import comma
from arena_sdk.local.datasets.problems import DatasetProblem
from arena_sdk.local.datasets.table import PREVIEW_ROWS, Table


def read(folder: Path, content: bytes) -> Table:
    path = folder / "data.csv"
    path.write_bytes(content)
    return comma.read(path, "data.csv")


def refusal(folder: Path, content: bytes) -> str:
    with pytest.raises(DatasetProblem) as caught:
        read(folder, content)
    return str(caught.value)


def test_rows_columns_and_the_first_rows(tmp_path: Path) -> None:
    table = read(tmp_path, b"prompt,completion\na,b\nc,d\n")
    assert table.num_rows == 2
    assert [column["name"] for column in table.columns] == ["prompt", "completion"]
    assert table.preview == [
        {"prompt": "a", "completion": "b"},
        {"prompt": "c", "completion": "d"},
    ]


def test_quoted_cells_hold_commas_quotes_and_line_ends(tmp_path: Path) -> None:
    table = read(tmp_path, b'q,a\r\n"one, ""two""\nthree",4\r\n\r\n5,6')
    assert table.num_rows == 2
    assert table.preview[0] == {"q": 'one, "two"\nthree', "a": "4"}


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfq,a\n1,2\n").columns[0]["name"] == "q"


def test_the_kind_of_a_column_is_the_narrowest_that_fits_all_cells(tmp_path: Path) -> None:
    content = b"i,f,b,s,e,n\n1,1,true,x,,1\n-2,2.5,False,7,,nan\n,1e3,,8,,\n"
    kinds = {c["name"]: c["type"] for c in read(tmp_path, content).columns}
    assert kinds == {
        "i": "integer",
        "f": "number",
        "b": "boolean",
        "s": "string",
        "e": "string",
        "n": "number",
    }


def test_empty_cells_are_counted_with_their_lines(tmp_path: Path) -> None:
    content = b'q,a\n1,\n"two\nlines", \n3,x\n,\n5,\n'
    found = {c["name"]: (c["empty"], c["empty_at"]) for c in read(tmp_path, content).columns}
    assert found == {"q": (1, [6]), "a": (4, [2, 4, 6])}


def test_cells_unlike_the_others_are_told_with_their_lines(tmp_path: Path) -> None:
    numbers = "".join(f"question {n},{n}\n" for n in range(40))
    content = f'q,a\n{numbers}one more,n/a\n"two\nlines",about 7\n'
    columns = {c["name"]: c for c in read(tmp_path, content.encode()).columns}
    assert columns["a"]["type"] == "string"
    assert columns["a"]["words"] == 2
    assert columns["a"]["words_at"] == [(42, "n/a"), (44, "about 7")]
    assert "words" not in columns["q"]


def test_a_column_of_text_with_some_numbers_has_nothing_odd(tmp_path: Path) -> None:
    content = "a\n" + "7\n" * 30 + "word\n" * 10
    assert "words" not in read(tmp_path, content.encode()).columns[0]
    content = "a\n" + "word\n" * 200 + "7\n" * 2_000
    assert "words" not in read(tmp_path, content.encode()).columns[0]


def test_a_column_without_a_name_gets_one(tmp_path: Path) -> None:
    names = [c["name"] for c in read(tmp_path, b",a\n0,x\n").columns]
    assert names == ["column_1", "a"]


def test_only_the_first_rows_are_shown_and_long_cells_are_cut(tmp_path: Path) -> None:
    rows = "".join(f"{number},{'x' * 5000}\n" for number in range(100))
    table = read(tmp_path, f"n,text\n{rows}".encode())
    assert table.num_rows == 100
    assert len(table.preview) == PREVIEW_ROWS
    assert len(table.preview[0]["text"]) == 500
    assert table.preview[0]["text"].endswith("…")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"q,a\n", "no row"),
        (b"q,q\n1,2\n", "two columns named 'q'"),
        (b"q,a\n1,2\n3\n", "line 3: the row has 1 cells, but the header 2"),
        (b'q,a\n1,"2\n3,4\n', "never closed"),
        (b'q,a\n1,"2"x\n', "line 2: a quoted cell goes on"),
        (b"q,a\r1,2\r", "carriage return"),
        (b"q,a\n1,caf\xe9\n", "line 2: byte 6 is not UTF-8 (0xe9)"),
        ("q,a\n1,2\n".encode("utf-16"), "UTF-16 text; save it as UTF-8"),
        (b"\x89PNG\0\0\0", "not text"),
        (b"PAR1....PAR1", "is a Parquet file"),
        (",".join(f"c{n}" for n in range(1001)).encode() + b"\n", "1,001 columns; at most 1,000"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, content: bytes, said: str) -> None:
    message = refusal(tmp_path, content)
    assert said in message
    assert message.startswith("data.csv")
    assert len(message) < 250


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=12)


@given(st.lists(st.tuples(CELL.filter(bool), CELL), min_size=1, max_size=30))
def test_whatever_is_written_is_counted(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("q", "a"))
    writer.writerows(rows)
    table = read(tmp_path_factory.mktemp("csv"), text.getvalue().encode())
    assert table.num_rows == len(rows)
    assert [(row["q"], row["a"]) for row in table.preview] == rows[:PREVIEW_ROWS]
