"""The pyramid of extrema gives what looking at every value gives."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arena_tui.widgets.chart.columns import Column

VALUES = st.one_of(
    st.floats(-1e6, 1e6), st.sampled_from([math.nan, math.inf, -math.inf, 0.0, 1e308, -1e308])
)


def column_of(values: np.ndarray, pieces: list[int]) -> Column:
    column = Column()
    at = 0
    for piece in [*pieces, len(values)]:
        column.append(values[at : at + piece])
        at += piece
    return column


def naive(values: np.ndarray) -> tuple[float, float]:
    good = values[np.isfinite(values)]
    return (float(good.min()), float(good.max())) if len(good) else (math.nan, math.nan)


@st.composite
def grown_columns(draw: st.DrawFn) -> tuple[np.ndarray, Column]:
    """A long column, appended in pieces and now and then cut, and what it must hold."""
    seed = draw(st.integers(0, 2**32 - 1))
    size = draw(st.sampled_from([0, 1, 15, 16, 33, 300, 5_000, 20_000]))
    values = np.random.default_rng(seed).normal(0, 100, size)
    for at, value in draw(st.lists(st.tuples(st.integers(0, 19_999), VALUES), max_size=20)):
        if at < size:
            values[at] = value
    column = column_of(values, draw(st.lists(st.integers(1, 700), max_size=8)))
    if draw(st.booleans()) and size:
        keep = draw(st.integers(0, size))
        more = np.random.default_rng(seed + 1).normal(0, 1, draw(st.integers(0, 900)))
        column.truncate(keep)
        column.append(more)
        values = np.concatenate([values[:keep], more])
    return values, column


@given(grown_columns(), st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=30))
def test_extrema_of_any_ranges(grown: tuple[np.ndarray, Column], parts: list) -> None:
    values, column = grown
    starts = np.array([int(min(p) * len(values)) for p in parts], np.int64)
    ends = np.array([int(max(p) * len(values)) for p in parts], np.int64)
    lows, highs = column.extrema(starts, ends)
    for start, end, low, high in zip(starts, ends, lows, highs, strict=True):
        np.testing.assert_equal((low, high), naive(values[start:end]))
        extent = column.extent(int(start), int(end))
        np.testing.assert_equal(extent or (math.nan, math.nan), naive(values[start:end]))


@given(grown_columns(), st.integers(2, 400))
def test_extrema_of_adjoining_ranges(grown: tuple[np.ndarray, Column], count: int) -> None:
    values, column = grown
    bounds = np.linspace(0, len(values), count).astype(np.int64)
    lows, highs = column.extrema(bounds[:-1], bounds[1:])
    for at in range(count - 1):
        expected = naive(values[bounds[at] : bounds[at + 1]])
        np.testing.assert_equal((lows[at], highs[at]), expected)


@given(grown_columns(), st.floats(0, 1), st.floats(0, 1))
def test_gaps_and_outsiders_are_counted(
    grown: tuple[np.ndarray, Column], one: float, other: float
) -> None:
    values, column = grown
    start, end = int(min(one, other) * len(values)), int(max(one, other) * len(values))
    part = values[start:end]
    gaps = column.gap_counts(np.array([start]), np.array([end]))[0]
    assert gaps == np.count_nonzero(~np.isfinite(part))
    good = part[np.isfinite(part)]
    assert column.count_outside(start, end, -50.0, 120.0) == (
        np.count_nonzero(good < -50),
        np.count_nonzero(good > 120),
    )
