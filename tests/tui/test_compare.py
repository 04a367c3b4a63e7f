"""Runs beside each other: marks, charts over each other, figures, and how manifests differ."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tui_canned import MANIFEST, metrics
from tui_looking import screen_lines, screen_text

from arena_sdk.manifest import TrainingManifest
from arena_sdk.manifest.comparing import differences
from arena_tui.screens.run_charts import run_look
from arena_tui.stores.comparing import ABSENT, differing, filled, leaves, shown
from arena_tui.stores.marks import Marks
from arena_tui.widgets.chart_grid import ChartGrid
from arena_tui.widgets.rows import Rows


def other_manifest():
    other = copy.deepcopy(MANIFEST)
    other["algorithm"]["lr"] = 0.002
    return other


@pytest.fixture
def two_runs(canned):
    canned.manifests["grid-old"] = other_manifest()
    canned.records_by_run["grid-old"] = metrics(7)
    canned.row("grid-old")["ended_at"] = canned.row("grid-dqn")["started_at"]
    canned.row("grid-old")["best_fitness"] = 99.5
    return canned


async def compared(app, pilot, until):
    await pilot.press("6")
    await until(pilot, lambda: "merge-bad" in screen_text(app))
    await pilot.press("space", "space")
    await until(pilot, lambda: "2 marked" in screen_text(app))
    await pilot.press("c")
    await until(pilot, lambda: "◆ grid-old" in screen_text(app))


def grid_of(app):
    return app.screen.query_one("#grid", ChartGrid)


async def test_marked_runs_are_drawn_over_each_other(make_app, two_runs, until):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await compared(app, pilot, until)
        chart = grid_of(app).charts["fitness"]
        await until(pilot, lambda: len(chart.series_ids) == 2)
        assert {chart.label_of(sid) for sid in chart.series_ids} == {"grid-dqn", "grid-old"}
        assert chart.style_of("run:grid-dqn") == run_look(app.hub.marks.slot("grid-dqn"))
        assert chart.last("run:grid-old")[0] == 7_000
        assert {"fitness", "score", "loss", "lr"} <= grid_of(app).charts.keys()
        await pilot.press("a")
        await until(pilot, lambda: app.screen.charts_in_view.mode == "mean")
        await pilot.press("a")
        await until(pilot, lambda: len(chart.series_ids) == 8)
        assert {chart.style_of(sid) for sid in chart.series_ids} == {run_look(0), run_look(1)}
        for _ in range(5):
            await pilot.press("x")
        await until(pilot, lambda: "time from start" in screen_text(app))
        assert chart.window == (0.0, 220.0)


async def test_figures_and_differences_of_manifests_are_told(make_app, two_runs, until):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await compared(app, pilot, until)
        await pilot.press("tab")
        await until(pilot, lambda: "★ 139.8" in screen_text(app))
        line = next(line for line in screen_lines(app) if "grid-old" in line and "DQN" in line)
        assert "99.50" in line
        assert "1h59m" in line
        await pilot.press("tab")
        await until(pilot, lambda: "algorithm.lr" in screen_text(app))
        assert "1 field differs" in screen_text(app)
        line = next(line for line in screen_lines(app) if "algorithm.lr" in line)
        assert line.split()[1:] == ["0.0001", "0.002"]
        await pilot.press("escape")
        await until(pilot, lambda: "2 marked" in screen_text(app))


async def test_a_run_is_opened_from_the_comparison_and_left_again(make_app, two_runs, until):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await compared(app, pilot, until)
        await pilot.press("tab")
        await until(pilot, lambda: "★" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "Hyperparameters" in screen_text(app))
        # The other marked run is laid over its charts.
        await until(pilot, lambda: grid_of(app).charts["fitness"].has_series("run:grid-old"))
        await pilot.press("b")
        await until(pilot, lambda: not grid_of(app).charts["fitness"].has_series("run:grid-old"))
        await pilot.press("escape")
        await until(pilot, lambda: "Manifests" in screen_text(app))


async def test_marks_are_there_at_the_next_start(make_app, canned, until):
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: "merge-bad" in screen_text(app))
        await pilot.press("c")
        await until(pilot, lambda: "Mark two runs or more" in screen_text(app))
        await pilot.press("space", "space")
        await until(pilot, lambda: "2 marked" in screen_text(app))
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: "2 marked" in screen_text(app))
        assert app.screen.rows.marked == {"grid-dqn", "grid-old"}
        await pilot.press("m")
        await until(pilot, lambda: not app.screen.rows.marked)
        assert app.hub.marks.slots == {"grid-dqn": 0, "grid-old": 1}


async def test_a_run_that_is_gone_is_said_and_the_others_stay(make_app, two_runs, until):
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await compared(app, pilot, until)
        two_runs.experiments = [r for r in two_runs.experiments if r["name"] != "grid-old"]
        await until(pilot, lambda: "There is no experiment grid-old." in screen_text(app))
        assert grid_of(app).charts["fitness"].has_series("run:grid-dqn")


async def test_one_run_is_deleted_after_its_loss_is_named(make_app, canned, until):
    app = make_app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: "merge-bad" in screen_text(app))
        await pilot.press("x")
        await until(pilot, lambda: "Stop grid-dqn first" in screen_text(app))
        app.screen.query_one(Rows).move_cursor(row=1)
        await pilot.press("x")
        await until(pilot, lambda: "3 checkpoints of 0.63 MB" in screen_text(app))
        await pilot.press("tab", "enter")
        await until(pilot, lambda: canned.row("grid-old") is None)
        await until(pilot, lambda: "Deleted grid-old" in screen_text(app))


async def test_several_are_deleted_only_when_a_name_is_typed(make_app, canned, until):
    canned.row("grid-dqn")["state"] = "stopped"
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: "merge-bad" in screen_text(app))
        await pilot.press("space", "space", "x")
        await until(pilot, lambda: "Delete which?" in screen_text(app))
        assert "merge-bad only" in screen_text(app)
        await pilot.press("down", "enter")
        await until(pilot, lambda: "Type grid-dqn to confirm" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "That is not grid-dqn" in screen_text(app))
        assert len(canned.experiments) == 3
        await pilot.press(*"grid", "minus", *"dqn", "enter")
        await until(pilot, lambda: [row["name"] for row in canned.experiments] == ["merge-bad"])
        await until(pilot, lambda: not app.hub.marks.names)


LEAF = st.sampled_from([None, 0, 1, "", "x", [1], [2]])
NAMES = st.sampled_from("abc")
INNER = st.dictionaries(NAMES, LEAF, min_size=1, max_size=2)
TREES = st.dictionaries(
    NAMES, LEAF | st.dictionaries(NAMES, LEAF | INNER, min_size=1, max_size=2), max_size=3
)


@given(TREES, TREES)
def test_what_differs_is_what_manifest_diff_says(one, other):
    found, same = differing([one, other])
    said = [each.path for each in differences(one, other)]
    assert all(any(f"{path}.".startswith(f"{each}.") for each in said) for path in found)
    for path, values in found.items():
        assert values == [leaves(one).get(path, ABSENT), leaves(other).get(path, ABSENT)]
    assert same == sum(
        leaves(other).get(path, ABSENT) == value for path, value in leaves(one).items()
    )


@given(st.lists(TREES, min_size=1, max_size=4))
def test_the_same_manifests_do_not_differ(trees):
    assert differing([trees[0]] * len(trees)) == ({}, len(leaves(trees[0])))


def test_defaults_do_not_count_as_differences():
    spelled = copy.deepcopy(MANIFEST)
    spelled["algorithm"]["lr"] = TrainingManifest.load(MANIFEST).payload()["algorithm"]["lr"]
    assert not differing([filled(MANIFEST), filled(spelled)])[0]
    assert filled({"nonsense": 1}) == {"nonsense": 1}
    assert (shown(ABSENT), shown("a"), shown([1, None])) == ("–", "a", "[1, null]")


@given(st.lists(st.sets(st.sampled_from("abcdefgh"), max_size=8), max_size=12))
def test_a_run_keeps_its_look_for_life(steps):
    marks = Marks()
    seen = {}
    for names in steps:
        marks.set(sorted(names))
        assert set(marks.names) == names
        for name, slot in marks.slots.items():
            assert seen.setdefault(name, slot) == slot
    assert len(set(marks.slots.values())) == len(marks.slots)
    again = Marks()
    again.restore(marks.state())
    assert (again.names, again.slots) == (marks.names, marks.slots)


@pytest.mark.parametrize("state", [None, [], {"names": 3, "slots": []}, {"slots": {"a": "x"}}])
def test_marks_that_make_no_sense_are_left_out(state):
    marks = Marks()
    marks.restore(state)
    assert (marks.names, marks.slots) == ([], {})
