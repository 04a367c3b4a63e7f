"""Text from outside is shown, never obeyed."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from arena_tui.safetext import fit_cells, pad_cells, safe_lines, safe_text, shorten_middle

HOSTILE = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)


@given(HOSTILE)
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    for character in safe_text(text):
        assert unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


@given(HOSTILE)
def test_safe_text_is_idempotent(text: str) -> None:
    once = safe_text(text)
    assert safe_text(once) == once


@given(HOSTILE)
def test_no_character_is_without_width(text: str) -> None:
    for character in safe_text(text):
        assert cell_len(character) >= 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [b]text[/b]", "plain [b]text[/b]"),
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("a\nb\tc\x7f", "a␊b c␡"),
        ("abc\u202edef", "abc<202e>def"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("cafe\u0301", "café"),
        ("z\u0310\u0311\u0312algo", "zalgo"),
        ("\x9b31m", "<9b>31m"),
        ("日本", "日本"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert safe_text(text) == shown


def test_a_megabyte_is_cut_and_counted() -> None:
    shown = safe_text("x" * 1_000_000, limit=100)
    assert shown == "x" * 100 + "… (+999900)"


def test_what_is_not_text_is_shown_as_text() -> None:
    assert safe_text(None) == "None"
    assert safe_text(12) == "12"


def test_lines_stay_lines() -> None:
    assert safe_lines("one\ntwo\x1b[0m\r\nthree") == "one\ntwo␛[0m\nthree"


@given(HOSTILE.map(safe_text), st.integers(0, 40))
def test_shortened_text_fits(text: str, width: int) -> None:
    assert cell_len(shorten_middle(text, width)) <= width
    assert cell_len(fit_cells(text, width)) <= width
    assert cell_len(pad_cells(text, width)) == width


def test_names_are_shortened_in_their_middle() -> None:
    assert shorten_middle("merge-ppo-run-12", 9) == "merg…n-12"
    assert shorten_middle("short", 9) == "short"
