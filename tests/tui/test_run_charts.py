"""The charts of an experiment: axes, ways to show members, series, files, and what is kept."""

from __future__ import annotations

import pytest
from textual.app import App
from textual.widgets import Input
from tui_canned import NOW, metrics
from tui_looking import screen_text

from arena_tui.screens.chart_actions import file_name, full_path
from arena_tui.screens.run_charts import AXES, MODE_NAMES, Overlay, RunCharts, run_look
from arena_tui.stores.columns import RunColumns
from arena_tui.widgets.chart_grid import ChartGrid


def columns_of(generations=6, later=0.0):
    columns = RunColumns()
    for record in metrics(generations):
        columns.add(record["data"], record["time"] + later)
    return columns


def grid_of(app):
    return app.screen.query_one("#grid", ChartGrid)


def opened(app):
    return lambda: "best" in screen_text(app) and "fitness" in grid_of(app).charts


def sees(app, words):
    return lambda: words in screen_text(app)


async def test_every_axis_and_every_way_to_show_members_comes_round(make_app, until):
    app = make_app(experiment="grid-dqn")
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await until(pilot, opened(app))
        chart = grid_of(app).charts["fitness"]
        starts = []
        for _, label, _ in AXES:
            await until(pilot, lambda label=label: label in screen_text(app))
            starts.append(chart.window[0])
            await pilot.press("x")
        assert starts == [1000, 4000, 1, NOW - 580, 0, 0]
        for name in MODE_NAMES:
            await until(pilot, lambda name=name: app.screen.charts_in_view.mode == name)
            await until(
                pilot, lambda name=name: chart.series_ids and chart.heat == (name == "heat")
            )
            await pilot.press("a")
        await until(pilot, lambda: app.screen.charts_in_view.mode == "spread")


async def test_the_target_and_the_mutations_are_marked(make_app, until):
    app = make_app(experiment="grid-dqn")
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, opened(app))
        chart = grid_of(app).charts["fitness"]
        await until(pilot, lambda: [(guide.y, guide.label) for guide in chart.guides])
        assert [(guide.y, guide.label) for guide in chart.guides] == [(200.0, "target")]
        await pilot.press("g")
        assert [guide.label for guide in chart.guides] == ["target", "guide"]
        await pilot.press("x")
        await until(pilot, lambda: "total steps" in screen_text(app))
        assert [guide.label for guide in chart.guides] == ["target", "guide"]
        await pilot.press("g")
        assert [guide.label for guide in chart.guides] == ["target"]


async def test_series_are_hidden_isolated_and_pinned_by_name_in_all_charts(make_app, until):
    app = make_app(experiment="grid-dqn")
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, opened(app))
        await pilot.press("h")
        await until(pilot, lambda: "space hides or shows" in screen_text(app))
        await pilot.press("space")
        await until(pilot, lambda: "hidden" in screen_text(app))
        charts = grid_of_stack(app)
        assert all(chart.hidden == {"mean"} for chart in charts)
        await pilot.press("j", "p", "enter")
        assert all(chart.pinned == {"best"} for chart in charts)
        assert all(chart.isolated == "best" for chart in charts)
        await pilot.press("a")
        assert not any(chart.hidden or chart.pinned or chart.isolated for chart in charts)
        await pilot.press("escape")
        await until(pilot, lambda: "space hides" not in screen_text(app))


def grid_of_stack(app):
    return list(app.screen_stack[-2].query_one("#grid", ChartGrid).charts.values())


@pytest.mark.parametrize(("kind", "start"), [("csv", b"series,steps,fitness\n"), ("svg", b"<svg")])
async def test_a_chart_is_written_into_a_file(make_app, until, tmp_path, kind, start):
    app = make_app(experiment="grid-dqn")
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await until(pilot, opened(app))
        await pilot.press("e")
        await until(pilot, lambda: "Export fitness" in screen_text(app))
        app.screen.query_one("#field-kind").value = kind
        app.screen.query_one("#field-path", Input).value = str(tmp_path / "mine")
        app.screen.query_one("#field-path", Input).focus()
        await pilot.press("enter")
        path = tmp_path / f"mine.{kind}"
        await until(pilot, path.exists, 20)
        await until(pilot, lambda: "Wrote " in screen_text(app))
        assert path.read_bytes().startswith(start)


async def test_the_set_up_of_charts_is_there_at_the_next_start(make_app, until):
    for turn in range(2):
        app = make_app(experiment="grid-dqn")
        async with app.run_test(size=(120, 36)) as pilot:
            await until(pilot, opened(app))
            chart = grid_of(app).charts["fitness"]
            if not turn:
                await pilot.press("l", "z", "x", "a", "plus")
                await until(pilot, sees(app, "member 0"))
            await until(pilot, sees(app, "total steps"))
            assert (chart.log_scale, chart.smoothing) == (True, 0.6)
            assert grid_of(app).columns == 3
            assert "member 0" in screen_text(app)


class Stage(App[None]):
    """Shows one grid."""

    def __init__(self, grid):
        super().__init__()
        self.grid = grid

    def compose(self):
        yield self.grid


async def test_other_runs_are_laid_over_with_the_look_that_is_theirs():
    grid = ChartGrid(id="grid")
    async with Stage(grid).run_test(size=(100, 40)) as pilot:
        charts = RunCharts(grid, lambda name: name == "fitness")
        charts.overlays = (Overlay("other", columns_of(later=500.0), 5),)
        charts.update(columns_of())
        await pilot.pause()
        charts.update(columns_of(7))
        chart = grid.charts["fitness"]
        assert chart.label_of("run:other") == "other"
        assert chart.style_of("run:other") == run_look(5)
        assert chart.last("run:other") == (6000.0, chart.last("run:other")[1])
        charts.overlays = ()
        charts.update(columns_of(7))
        assert not chart.has_series("run:other")
        # Over a relative axis, runs of different days begin together.
        charts.axis = "relative_time"
        charts.overlays = (Overlay("other", columns_of(later=500.0), 5),)
        charts.update(columns_of(7))
        assert chart.window == (0.0, 120.0)
        assert chart.last("run:other")[0] == 100.0


def test_names_of_files_are_harmless():
    assert file_name("a/b ../\x1b[31m fitness") == "a-b-..-31m-fitness"
    assert file_name("///") == "chart"
    assert full_path({"path": "/tmp/x.svg", "kind": "svg"}).name == "x.svg"
    assert full_path({"path": "/tmp/x.csv", "kind": "svg"}).name == "x.csv.svg"


def test_nonsense_that_was_remembered_is_left_out():
    charts = RunCharts(ChartGrid(), lambda name: True)
    charts.restore({"axis": "sideways", "mode": 3})
    assert (charts.axis, charts.mode) == ("steps", "spread")
    charts.restore({"axis": "time", "mode": "heat"})
    assert (charts.axis, charts.mode) == ("time", "heat")
