"""The rules of charts on whole pictures: nothing is lost, hidden silently, or smoothed too late."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual import events

from arena_tui.plotstyle import ASCII, BLOCK, BRAILLE
from arena_tui.theme import SeriesStyle, numbered_style
from arena_tui.widgets.chart import Chart
from arena_tui.widgets.chart.decimate import decimate
from arena_tui.widgets.chart.legend import Entry, legend_lines
from arena_tui.widgets.chart.parts import Options, Picture
from arena_tui.widgets.chart.picture import draw
from arena_tui.widgets.chart.series import Series, log_values
from arena_tui.widgets.chart.smoothing import smooth
from arena_tui.widgets.chart.status import status_text
from arena_tui.widgets.chart.view import View

STYLES = st.sampled_from([BRAILLE, BLOCK, ASCII])
WIDTHS, HEIGHTS = st.integers(20, 120), st.integers(8, 40)


@st.composite
def noisy(draw: st.DrawFn, most: int = 2_000, gaps: bool = True, positive: bool = False) -> Series:
    """A long line with spikes and gaps."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.integers(2, most))
    y = rng.normal(0, 1, size)
    spikes = rng.random(size) < draw(st.sampled_from([0.0, 0.01, 0.2]))
    y[spikes] *= 10.0 ** rng.integers(1, 6)
    if positive:
        y = np.exp(np.clip(y, -30, 30))
    if gaps:
        y[rng.random(size) < draw(st.sampled_from([0.0, 0.02, 0.5]))] = np.nan
    line = Series("run", SeriesStyle())
    line.replace(np.cumsum(rng.integers(1, 9, size)), y)
    return line


def rows_of(picture: Picture) -> list[str]:
    return ["".join(text for text, _ in line) for line in picture.lines]


def plot_of(picture: Picture) -> list[str]:
    """Return the cells of the plot itself."""
    rows = rows_of(picture)[picture.top : picture.top + picture.height]
    return [row.ljust(picture.left + picture.width)[picture.left :] for row in rows]


@given(noisy(), st.sampled_from([0.6, 0.9, 0.99]), WIDTHS, HEIGHTS, STYLES)
def test_a_line_is_smoothed_before_it_is_decimated(line, weight, width, height, style):
    size = (width, height)
    options = Options(smoothing=weight, legend=False, style=style)
    behind = Series("raw", SeriesStyle(faint=True))
    behind.replace(line.x, line.y)
    ready = Series("smoothed", SeriesStyle())
    ready.replace(line.x, smooth(line.y, weight))
    plain = Options(legend=False, style=style)
    drawn = draw([line], View(), (), options, *size)
    assert drawn.lines == draw([behind, ready], View(), (), plain, *size).lines


@given(noisy(positive=True), st.sampled_from([0.6, 0.97]), st.integers(2, 200))
def test_under_a_log_scale_the_logarithms_are_smoothed_and_then_decimated(line, weight, columns):
    left, right = float(line.x[0]), float(line.x[-1])
    buckets = decimate(line.x, line.track(True, weight), left, right, columns)
    whole = smooth(log_values(line.y), weight)
    edges = left + (right - left) * (np.arange(columns + 1) / columns)
    place = np.minimum(np.searchsorted(edges, line.x, side="right") - 1, columns - 1)
    for column in range(columns):
        values = whole[place == column]
        values = values[np.isfinite(values)]
        seen = (buckets.low[column], buckets.high[column])
        expected = (values.min(), values.max()) if len(values) else (np.nan, np.nan)
        np.testing.assert_allclose(seen, expected, rtol=1e-9, atol=1e-9)


@given(noisy(), WIDTHS, HEIGHTS, st.floats(0, 1), st.floats(0.01, 1))
def test_what_is_off_the_scale_is_counted_and_marked(line, width, height, start, share):
    whole = float(line.x[-1] - line.x[0])
    left = float(line.x[0]) + start * whole * 0.9
    view = View(follow=False, held=(left, left + share * whole + 1))
    picture = draw([line], view, (), Options(clip=True, legend=False), width, height)
    low, high = picture.limits
    inside = (line.x >= view.held[0]) & (line.x <= view.held[1]) & np.isfinite(line.y)
    assert picture.above == np.count_nonzero(line.y[inside] > high)
    assert picture.below == np.count_nonzero(line.y[inside] < low)
    words = status_text(picture, view, Options(clip=True))
    if picture.above:
        assert f"{BRAILLE.up}{picture.above}" in words
        assert BRAILLE.up in plot_of(picture)[0]
    if picture.below:
        assert f"{BRAILLE.down}{picture.below}" in words
        assert BRAILLE.down in plot_of(picture)[-1]
    whole_picture = draw([line], view, (), Options(legend=False), width, height)
    low, high = whole_picture.limits
    assert ((line.y[inside] >= low) & (line.y[inside] <= high)).all()
    assert (whole_picture.above, whole_picture.below) == (0, 0)


@given(noisy(most=400), WIDTHS, HEIGHTS, STYLES)
def test_what_is_no_number_is_counted_and_marked_at_its_place(line, width, height, style):
    picture = draw([line], View(), (), Options(legend=False, style=style), width, height)
    missing = line.x[~np.isfinite(line.y)]
    assert picture.gaps == len(missing)
    columns = {picture.column(x) - picture.left for x in missing}
    foot = plot_of(picture)[-1]
    for column in columns:
        # A gap at the edge of a cell may be drawn in the next dot, which is the next cell's.
        assert style.gap in foot[max(0, column - 1) : column + 2]
    assert (style.text("×") in status_text(picture, View(), Options(style=style))) == bool(columns)


@given(
    st.floats(-1e12, 1e12), st.floats(1e-12, 1e12), st.booleans(), st.booleans(), STYLES,
    WIDTHS, HEIGHTS, st.integers(0, 20),
)  # fmt: skip
def test_one_point_is_drawn_as_a_point(x, y, log, smoothed, style, width, height, number):
    line = Series("run", numbered_style(number))
    line.replace([x], [y])
    weight = 0.9 if smoothed else 0.0
    options = Options(log=log, smoothing=weight, legend=False, style=style)
    picture = draw([line], View(), (), options, width, height)
    cells = "".join(plot_of(picture))
    marker = style.markers[numbered_style(number).marker]
    assert cells.count(marker) == 1
    assert not cells.replace(marker, "").strip()


ENTRIES = st.lists(
    st.builds(
        Entry,
        st.just("●"),
        st.text("abcdefgh-_ 日", min_size=1, max_size=40),
        st.sampled_from(["1", "12.5", "1.25M", "-3e-7"]),
        st.just(16),
    ),
    min_size=1,
    max_size=20,
)


@example([Entry("●", "______", "12.5", 16)] * 3, 16, 2, BRAILLE)
@given(ENTRIES, st.integers(16, 160), st.integers(1, 6), st.sampled_from([BRAILLE, BLOCK]))
def test_a_legend_fits_and_says_how_many_it_leaves_out(entries, width, lines, style):
    rows = legend_lines(entries, width, lines, style, 0)
    assert len(rows) <= lines
    texts = ["".join(text for text, _ in row) for row in rows]
    assert all(cell_len(text) <= width for text in texts)
    shown = sum(text.count("●") for text in texts)
    left_out = len(entries) - shown
    assert not left_out or texts[-1].endswith(f"+{left_out}")
    names = [text for row in rows for text, ink in row if ink == 16]
    for entry, name in zip(entries, names, strict=False):
        said = name.removeprefix("● ").rstrip(" ")
        if "…" in said:
            start, _, end = said.partition("…")
            assert entry.label.startswith(start)
            assert entry.label.rstrip(" ").endswith(end)


async def wheel(chart: Chart, kind: type[events.MouseScrollUp], column: int) -> None:
    region = chart.region
    x, y = region.x + column, region.y + 5
    nothing: dict[str, Any] = dict.fromkeys(("shift", "meta", "ctrl"), False)
    event = kind(
        chart, column, 5, 0, 0, button=0, **nothing, screen_x=x, screen_y=y
    )  # fmt: skip
    chart.post_message(event)


@pytest.mark.parametrize("column", [20, 60])
async def test_the_wheel_zooms_where_the_pointer_is(stage, column):
    chart = Chart("loss")
    chart.set_series("0", "run", np.arange(1001), np.arange(1001))
    async with stage(chart).run_test(size=(80, 24)) as pilot:
        await pilot.pause(0.15)
        place = chart.place_at(column - 1)
        await wheel(chart, events.MouseScrollUp, column)
        await pilot.pause()
        left, right = chart.window
        assert right - left == pytest.approx(800)
        assert chart.place_at(column - 1) == pytest.approx(place, abs=1)
        assert not chart.follow
        for _ in range(3):
            await wheel(chart, events.MouseScrollDown, column)
        await pilot.pause()
        assert chart.window == (0, 1000)
