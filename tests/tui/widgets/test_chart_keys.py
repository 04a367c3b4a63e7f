"""What keys and the mouse do to a chart, and what it says of itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
import pytest
from textual.color import Color
from textual.pilot import Pilot

from arena_tui.plotstyle import ASCII
from arena_tui.widgets.chart import Chart, Mark
from arena_tui.widgets.chart.actions import ACTIONS
from arena_tui.widgets.chart.parts import INK_DIM
from arena_tui.widgets.chart_grid import ChartGrid


def text_of(chart: Chart) -> str:
    return "\n".join(chart.render_line(y).text for y in range(chart.size.height))


def status(chart: Chart) -> str:
    return chart._border_subtitle.plain if chart._border_subtitle else ""


async def settle(pilot: Pilot[None]) -> None:
    await pilot.pause(0.12)
    await pilot.pause()


@pytest.fixture
def chart() -> Chart:
    made = Chart("loss")
    made.set_series("0", "member 0", np.arange(101) * 10, np.linspace(1, 100, 101))
    made.set_series("1", "member 1", np.arange(101) * 10, np.linspace(50, 2, 101))
    return made


async def test_every_action_has_a_method_and_a_key_of_its_own() -> None:
    keys = [key for action in ACTIONS for key in action.keys.split(",")]
    assert len(keys) == len(set(keys))
    for action in ACTIONS:
        assert hasattr(Chart, f"act_{action.verb}")
    for action in ChartGrid.ACTIONS:
        assert hasattr(ChartGrid, f"act_{action.verb}")
        assert not set(action.keys.split(",")) & set(keys)


async def test_keys_change_the_view(stage: Callable, chart: Chart) -> None:
    async with stage(chart).run_test(size=(80, 24)) as pilot:
        chart.focus()
        await pilot.press("l", "z", "i")
        assert (chart.log_scale, chart.smoothing, chart.clip) == (True, 0.6, True)
        await settle(pilot)
        assert "no outliers · log · smooth 0.6" in status(chart)
        await pilot.press("full_stop")
        assert chart.window == (500, 1000)
        await pilot.press("left_square_bracket")
        assert chart.window == (375, 875)
        assert not chart.follow
        await settle(pilot)
        assert status(chart).endswith("hold")
        await pilot.press("0")
        assert chart.window == (0, 1000)
        assert chart.follow
        await pilot.press("f")
        chart.append("0", [2000], [1.0])
        assert chart.window == (0, 1000)
        await pilot.press("f")
        assert chart.window == (0, 2000)


async def test_the_crosshair_shows_the_values_there(stage: Callable, chart: Chart) -> None:
    async with stage(chart).run_test(size=(80, 24)) as pilot:
        chart.focus()
        await settle(pilot)
        assert "member 0 100" in text_of(chart)
        await pilot.press("c")
        assert chart.crosshair == 500
        await settle(pilot)
        assert "member 0 50.5" in text_of(chart)
        assert "member 1 26" in text_of(chart)
        assert "steps 500" in status(chart)
        await pilot.press("right")
        assert chart.crosshair is not None
        assert chart.crosshair > 500
        await pilot.press("left", "left")
        assert chart.crosshair < 500
        await pilot.press("c")
        assert chart.crosshair is None


async def test_the_crosshair_steps_over_wide_spaces(stage: Callable) -> None:
    chart = Chart("sparse")
    chart.set_series("0", "run", [0, 1000, 50_000], [1, 2, 3])
    async with stage(chart).run_test(size=(80, 24)) as pilot:
        chart.focus()
        places = []
        for key in ("left", "left", "left", "left", "right"):
            await pilot.press(key)
            places.append(chart.crosshair)
        assert places == [50_000, 1000, 0, 0, 1000]


async def test_one_series_after_the_other_alone(stage: Callable, chart: Chart) -> None:
    async with stage(chart).run_test(size=(80, 24)) as pilot:
        chart.focus()
        await pilot.press("v")
        await settle(pilot)
        assert "member 0" in text_of(chart)
        assert "member 1" not in text_of(chart)
        await pilot.press("v", "v")
        await settle(pilot)
        assert "member 1" in text_of(chart)
        chart.set_hidden("0", True)
        await settle(pilot)
        assert "member 0" not in text_of(chart)


async def test_outliers_are_counted_on_the_frame(stage: Callable) -> None:
    y = np.sin(np.arange(200))
    y[[20, 21]], y[50] = 900, -700
    chart = Chart("loss")
    chart.set_series("0", "run", np.arange(200), y)
    async with stage(chart).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert status(chart) == ""
        chart.clip = True
        await settle(pilot)
        assert "▲2 ▼1 off scale" in status(chart)
        assert "▲" in text_of(chart).splitlines()[1]


async def test_gaps_and_what_a_log_scale_cannot_show_are_counted(stage: Callable) -> None:
    chart = Chart("loss", log_scale=True)
    chart.set_series("0", "run", np.arange(6), [1, np.nan, 10, -3, 0, np.inf])
    async with stage(chart).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "2 not above 0" in status(chart)
        assert "×2 no number" in status(chart)
        assert text_of(chart).count("×") == 4


async def test_a_mark_is_on_the_axis_and_named_under_the_crosshair(
    stage: Callable, chart: Chart
) -> None:
    chart.set_marks([Mark(500, "lr 1e-3 → 5e-4")])
    async with stage(chart).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert text_of(chart).splitlines()[-2].count("◊") == 1
        chart.crosshair = 500
        await settle(pilot)
        assert "lr 1e-3 → 5e-4" in status(chart)


async def test_names_are_text_and_no_markup(stage: Callable) -> None:
    chart = Chart("[b]loss[/b] \x1b[31m")
    chart.set_series("0", "[red]run[/red]\u202e", [0, 1], [1, 2])
    async with stage(chart).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert chart._border_title is not None
        assert chart._border_title.plain == "[b]loss[/b] ␛[31m"
        assert "[red]run[/red]<202e>" in text_of(chart)


async def test_new_points_redraw_at_most_ten_times_a_second(stage: Callable, chart: Chart) -> None:
    async with stage(chart).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        before = chart.redraws
        loop = asyncio.get_running_loop()
        start = loop.time()
        while loop.time() - start < 1.0:
            chart.append("0", chart.last("0")[0] + 1, 1.0)
            await asyncio.sleep(0.005)
        await settle(pilot)
        assert 3 <= chart.redraws - before <= 13


async def test_what_is_not_on_the_screen_is_not_drawn(stage: Callable, chart: Chart) -> None:
    async with stage(chart).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        chart.display = False
        await settle(pilot)
        before = chart.redraws
        for step in range(5):
            chart.append("0", 2_000 + step, 1.0)
            await settle(pilot)
        assert chart.redraws == before
        chart.display = True
        await settle(pilot)
        assert chart.redraws > before
        assert chart.window == (0, 2_004)


async def test_points_that_change_nothing_draw_nothing(stage: Callable, chart: Chart) -> None:
    async with stage(chart).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        before = chart.redraws
        series = chart._series["0"]
        chart.set_series("0", "member 0", series.x.copy(), series.y.copy())
        await settle(pilot)
        assert chart.redraws == before


@pytest.mark.parametrize("size", [(1, 1), (3, 3), (8, 4), (20, 6), (300, 90)])
async def test_any_size_can_be_drawn(stage: Callable, chart: Chart, size: tuple) -> None:
    chart.set_marks([Mark(500, "x")])
    async with stage(chart).run_test(size=size) as pilot:
        await settle(pilot)
        for y in range(chart.size.height):
            assert chart.render_line(y).cell_length == chart.size.width


async def test_the_ascii_style_is_ascii(stage: Callable, chart: Chart) -> None:
    chart.set_title("loss")
    app = stage(chart, style=ASCII)
    async with app.run_test(size=(80, 24)) as pilot:
        chart.crosshair = 300
        chart.clip = True
        await settle(pilot)
        assert text_of(chart).isascii()
        assert status(chart).isascii()
        assert chart.styles.border_top[0] == "ascii"


async def test_state_is_remembered(stage: Callable, chart: Chart) -> None:
    async with stage(chart).run_test():
        chart.log_scale, chart.smoothing = True, 0.9
        kept = chart.state()
        chart.log_scale, chart.smoothing = False, 0.0
        chart.restore(kept)
        assert (chart.log_scale, chart.smoothing) == (True, 0.9)
        chart.restore({"smoothing": "much"})
        assert chart.smoothing == 0.9


async def test_mouse_zooms_puts_the_crosshair_and_drags(stage: Callable, chart: Chart) -> None:
    async with stage(chart).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.click(chart, offset=(40, 10))
        assert chart.crosshair is not None
        assert 400 < chart.crosshair < 600
        chart.zoom(0.5)
        left, right = chart.window
        assert right - left == 500
        await pilot.mouse_down(chart, offset=(30, 10))
        await pilot.hover(chart, offset=(40, 10))
        await pilot.mouse_up(chart, offset=(40, 10))
        await settle(pilot)
        assert chart.window[0] <= left


# The grid ----------------------------------------------------------------------------------------


def shown(grid: ChartGrid) -> list[str]:
    by_id = {chart: cid for cid, chart in grid.charts.items()}
    return [by_id[c] for c in grid.query_one("#charts").children if c.display]


async def test_a_grid_has_pages_filter_pins_and_columns(stage: Callable) -> None:
    grid = ChartGrid(columns=2)
    for number in range(7):
        grid.chart(f"metric {number}").set_series("0", "m0", [0, 1], [0, number])
    async with stage(grid).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert shown(grid) == ["metric 0", "metric 1", "metric 2", "metric 3"]
        assert grid.pages == 2
        grid.charts["metric 0"].focus()
        await pilot.press("p")
        await pilot.press("pagedown")
        await settle(pilot)
        assert shown(grid) == ["metric 0", "metric 4", "metric 5", "metric 6"]
        await pilot.press("minus")
        await settle(pilot)
        assert shown(grid) == ["metric 0", "metric 2"]
        grid.set_filter("!metric [0-4]")
        await settle(pilot)
        assert shown(grid) == ["metric 5", "metric 6"]
        grid.set_filter("metric [")
        await settle(pilot)
        assert shown(grid) == []
        grid.set_filter("")
        grid.remove_chart("metric 0")
        await settle(pilot)
        assert len(grid.charts) == 6
        assert grid.state()["columns"] == 1


async def test_the_crosshair_is_linked_and_enter_enlarges(stage: Callable) -> None:
    grid = ChartGrid()
    for number in range(3):
        grid.chart(str(number)).set_series("0", "m0", np.arange(100), np.arange(100))
    async with stage(grid).run_test(size=(80, 30)) as pilot:
        await settle(pilot)
        grid.charts["0"].focus()
        await pilot.press("c")
        await settle(pilot)
        assert [chart.crosshair for chart in grid.charts.values()] == [50, 50, 50] or [
            chart.crosshair for chart in grid.charts.values()
        ] == [49, 49, 49]
        await pilot.press("j")
        assert grid.focused_id == "1"
        await pilot.press("enter")
        await settle(pilot)
        assert shown(grid) == ["1"]
        assert grid.focused_id == "1"
        await pilot.press("escape")
        await settle(pilot)
        assert shown(grid) == ["0", "1", "2"]
        late = grid.chart("late")
        await settle(pilot)
        assert late.crosshair in (49, 50)


@pytest.mark.parametrize("light", [False, True])
async def test_figures_of_the_axes_stand_out_from_the_ground(stage: Callable, light: bool) -> None:
    chart = Chart("loss")
    chart.set_series("0", "run", [0, 1], [0, 1])
    async with stage(chart, light=light).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        label = chart._inks[INK_DIM]
        ground = chart.background_colors[1]
        assert label.color is not None
        assert label.color.triplet is not None
        brightness = Color(*label.color.triplet).brightness
        assert abs(brightness - ground.brightness) > 0.35
