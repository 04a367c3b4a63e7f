"""Heat maps, bands and guides: the pure functions, and what the chart shows of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from arena_tui.plotstyle import ASCII, BLOCK, BRAILLE
from arena_tui.theme import SeriesStyle, numbered_style
from arena_tui.widgets.chart import Chart
from arena_tui.widgets.chart.heat import cell_values, gathered, levels
from arena_tui.widgets.chart.parts import HEAT_LEVELS, INK_HEAT, Options
from arena_tui.widgets.chart.picture import draw
from arena_tui.widgets.chart.raster import dithered
from arena_tui.widgets.chart.series import Band, Guide, Series
from arena_tui.widgets.chart.view import View


def series(x, y, label="m") -> Series:
    made = Series(label, SeriesStyle())
    made.replace(x, y)
    return made


def lines_of(picture) -> list[str]:
    return ["".join(text for text, _ in line) for line in picture.lines]


@pytest.mark.parametrize("seed", range(20))
def test_a_cell_shows_what_lies_between_the_extrema_of_its_stretch(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 100, 300))
    y = rng.normal(size=300)
    values, gaps = cell_values(series(x, y), False, (0.0, 100.0), 25)
    assert not gaps.any()
    for at in range(25):
        within = y[(x >= at * 4) & (x < (at + 1) * 4)]
        if len(within):
            assert within.min() <= values[at] <= within.max()


def test_a_value_lasts_until_the_next_point_and_not_beyond_the_last_one() -> None:
    values, _ = cell_values(series([0, 50], [1.0, 2.0]), False, (0.0, 100.0), 10)
    assert values[:5].tolist() == [1.0] * 5
    assert values[5] == 2.0
    assert np.isnan(values[6:]).all()


def test_a_gap_is_told_and_has_no_value() -> None:
    values, gaps = cell_values(series([0, 1, 2, 3], [1, np.nan, 3, 4]), False, (0.0, 4.0), 4)
    assert gaps.tolist() == [0, 1, 0, 0]
    assert np.isnan(values[1])


@pytest.mark.parametrize("seed", range(10))
def test_more_rows_than_there_is_room_for_are_joined_by_their_mean(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(int(rng.integers(11, 60)), 7))
    rows[rng.random(rows.shape) < 0.2] = np.nan
    joined, groups = gathered(rows, 10)
    assert joined.shape == (10, 7)
    assert [g.start for g in groups[1:]] == [g.stop for g in groups[:-1]]
    assert groups[-1].stop == len(rows)
    for row, group in zip(joined, groups, strict=True):
        for at in range(7):
            known = rows[group, at][np.isfinite(rows[group, at])]
            assert np.isnan(row[at]) if not len(known) else np.isclose(row[at], known.mean())


def test_shades_grow_with_values_and_nothing_has_none() -> None:
    values = np.array([-1e308, 0.0, 1e308, np.nan])
    shade = levels(values, -1e308, 1e308, HEAT_LEVELS)
    assert shade.tolist() == [0, HEAT_LEVELS // 2, HEAT_LEVELS - 1, -1]
    assert levels(np.array([3.0]), 3.0, 3.0, HEAT_LEVELS).tolist() == [HEAT_LEVELS // 2]


@pytest.mark.parametrize("style", [BRAILLE, BLOCK, ASCII], ids=lambda s: s.name)
@pytest.mark.parametrize("size", [(30, 9), (80, 20), (5, 3), (1, 1)])
def test_a_heat_map_fits_into_any_room(style, size) -> None:
    shown = [series(np.arange(20), np.arange(20) * k, f"member {k}") for k in range(40)]
    options = Options(heat=True, style=style, crosshair=3.0)
    lines = lines_of(draw(shown, View(), (), options, *size))
    assert len(lines) == size[1]
    assert all(len(line) <= size[0] for line in lines)
    if style is ASCII:
        assert all(line.isascii() for line in lines)


def test_a_heat_map_has_a_row_for_every_member_with_its_value_at_the_crosshair() -> None:
    shown = [series([0, 10], [k, 10 * k], f"member {k}") for k in range(1, 4)]
    picture = draw(shown, View(), (), Options(heat=True, crosshair=10.0), 60, 12)
    text = "\n".join(lines_of(picture))
    for k in range(1, 4):
        assert f"member {k}" in text
        assert f" {10 * k} " in text or f" {10 * k}" in text
    inks = {ink for line in picture.lines for _, ink in line}
    assert len([ink for ink in inks if ink >= INK_HEAT]) > 3


def test_what_an_outlier_flattens_is_shown_and_counted() -> None:
    shown = [series(np.arange(50), np.append(np.arange(49.0), 1e6), "one")]
    free = draw(shown, View(), (), Options(heat=True), 80, 12)
    fenced = draw(shown, View(), (), Options(heat=True, clip=True), 80, 12)
    assert free.limits[1] == 1e6
    assert fenced.limits[1] < 1e3
    assert fenced.above == 1


def test_a_band_is_shaded_between_its_edges_and_read_in_the_legend() -> None:
    band = Band("range", numbered_style(1))
    band.replace([0, 10], [0, 0], [10, 30])
    line = series([0, 10], [5, 15], "mean")
    with_band = draw([line], View(), (), Options(), 60, 16, band=band)
    without = draw([line], View(), (), Options(), 60, 16)
    assert with_band.limits[1] > 30 > without.limits[1]
    text = "\n".join(lines_of(with_band))
    assert "range 0–30" in text
    drawn = sum(0x2800 < ord(c) <= 0x28FF for c in text)
    assert drawn > 3 * sum(0x2800 < ord(c) <= 0x28FF for c in "\n".join(lines_of(without)))


@pytest.mark.parametrize("style", [BRAILLE, BLOCK, ASCII], ids=lambda s: s.name)
def test_a_shade_is_within_its_shape_and_in_every_large_part_of_it(style) -> None:
    filled = np.ones((16, 16), bool)
    shade = dithered(filled, style)
    assert 0 < shade.sum() <= filled.sum() / 2
    assert not dithered(~filled, style).any()
    assert all(shade[row : row + 4, at : at + 4].any() for row in range(13) for at in range(13))


def test_a_guide_near_the_lines_is_drawn_and_one_far_off_is_named() -> None:
    line = series(np.arange(10), np.arange(10.0))
    near = draw([line], View(), (), Options(), 60, 14, guides=[Guide(12.0, "target")])
    assert near.limits[1] > 12
    assert any("target 12" in text for text in lines_of(near))
    far = draw([line], View(), (), Options(), 60, 14, guides=[Guide(500.0, "target")])
    assert far.limits[1] < 10
    assert far.beyond == ["target 500 ▲"]
    logged = draw([line], View(), (), Options(log=True), 60, 14, guides=[Guide(-1.0, "none")])
    assert logged.beyond == []


async def test_hidden_isolated_and_pinned_series(stage: Callable) -> None:
    chart = Chart("loss")
    for at in range(3):
        chart.set_series(str(at), f"member {at}", [0, 1], [at, at])
    async with stage(chart).run_test(size=(80, 24)):
        chart.set_hidden("0", True)
        assert [s.label for s in chart.shown_series()] == ["member 1", "member 2"]
        chart.set_pinned("1", True)
        assert [s.label for s in chart.shown_series()] == ["member 2", "member 1"]
        chart.isolate("0")
        assert [s.label for s in chart.shown_series()] == ["member 0", "member 1"]
        chart.heat = True
        assert "member 0" in "\n".join(chart.render_line(y).text for y in range(20))
