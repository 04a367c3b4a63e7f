"""A resumed run is one line: steps done again replace what was there."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arena_tui.theme import SeriesStyle
from arena_tui.widgets.chart.series import Series, as_floats, keep_latest, log_values, to_csv

POINTS = st.lists(
    st.tuples(st.integers(0, 30).map(float) | st.just(math.nan), st.floats(-9, 9)), max_size=60
)


def replayed(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """What must be left: every point wipes out all that were at its place or beyond."""
    kept: list[tuple[float, float]] = []
    for x, y in points:
        if math.isfinite(x):
            kept = [point for point in kept if point[0] < x]
            kept.append((x, y))
    return kept


def series() -> Series:
    return Series("m", SeriesStyle())


@given(POINTS)
def test_what_goes_back_replaces(points: list[tuple[float, float]]) -> None:
    x, y = keep_latest(np.array([p[0] for p in points]), np.array([p[1] for p in points]))
    assert list(zip(x.tolist(), y.tolist(), strict=True)) == replayed(points)


@given(POINTS, st.lists(st.integers(0, 60), max_size=5))
def test_it_does_not_matter_how_points_come(
    points: list[tuple[float, float]], cuts: list[int]
) -> None:
    line = series()
    bounds = [0, *sorted(cuts), len(points)]
    for start, end in itertools.pairwise(bounds):
        part = points[start:end]
        line.append([p[0] for p in part], [p[1] for p in part])
    assert list(zip(line.x.tolist(), line.y.tolist(), strict=True)) == replayed(points)


def test_what_continues_is_appended_and_what_differs_is_replaced() -> None:
    line = series()
    assert line.replace([1, 2], [5.0, math.nan])
    assert not line.replace([1, 2], [5.0, math.nan])
    smoothed = line.track(False, 0.5)
    assert line.replace([1, 2, 3], [5.0, math.nan, 7.0])
    assert line.track(False, 0.5) is smoothed
    assert line.replace([1, 2, 3], [6.0, math.nan, 7.0])
    assert line.y.tolist()[0] == 6.0
    assert line.replace([1], [6.0])
    assert len(line) == 1


def test_the_nearest_point_is_found() -> None:
    line = series()
    assert line.value_near(3) is None
    line.replace([0, 10, 20], [1.0, 2.0, 3.0])
    assert line.value_near(14) == (10.0, 2.0)
    assert line.value_near(16) == (20.0, 3.0)
    assert line.value_near(1e9) == (20.0, 3.0)
    assert line.last() == (20.0, 3.0)


def test_what_is_no_number_is_a_gap() -> None:
    np.testing.assert_equal(as_floats([1, None, "x", 2]), [1, math.nan, math.nan, 2])
    np.testing.assert_equal(as_floats(3), [3.0])
    np.testing.assert_equal(as_floats([10**400, 1]), [math.nan, 1.0])


def test_a_log_scale_has_gaps_at_and_below_zero() -> None:
    np.testing.assert_equal(
        log_values(np.array([1.0, 0.0, -5.0, 100.0, math.nan])),
        [0.0, math.nan, math.nan, 2.0, math.nan],
    )


def test_csv_has_all_points_and_empty_gaps() -> None:
    line = Series('a "name", with comma', SeriesStyle())
    line.replace([0, 1], [0.1, math.inf])
    assert to_csv([line], "steps", "loss") == (
        'series,steps,loss\n"a ""name"", with comma",0.0,0.1\n"a ""name"", with comma",1.0,\n'
    )
