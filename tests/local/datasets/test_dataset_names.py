"""Names of uploaded files, and mappings of columns: judged before anything is kept."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from arena_sdk.local.datasets.categories import check_cells, check_mapping, parsed_mapping
from arena_sdk.local.datasets.naming import (
    check_together,
    common_kind,
    kind_of,
    of_config,
    relative_path,
)
from arena_sdk.local.datasets.problems import DatasetProblem


@pytest.mark.parametrize(
    "name",
    [
        "",
        "..",
        "../up.csv",
        "a/../../up.csv",
        "/etc/passwd.csv",
        "a\\b.csv",
        "C:\\x.csv",
        "line\nbreak.csv",
        "nul\0.csv",
        "\u202evsc.exe",
        "d/" * 20 + "x.csv",
        "x" * 300 + ".csv",
        ".",
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(DatasetProblem) as caught:
        relative_path(name)
    assert str(caught.value).isascii()
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("name", ["data.csv", "en/train-00000-of-00002.parquet", "größe ü.csv"])
def test_a_relative_name_is_kept(name: str) -> None:
    assert str(relative_path(name)) == name


@pytest.mark.parametrize(
    "names", [["a.csv", "A.CSV"], ["a.parquet", "a.parquet/b.parquet"], ["é.csv", "é.csv"]]
)
def test_files_that_would_replace_each_other_are_refused(names: list[str]) -> None:
    with pytest.raises(DatasetProblem, match="occurs twice"):
        check_together([PurePosixPath(name) for name in names])


def test_too_many_files_are_refused() -> None:
    with pytest.raises(DatasetProblem, match="1,001 files; at most 1,000"):
        check_together([PurePosixPath(f"{n}.parquet") for n in range(1001)])


@pytest.mark.parametrize(
    ("kinds", "said"),
    [([], "no file"), (["csv", "parquet"], "not both"), (["csv", "csv"], "one CSV file, not 2")],
)
def test_files_that_make_no_dataset_are_refused(kinds: list[str], said: str) -> None:
    with pytest.raises(DatasetProblem, match=said):
        common_kind(kinds)


@pytest.mark.parametrize(
    ("name", "content_type", "kind"),
    [
        ("a.CSV", None, "csv"),
        ("a.parquet", "text/csv", "parquet"),
        ("blob", "text/csv", "csv"),
        ("blob", "application/vnd.apache.parquet", "parquet"),
    ],
)
def test_the_kind_of_a_file(name: str, content_type: str | None, kind: str) -> None:
    assert kind_of(PurePosixPath(name), content_type) == kind


@pytest.mark.parametrize("name", ["a.json", "a.exe", "blob"])
def test_other_kinds_are_refused(name: str) -> None:
    with pytest.raises(DatasetProblem, match="neither"):
        kind_of(PurePosixPath(name), "text/plain")


SHARDS = [PurePosixPath(name) for name in ("en/a.parquet", "en/b.parquet", "fr/a.parquet")]


def test_a_configuration_is_the_folder_that_shards_lie_in() -> None:
    assert of_config(SHARDS, "en") == SHARDS[:2]
    assert of_config(SHARDS[:2], None) == SHARDS[:2]
    assert of_config([PurePosixPath("a.csv")], "any") == [PurePosixPath("a.csv")]
    with pytest.raises(DatasetProblem, match=r"'en', 'fr'.*name one with config"):
        of_config(SHARDS, None)
    with pytest.raises(DatasetProblem, match=r"no configuration 'de'.*'en', 'fr'"):
        of_config(SHARDS, "de")


@pytest.mark.parametrize("text", ["{", "[1]", '"q"', '{"question": 3}', "null", "[" * 100_000])
def test_a_mapping_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(DatasetProblem, match="column_mapping"):
        parsed_mapping(text)


@pytest.mark.parametrize(
    ("category", "mapping", "said"),
    [
        ("reasoning", {"question": "a"}, "needs 'answer'; the columns.*are: a, b"),
        ("preference", {}, "needs 'prompt' and 'chosen' and 'rejected'"),
        ("sft", {"prompt": "a", "target": ""}, "needs 'target'"),
        ("sft", {"prompt": "a", "target": "c"}, "'target' is in column 'c'.*are: a, b"),
        ("sft", {"prompt": "a", "target": "b", "more": "d"}, "'more' is in column 'd'"),
        (
            "sft",
            {"prompt": "a", "target": "Complition"},
            "'Complition', which is not there; did you mean 'completion'. The columns",
        ),
    ],
)
def test_a_mapping_names_columns_that_there_are(
    category: str, mapping: dict[str, str], said: str
) -> None:
    with pytest.raises(DatasetProblem, match=said):
        check_mapping(category, mapping, ["a", "b", "completion"])


def table(**columns: dict[str, object]) -> dict[str, object]:
    return {
        "kind": "parquet",
        "num_rows": 9,
        "columns": [{"name": name, **facts} for name, facts in columns.items()],
    }


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"type": "int64"}, "The column 'a', which holds 'prompt', is of the type int64, where"),
        ({"type": "binary"}, "is of the type binary, where text is needed; convert it"),
        ({"type": "list<element: int64>"}, None),
        ({"type": "string", "empty": 9, "empty_at": [1, 2, 3]}, "is empty in all rows"),
    ],
)
def test_columns_hold_text(facts: dict[str, object], said: str | None) -> None:
    found = table(a=facts)
    if said is None:
        assert check_cells({"prompt": "a"}, found) == []
        return
    with pytest.raises(DatasetProblem, match=said):
        check_cells({"prompt": "a"}, found)


@pytest.mark.parametrize("kind", ["integer", "number", "boolean"])
def test_the_cells_of_a_csv_file_are_text(kind: str) -> None:
    found = table(a={"type": kind}) | {"kind": "csv"}
    assert check_cells({"target": "a"}, found) == []


def test_an_answer_may_be_a_number_and_some_cells_may_be_empty() -> None:
    found = table(a={"type": "int64", "empty": 2, "empty_at": [4, 7]})
    assert check_cells({"answer": "a"}, found) == [
        "2 of 9 rows have no 'answer' (column 'a'); the first: row 4, 7."
    ]


def test_answers_that_are_no_numbers_as_the_others_are_told() -> None:
    found = table(a={"type": "string", "words": 2, "words_at": [[4, "n/a"], [7, "12 km"]]})
    assert check_cells({"answer": "a"}, found) == [
        "2 of 9 rows have no number for 'answer' (column 'a'), as the others have; the first:"
        " line 4 'n/a', line 7 '12 km'."
    ]
    assert check_cells({"target": "a"}, found) == []


def test_a_whole_mapping_is_fine() -> None:
    check_mapping("reasoning", {"question": "a", "answer": "b"}, ["a", "b", "c"])
