"""Smoothing by blocks gives what the recurrence gives, and is not biased to the first value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arena_tui.theme import SeriesStyle
from arena_tui.widgets.chart.series import Series
from arena_tui.widgets.chart.smoothing import Smoother, smooth

WEIGHTS = st.one_of(st.floats(0, 0.9999), st.sampled_from([0.0, 0.01, 0.5, 0.6, 0.9, 0.99, 0.999]))
SERIES = arrays(np.float64, st.integers(0, 400), elements=st.floats(-1e9, 1e9) | st.just(math.nan))


def naive(values: np.ndarray, weight: float) -> np.ndarray:
    out, mean, power = [], 0.0, 1.0
    for value in values:
        if not math.isfinite(value):
            out.append(math.nan)
            continue
        mean = weight * mean + (1 - weight) * value
        power *= weight
        out.append(mean / (1 - power))
    return np.array(out)


@given(SERIES, WEIGHTS)
def test_it_is_the_debiased_recurrence(values: np.ndarray, weight: float) -> None:
    room = 1e-8 * np.nanmax(np.abs(values), initial=0.0) + 1e-300
    expected = naive(values, weight)
    np.testing.assert_allclose(smooth(values, weight), expected, rtol=1e-8, atol=room)


@given(SERIES, WEIGHTS, st.integers(0, 400))
def test_pieces_give_the_same_as_the_whole(values: np.ndarray, weight: float, cut: int) -> None:
    smoother = Smoother(weight)
    pieces = np.concatenate([smoother.push(values[:cut]), smoother.push(values[cut:])])
    room = 1e-8 * np.nanmax(np.abs(values), initial=0.0) + 1e-300
    np.testing.assert_allclose(pieces, smooth(values, weight), rtol=1e-8, atol=room)


@given(SERIES, WEIGHTS)
def test_it_stays_within_what_was_seen(values: np.ndarray, weight: float) -> None:
    good = values[np.isfinite(values)]
    smoothed = smooth(values, weight)
    if len(good):
        room = 1e-9 * max(1.0, float(np.abs(good).max()))
        assert np.nanmin(smoothed) >= good.min() - room
        assert np.nanmax(smoothed) <= good.max() + room
    assert np.array_equal(np.isnan(smoothed), ~np.isfinite(values))


@given(st.floats(-1e6, 1e6), WEIGHTS, st.integers(1, 3_000))
def test_a_constant_stays_itself(value: float, weight: float, count: int) -> None:
    np.testing.assert_allclose(smooth(np.full(count, value), weight), value, rtol=1e-9)


def test_the_greatest_floats_do_not_overflow() -> None:
    assert np.isfinite(smooth(np.array([1.7e308, -1.7e308] * 400), 0.9)).all()


def test_a_weight_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match="below 1"):
        Smoother(1.0)


def test_under_a_log_scale_the_logarithms_are_smoothed() -> None:
    series = Series("loss", SeriesStyle())
    series.replace([0, 1, 2, 3], [1.0, 0.0, 100.0, 10_000.0])
    np.testing.assert_allclose(
        series.track(True, 0.5).values, naive(np.array([0.0, math.nan, 2.0, 4.0]), 0.5)
    )


def test_points_that_come_later_are_smoothed_as_if_they_had_been_there() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=1_000)
    series = Series("loss", SeriesStyle())
    for start in range(0, 1_000, 130):
        series.append(np.arange(start, min(start + 130, 1_000)), values[start : start + 130])
        series.track(False, 0.9)
    np.testing.assert_allclose(series.track(False, 0.9).values, naive(values, 0.9))
