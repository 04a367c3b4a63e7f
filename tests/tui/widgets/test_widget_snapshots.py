"""What widgets look like, as SVG, in their states and at two sizes of the terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from textual.pilot import Pilot

from arena_tui.plotstyle import ASCII, BLOCK, BRAILLE
from arena_tui.widgets.bar_list import Bar, BarList
from arena_tui.widgets.chart import Chart, Mark
from arena_tui.widgets.chart_grid import ChartGrid
from arena_tui.widgets.dialogs import ConfirmDialog, MessageDialog
from arena_tui.widgets.form_dialog import Field, FormDialog
from arena_tui.widgets.frame import FrameView
from arena_tui.widgets.log_view import LogView
from arena_tui.widgets.rows import Column, Rows
from arena_tui.widgets.space_tree import SpaceTree
from arena_tui.widgets.state_view import StateView

SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])


def chart_full() -> Chart:
    rng = np.random.default_rng(7)
    chart = Chart("fitness")
    steps = np.arange(400) * 1_000
    for member in range(4):
        values = np.cumsum(rng.normal(0.4, 3, 400))
        if member == 1:
            values[120:170] = np.nan
        chart.set_series(str(member), f"member {member}", steps, values)
    chart.set_marks([Mark(100_000, "lr"), Mark(250_000, "activation")])
    return chart


def chart_empty() -> Chart:
    return Chart("loss")


def chart_one_point() -> Chart:
    chart = Chart("learning_rate")
    chart.set_series("0", "member 0", [5_000], [3e-4])
    return chart


def chart_gaps() -> Chart:
    chart = Chart("loss")
    chart.set_series("0", "all gaps", [0, 1, 2], [np.nan, np.inf, np.nan])
    chart.set_series("1", "alone between gaps", np.arange(9), [1, np.nan] * 4 + [2])
    return chart


def chart_log() -> Chart:
    rng = np.random.default_rng(7)
    chart = Chart("loss", log_scale=True, smoothing=0.9)
    x = np.arange(500)
    chart.set_series("0", "run", x, np.exp(-x / 60) * rng.uniform(0.2, 2, 500))
    chart.set_series("1", "with zeros", x, np.maximum(0, np.sin(x / 30)))
    return chart


def chart_clipped() -> Chart:
    rng = np.random.default_rng(7)
    y = rng.normal(0, 1, 400)
    y[[50, 51, 52]], y[300] = 900, -500
    chart = Chart("critic_loss")
    chart.clip = True
    chart.set_series("0", "merge-ppo-lunar-lander-continuous-42", np.arange(400), y)
    return chart


def chart_crosshair() -> Chart:
    chart = chart_full()
    chart.crosshair = 200_000
    return chart


def chart_time() -> Chart:
    chart = Chart("steps_per_second", x_label="UTC", x_kind="time")
    x = 1_764_633_600.0 + np.arange(300) * 20
    chart.set_series("0", "run", x, 1_000 + 50 * np.sin(np.arange(300) / 20))
    return chart


CHARTS = [
    chart_full, chart_empty, chart_one_point, chart_gaps, chart_log, chart_clipped,
    chart_crosshair, chart_time,
]  # fmt: skip


async def settled(pilot: Pilot[None]) -> None:
    await pilot.pause(0.2)
    await pilot.pause()


@SIZES
@pytest.mark.parametrize("make", CHARTS, ids=lambda make: make.__name__)
def test_charts(snap_compare: Any, stage: Callable, make: Callable, size: tuple) -> None:
    assert snap_compare(stage(make()), terminal_size=size, run_before=settled)


@pytest.mark.parametrize("style", [BLOCK, ASCII, BRAILLE], ids=lambda style: style.name)
def test_plot_styles_on_a_light_ground(snap_compare: Any, stage: Callable, style: Any) -> None:
    app = stage(chart_full(), style=style, light=True)
    assert snap_compare(app, terminal_size=(80, 24), run_before=settled)


def test_without_colour_markers_tell_series_apart(
    snap_compare: Any, stage: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(stage(chart_full()), terminal_size=(80, 24), run_before=settled)


@SIZES
def test_a_grid(snap_compare: Any, stage: Callable, size: tuple) -> None:
    grid = ChartGrid(columns=2)
    rng = np.random.default_rng(7)
    for name in ("fitness", "loss", "score", "lr", "batch_size", "steps_per_second"):
        chart = grid.chart(name)
        for member in range(3):
            chart.set_series(str(member), f"m{member}", np.arange(200), rng.normal(0, 1, 200))
    assert snap_compare(stage(grid), terminal_size=size, run_before=settled)


@SIZES
def test_a_table(snap_compare: Any, stage: Callable, size: tuple) -> None:
    rows = Rows([
        Column("name", "Name"),
        Column("state", "State"),
        Column("fitness", "Fitness", align="right"),
    ])  # fmt: skip

    async def fill(pilot: Pilot[None]) -> None:
        rows.set_rows([
            {"name": "lander-dqn", "state": "running", "fitness": 213.5},
            {"name": "[b]bold?[/b]", "state": "failed \x1b[31m", "fitness": None},
            {"name": "a name that goes on and on " * 3, "state": "queued", "fitness": -1.0},
        ])  # fmt: skip
        rows.sort_by("fitness", reverse=True)
        rows.focus()
        await pilot.press("space")
        await settled(pilot)

    assert snap_compare(stage(rows), terminal_size=size, run_before=fill)


def dialog_message() -> Any:
    text = "CartPole-v9 is no environment.\nSee what there is."
    return MessageDialog("Failed", text, kind="error")


def dialog_confirm() -> Any:
    loses = ["run-1 with 4 checkpoints", "run-2 with 1 checkpoint"]
    return ConfirmDialog("Delete project", "These will be gone:", loses=loses, typed="demo")


def dialog_form() -> Any:
    fields = [
        Field("name", "Name", required=True),
        Field("steps", "Steps", "integer", 50_000, help="environment steps of one member"),
        Field("tier", "Tier", "select", "local", choices=["local", "large"], required=True),
        Field("dry", "Dry run", "switch", True),
    ]
    return FormDialog("New experiment", fields, intro="Names are unique in an Arena.")


@SIZES
@pytest.mark.parametrize(
    "make", [dialog_message, dialog_confirm, dialog_form], ids=lambda make: make.__name__
)
def test_dialogs(snap_compare: Any, stage: Callable, make: Callable, size: tuple) -> None:
    async def opened(pilot: Pilot[None]) -> None:
        await pilot.app.push_screen(make())
        await pilot.pause()
        if make is dialog_form:
            await pilot.press("enter")
        for line in pilot.app.screen.query("Input"):
            line.cursor_blink = False  # type: ignore[attr-defined]
        await settled(pilot)

    assert snap_compare(stage(), terminal_size=size, run_before=opened)


@SIZES
def test_all_the_small_ones(snap_compare: Any, stage: Callable, size: tuple) -> None:
    state, bars, tree, log, frame = StateView(), BarList(), SpaceTree(), LogView(), FrameView()

    async def fill(pilot: Pilot[None]) -> None:
        state.show_offline("No connection for 12 s.", "Trying again in 4 s.")
        bars.set_bars([Bar("cpu", 75, 100, "75 %"), Bar("memory of one copy", 0.25, 1)])
        tree.set_spaces({
            "observation": {"type": "Box", "shape": [8], "dtype": "float32", "low": -1, "high": 1},
            "action": {"type": "Tuple", "spaces": [{"type": "Discrete", "n": 4}]},
        })  # fmt: skip
        log.write_lines(["step 1", "WARNING: slow", "ValueError: bad value"])
        log.search("bad")
        y, x = np.mgrid[0:40, 0:60]
        frame.set_frame(np.stack([x * 4, y * 6, x + y], axis=2).astype(np.uint8))
        await settled(pilot)

    app = stage(state, bars, tree, log, frame)
    assert snap_compare(app, terminal_size=size, run_before=fill)
