"""The output sink: what each format prints, and that nothing from outside changes a terminal."""

from __future__ import annotations

import csv
import io
import json
import re

import click
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from arena_sdk.cli.output import Sink, as_row, table_lines, with_sink
from arena_sdk.cli.watch import Watcher
from arena_sdk.text import safe_text, shorten_middle, shorten_words

ROWS = [
    {"name": "a", "fitness": 1.5, "tags": ["x", "y"], "done": True},
    {"name": "b" * 300, "fitness": None, "tags": [], "done": False},
]
COLUMNS = ("name", "fitness")


@click.command()
@with_sink
def show(sink: Sink) -> None:
    sink.rows(ROWS, COLUMNS)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(show, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_json_is_one_document_with_every_key() -> None:
    assert json.loads(run("-o", "json")) == ROWS


def test_ndjson_is_a_document_a_line() -> None:
    assert [json.loads(line) for line in run("-o", "ndjson").splitlines()] == ROWS


def test_yaml_parses_to_the_same_rows() -> None:
    assert yaml.safe_load(run("-o", "yaml")) == ROWS


def test_csv_has_the_columns_of_the_table() -> None:
    parsed = list(csv.DictReader(io.StringIO(run("-o", "csv"))))
    assert [row["name"] for row in parsed] == ["a", "b" * 300]
    assert list(parsed[0]) == list(COLUMNS)


def test_table_truncates_nothing() -> None:
    lines = run().splitlines()
    assert lines[0].split() == ["NAME", "FITNESS"]
    assert lines[2].startswith("b" * 300)


def test_columns_choose_and_order() -> None:
    assert json.loads(run("-o", "json", "--columns", "done,name"))[0] == {"done": True, "name": "a"}


def test_unknown_column_names_those_that_there_are() -> None:
    result = CliRunner().invoke(show, ["--columns", "fitnes"])
    assert result.exit_code == 2
    assert "'fitnes'" in result.output
    assert "fitness" in result.output


def test_quiet_prints_the_first_column_only() -> None:
    assert run("-q").splitlines() == ["a", "b" * 300]


def test_non_finite_numbers_are_text_in_json() -> None:
    @click.command()
    @with_sink
    def odd(sink: Sink) -> None:
        sink.rows([{"x": float("nan"), "y": float("-inf")}], ("x", "y"))

    result = CliRunner().invoke(odd, ["-o", "json"])
    assert json.loads(result.stdout) == [{"x": "NaN", "y": "-Infinity"}]


@pytest.mark.parametrize(
    "hostile", ["\x1b[31mred", "\x1b]52;c;aGk=\x07", "a\u202eb", "a\u200bb", "x\ny", "\x9b1m"]
)
def test_hostile_text_cannot_change_the_terminal(hostile: str) -> None:
    heading, line = table_lines([{hostile: hostile}], (hostile,), (hostile,))
    assert heading.isprintable()
    assert line.isprintable()


@given(st.text())
def test_safe_text_is_printable_and_keeps_what_was_harmless(text: str) -> None:
    safe = safe_text(text)
    assert not any(character in safe for character in "\x1b\x07\n\r\x9b\u202e\u200b")
    if text.isascii() and text.isprintable():
        assert safe == text


@given(st.text(min_size=1, max_size=60), st.integers(1, 60))
def test_shortening_keeps_both_ends(text: str, width: int) -> None:
    short = shorten_middle(text, width)
    assert len(short) == min(len(text), width)
    if width >= 3:
        assert short[0] == text[0]
        assert short[-1] == text[-1]


@given(st.text(), st.integers(5, 200))
def test_long_words_are_cut_and_others_kept(text: str, width: int) -> None:
    short = shorten_words(text, width)
    assert all(len(word) <= width for word in re.split(r"\s", short))
    if all(len(word) <= width for word in re.split(r"\s", text)):
        assert short == text


def test_a_lost_connection_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    watcher = Watcher("run", None, chart=False)
    for state in ("live", "reconnecting", "reconnecting", "live"):
        watcher.connection(state)
    assert capsys.readouterr().err.splitlines() == [
        "The connection is lost; trying to get it back…",
        "Connected again.",
    ]


def test_wide_and_combining_characters_keep_columns_straight() -> None:
    rows = [
        {"name": "数据", "x": "a"},
        {"name": "e\u0301t\u00e9", "x": "b"},
        {"name": "abcd", "x": "c"},
    ]
    assert table_lines(rows, ("name", "x")) == [
        "NAME  X", "数据  a", "e\u0301t\u00e9   b", "abcd  c",
    ]  # fmt: skip


def test_an_answer_of_the_client_is_printed_as_the_document_that_it_is() -> None:
    from arena_sdk.agents import SessionDetail

    @click.command()
    @with_sink
    def answer(sink: Sink) -> None:
        sink.one(as_row(SessionDetail.read({"session_id": "s", "messages": [{"role": "user"}]})))

    document = json.loads(CliRunner().invoke(answer, ["-o", "json"]).stdout)
    assert document["session_id"] == "s"
    assert document["messages"][0]["role"] == "user"


def test_what_is_nested_in_a_thing_has_lines_of_its_own_in_a_table() -> None:
    thing = {"name": "a", "manifest": {"lr": 0.5, "mutation": {"kinds": [1, 2], "none": {}}}}

    @click.command()
    @with_sink
    def one(sink: Sink) -> None:
        sink.one({**thing, "checks": [{"check": "Step", "success": True}]})

    assert [line.split(maxsplit=1) for line in CliRunner().invoke(one).stdout.splitlines()] == [
        ["name", "a"],
        ["manifest.lr", "0.5"],
        ["manifest.mutation.kinds", "[1, 2]"],
        ["manifest.mutation.none", "{}"],
        ["checks[0]", '{"check": "Step", "success": true}'],
    ]
    assert (
        json.loads(CliRunner().invoke(one, ["-o", "json"]).stdout)["manifest"] == thing["manifest"]
    )
