"""The colours of YAML: what each stretch is, and that no text upsets them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_tui.widgets.yaml_spans import spans_of


def kinds(line):
    return [(line[start:end], kind) for start, end, kind in spans_of(line)[0]]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("lr: 0.001", [("lr", "key"), (":", "mark"), ("0.001", "number")]),
        ("  max_steps: 20_000  # all", [
            ("max_steps", "key"), (":", "mark"), ("20_000", "number"), ("# all", "comment")]),
        ("name: Rainbow DQN", [("name", "key"), (":", "mark"), ("Rainbow DQN", "text")]),
        ("url: http://a:1/b", [("url", "key"), (":", "mark"), ("http://a:1/b", "text")]),
        ("elitism: true", [("elitism", "key"), (":", "mark"), ("true", "word")]),
        ("s: '# no: 1'", [("s", "key"), (":", "mark"), ("'# no: 1'", "quoted")]),
        ("- 1e-3", [("-", "mark"), ("1e-3", "number")]),
        ("[64, -1]", [("[", "mark"), ("64", "number"), (",", "mark"), ("-1", "number"),
                      ("]", "mark")]),
        ("# all: of it", [("# all: of it", "comment")]),
        ("{a: 1}", [("{", "mark"), ("a", "key"), (":", "mark"), ("1", "number"), ("}", "mark")]),
    ],
)  # fmt: skip
def test_a_line(line, expected):
    assert kinds(line) == expected


def test_the_lines_of_a_block_are_text():
    found = spans_of("a: |\n  b: 1\n  # no comment\nc: 2")
    assert [spans[0][2] for spans in found] == ["key", "quoted", "quoted", "key"]


@given(st.text(alphabet="ab:#-'\"[]{},|>~ 01.\n\té✓\0", max_size=60))
def test_any_text_has_spans_within_its_lines_in_order(text):
    found = spans_of(text)
    lines = text.split("\n")
    assert len(found) == len(lines)
    for line, spans in zip(lines, found, strict=True):
        at = 0
        for start, end, _ in spans:
            assert at <= start < end <= len(line)
            at = end
