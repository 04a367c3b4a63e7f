"""Axes are round, within their limits and readable for any numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_tui.widgets.chart import axes
from arena_tui.widgets.chart.view import View

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE, FINITE)
def test_limits_are_a_usable_span(one: float, other: float) -> None:
    low, high = axes.widened(min(one, other), max(one, other), 0.02)
    assert low < high
    assert math.isfinite(high - low)


@given(FINITE, FINITE, st.integers(1, 20))
def test_ticks_are_within_and_few(one: float, other: float, count: int) -> None:
    low, high = axes.widened(min(one, other), max(one, other))
    places = axes.ticks(low, high, count)
    room = (high - low) * 1e-6
    assert len(places) <= max(count + 2, 6)
    assert len(places) > 1 or count == 1
    assert all(low - room <= place <= high + room for place in places)
    assert places == sorted(places)
    labels = axes.tick_labels(places)
    assert len(labels) == len(places)


@given(st.floats(-320, 305), st.floats(0.001, 300), st.integers(1, 12))
def test_log_ticks_are_within(low: float, span: float, count: int) -> None:
    high = min(low + span, 307.0)
    if low < high:
        places = axes.log_ticks(low, high, count)
        assert all(low - 1e-6 <= place <= high + 1e-6 for place in places)
        assert len(axes.log_labels(places)) == len(places)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (1234.0, "1234"), (12_345.0, "12.35k"), (1.25e6, "1.25M"), (3e-4, "0.0003"),
        (1.2e-7, "1.2e-7"), (-0.5, "-0.5"), (107.91, "107.9"), (math.nan, "NaN"),
        (math.inf, "∞"), (-math.inf, "-∞"), (1e20, "1e20"), (999_999.0, "1M"),
    ],
)  # fmt: skip
def test_numbers_are_short(value: float, text: str) -> None:
    assert axes.si_number(value) == text


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 300_000, ["0", "100k", "200k", "300k"]),
        (-1, 1, ["-1", "-0.5", "0", "0.5", "1"]),
        (1_000_000, 1_000_004, ["1M", "1.000001M", "1.000002M", "1.000003M", "1.000004M"]),
    ],
)
def test_tick_labels_tell_neighbours_apart(low: float, high: float, labels: list[str]) -> None:
    assert axes.tick_labels(axes.ticks(low, high, 4)) == labels


def test_log_labels_are_the_values() -> None:
    assert axes.log_labels(axes.log_ticks(-3, 2, 6)) == ["0.001", "0.01", "0.1", "1", "10", "100"]
    assert axes.log_labels(axes.log_ticks(0, 1, 4)) == ["1", "2", "5", "10"]


def test_time_labels_are_times_of_day_in_utc() -> None:
    start = 1_764_633_600.0  # 2025-12-02 00:00 UTC
    places = axes.time_ticks(start, start + 7200, 4)
    assert axes.time_labels(places) == ["12-02", "00:30", "01:00", "01:30", "02:00"]


def test_far_outliers_are_left_out_and_near_ones_stay() -> None:
    values = np.concatenate([np.linspace(-1, 1, 100), [900.0]])
    low, high = axes.fences(values, (-1.0, 900.0))
    assert low == -1.0
    assert 1.0 < high < 10.0
    assert axes.fences(np.linspace(-1, 1, 100), (-1.0, 1.0)) == (-1.0, 1.0)
    # More than half of the values are equal: no spread to judge by.
    assert axes.fences(np.array([0.0] * 90 + [1.0] * 10), (0.0, 1.0)) == (0.0, 1.0)


# The view ----------------------------------------------------------------------------------


def test_a_view_follows_the_latest_point_as_wide_as_it_was_zoomed() -> None:
    view = View()
    assert view.window((0, 100)) == (0, 100)
    view.zoom(0.5, (0, 100))
    assert view.window((0, 100)) == (50, 100)
    assert view.window((0, 300)) == (250, 300)
    view.reset()
    assert view.window((0, 300)) == (0, 300)


def test_a_held_view_stays() -> None:
    view = View()
    view.hold((0, 100))
    assert view.window((0, 500)) == (0, 100)
    view.resume()
    assert view.window((0, 500)) == (0, 500)


def test_zooming_around_a_place_keeps_it_where_it_is() -> None:
    view = View()
    view.zoom(0.5, (0, 100), at=20)
    assert view.window((0, 100)) == (10, 60)
    assert not view.follow


def test_panning_stops_at_the_ends_and_follows_again_at_the_latest() -> None:
    view = View()
    view.zoom(0.2, (0, 100))
    view.pan(-0.5, (0, 100))
    assert view.window((0, 100)) == (70, 90)
    for _ in range(20):
        view.pan(-0.5, (0, 100))
    assert view.window((0, 100)) == (0, 20)
    for _ in range(20):
        view.pan(0.5, (0, 100))
    assert view.follow
    assert view.window((0, 130)) == (110, 130)


@given(st.lists(st.tuples(st.sampled_from("zpfhr"), st.floats(-2, 2)), max_size=30))
def test_no_sequence_of_keys_makes_a_view_unusable(keys: list[tuple[str, float]]) -> None:
    view, extent = View(), (5.0, 1_000.0)
    for key, value in keys:
        if key == "z":
            view.zoom(2.0**value, extent, 500 * value if value > 0 else None)
        elif key == "p":
            view.pan(value, extent)
        elif key == "f":
            view.resume()
        elif key == "h":
            view.hold(extent)
        else:
            view.reset()
        left, right = view.window(extent)
        assert left < right
        assert left <= 1_000.0
        assert right >= 5.0
