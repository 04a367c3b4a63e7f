"""Decimation keeps every spike; the raster draws all between minimum and maximum, and no more."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_tui.plotstyle import ASCII, BLOCK, BRAILLE, PlotStyle
from arena_tui.widgets.chart.columns import Column
from arena_tui.widgets.chart.decimate import decimate, links
from arena_tui.widgets.chart.raster import Canvas, fill, pack, spans, to_rows


def column_of(values: np.ndarray) -> Column:
    column = Column()
    column.append(np.asarray(values, np.float64))
    return column


def dots_of(x: np.ndarray, y: np.ndarray, window: tuple[float, float], size: tuple[int, int]):
    rows, columns = size
    good = y[np.isfinite(y)]
    low, high = (float(good.min()), float(good.max())) if len(good) else (0.0, 1.0)
    if low == high:
        low, high = low - 1, high + 1
    top, bottom = spans(decimate(x, column_of(y), *window, columns), low, high, rows)
    return fill(top, bottom, rows)


LINES = st.builds(
    lambda seed, size, gaps: _line(seed, size, gaps),
    st.integers(0, 2**32 - 1),
    st.integers(1, 3_000),
    st.floats(0, 0.3),
)


def _line(seed: int, size: int, gaps: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.integers(1, 50, size)).astype(np.float64)
    y = rng.normal(0, 1, size)
    y[rng.random(size) < gaps] = np.nan
    return x, y


@given(LINES, st.integers(1, 200))
def test_every_spike_survives(line: tuple[np.ndarray, np.ndarray], columns: int) -> None:
    x, y = line
    buckets = decimate(x, column_of(y), float(x[0]), float(x[-1]) + 1, columns)
    good = y[np.isfinite(y)]
    if len(good):
        assert buckets.extent == (good.min(), good.max())
    else:
        assert buckets.extent is None
    assert (buckets.start, buckets.end) == (0, len(x))


@given(LINES, st.integers(2, 60), st.integers(2, 120))
def test_every_point_has_its_dot(
    line: tuple[np.ndarray, np.ndarray], rows: int, columns: int
) -> None:
    x, y = line
    window = (float(x[0]), float(x[-1]) + 1)
    dots = dots_of(x, y, window, (rows, columns))
    good = y[np.isfinite(y)]
    if not len(good):
        assert not dots.any()
        return
    low, high = (good.min(), good.max()) if good.min() < good.max() else (good[0] - 1, good[0] + 1)
    edges = window[0] + (window[1] - window[0]) * (np.arange(columns + 1) / columns)
    place = np.minimum(np.searchsorted(edges, x, side="right") - 1, columns - 1)
    row = np.floor(to_rows(y, low, high, rows) + 0.5)
    for at, up, value in zip(place, row, y, strict=True):
        if math.isfinite(value):
            assert dots[int(up), at]


@given(LINES, st.integers(2, 40), st.integers(2, 80))
def test_columns_are_filled_without_holes(
    line: tuple[np.ndarray, np.ndarray], rows: int, columns: int
) -> None:
    dots = dots_of(*line, (float(line[0][0]), float(line[0][-1]) + 1), (rows, columns))
    changes = np.count_nonzero(dots[1:] != dots[:-1], axis=0)
    assert (changes <= 2).all()


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=40), st.integers(8, 60))
def test_a_line_without_gaps_is_unbroken(values: list[float], columns: int) -> None:
    y = np.array(values)
    dots = dots_of(np.arange(len(y)) * 1.0, y, (0.0, len(y) - 1.0), (24, columns))
    assert dots.any(axis=0).all()
    for left, right in zip(dots.T[:-1], dots.T[1:], strict=True):
        # Neighbouring columns touch, at least at a corner.
        near = left.copy()
        near[1:] |= left[:-1]
        near[:-1] |= left[1:]
        assert (near & right).any()


def test_a_gap_breaks_the_line() -> None:
    y = np.array([0.0, 1.0, math.nan, 1.0, 0.0])
    buckets = decimate(np.arange(5.0), column_of(y), 0.0, 4.0, 50)
    from_x, _, to_x, _ = links(buckets)
    assert [(int(a), int(b)) for a, b in zip(from_x, to_x, strict=True)] == [(0, 12), (37, 49)]
    assert np.flatnonzero(buckets.gap).tolist() == [25]


def test_a_zoomed_line_enters_and_leaves_the_view() -> None:
    y = np.array([0.0, 10.0, 0.0])
    dots = dots_of(np.array([0.0, 10.0, 20.0]), y, (12.0, 18.0), (20, 30))
    assert dots.any(axis=0).all()


def test_nothing_is_drawn_where_all_is_off_the_scale() -> None:
    buckets = decimate(np.arange(3.0), column_of([5.0, 500.0, 5.0]), 0.0, 2.0, 3)
    top, bottom = spans(buckets, 0.0, 10.0, 20)
    dots = fill(top, bottom, 20)
    assert not dots[:, 1].any()
    # Half of the lines to it belongs to the columns beside it, cut at the edge.
    assert dots[0, 0]
    assert dots[0, 2]


@pytest.mark.parametrize("extremes", [(1.7e308, -1.7e308), (5e-324, 0.0), (1e300, 1e300)])
def test_extreme_values_draw_without_warnings(extremes: tuple[float, float]) -> None:
    y = np.array([extremes[0], extremes[1], extremes[0]])
    with np.errstate(all="raise", under="ignore"):
        buckets = decimate(np.arange(3.0), column_of(y), 0.0, 2.0, 10)
        top, bottom = spans(buckets, -1.7e308, 1.7e308, 20)
    assert fill(top, bottom, 20).any(axis=0).all()


@pytest.mark.parametrize("style", [BRAILLE, BLOCK, ASCII])
@given(data=st.data())
def test_packing_keeps_every_dot(style: PlotStyle, data: st.DataObject) -> None:
    height, width = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 9))
    seed = data.draw(st.integers(0, 2**32 - 1))
    shape = (height * style.rows, width * style.columns)
    dots = np.random.default_rng(seed).random(shape) < 0.4
    bits = pack(dots, style)
    for row in range(shape[0]):
        for column in range(shape[1]):
            bit = (row % style.rows) * style.columns + column % style.columns
            cell = bits[row // style.rows, column // style.columns]
            assert bool(cell >> bit & 1) == dots[row, column]


def test_glyphs_are_what_unicode_says() -> None:
    assert chr(BRAILLE.glyphs[0b00000001]) == "⠁"
    assert chr(BRAILLE.glyphs[0b00000010]) == "⠈"
    assert chr(BRAILLE.glyphs[0b01000000]) == "⡀"
    assert chr(BRAILLE.glyphs[255]) == "⣿"
    assert chr(BLOCK.glyphs[0b0101]) == "▌"
    assert chr(BLOCK.glyphs[15]) == "█"
    assert all(chr(code).isascii() for code in ASCII.glyphs)


def test_a_canvas_cuts_what_does_not_fit() -> None:
    canvas = Canvas(2, 5)
    canvas.put(0, 3, "abcdef", 1)
    canvas.put(1, -2, "abcdef", 2)
    canvas.put(7, 0, "no", 3)
    assert "".join(text for text, _ in canvas.runs(0)) == "   ab"
    assert "".join(text for text, _ in canvas.runs(1)) == "cdef "


def test_faint_layers_lie_beneath() -> None:
    style = BLOCK
    faint = np.array([[15, 15]], np.uint8)
    strong = np.array([[1, 0]], np.uint8)
    canvas = Canvas(1, 2)
    canvas.put_layers(0, 0, [(strong, 7, False), (faint, 9, True)], style)
    assert canvas.runs(0) == [("▘", 7), ("█", 9)]
