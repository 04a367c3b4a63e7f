"""What is typed after `/`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_tui.filtering import FilterError, parse

ROWS = [
    {"name": "cart-dqn", "state": "running", "algorithm": "DQN", "hp": {"lr": 0.001}},
    {"name": "cart-test", "state": "failed", "algorithm": "PPO", "hp": {"lr": 0.01}},
    {"name": "lunar", "state": "running", "algorithm": "PPO", "best_fitness": 210.0},
]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ["cart-dqn", "cart-test", "lunar"]),
        ("cart", ["cart-dqn", "cart-test"]),
        ("CART dqn", ["cart-dqn"]),
        ("!cart", ["lunar"]),
        ("/^cart-[dt]/", ["cart-dqn", "cart-test"]),
        ("!/cart/", ["lunar"]),
        ("state:running", ["cart-dqn", "lunar"]),
        ("state:running algo:PPO", ["lunar"]),
        ("-name:test algo:ppo", ["lunar"]),
        ("lr>=1e-3", ["cart-dqn", "cart-test"]),
        ("lr>0.001", ["cart-test"]),
        ("fitness>200", ["lunar"]),
        ("state!=running", ["cart-test"]),
        ("cart -test", ["cart-dqn"]),
    ],
)
def test_filters(text, kept):
    keep = parse(text)
    found = [row["name"] for row in ROWS if keep is None or keep(row)]
    assert found == kept


@pytest.mark.parametrize("text", ["/(/", "lr>=fast"])
def test_what_cannot_be_understood_is_a_sentence(text):
    with pytest.raises(FilterError, match=r"\."):
        parse(text)


@given(st.text())
def test_any_text_filters_or_is_refused_but_never_breaks(text):
    try:
        keep = parse(text)
    except FilterError:
        return
    if keep is not None:
        assert all(isinstance(keep(row), bool) for row in ROWS)
