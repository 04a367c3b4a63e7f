"""Measures what charts cost; run it as `python tests/benchmarks/charts.py`.

Prints, in CPU time of this process: one redraw of a chart of 120×30 cells with 8 series, by the
number of points; one redraw after a point was added; and the share of a core that four live charts
take. The bounds are 25 ms, 1.5 times that of 1,000 points, and 35 %. Exits 1 when one is missed.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time

import numpy as np
from textual.app import App, ComposeResult

from arena_tui.plotstyle import BRAILLE
from arena_tui.widgets.chart import Chart
from arena_tui.widgets.chart_grid import ChartGrid

SERIES = 8
COLUMNS, ROWS = 120, 30
REPEATS = 40
BOUND_MS, BOUND_RATIO, BOUND_SHARE = 25.0, 1.5, 35.0
LIVE_SECONDS = 8.0
UPDATES_A_SECOND = 4


class ChartBench(App[None]):
    """Charts whose plots are 120×30 cells."""

    CSS = f"Chart {{ width: {COLUMNS + 8}; height: {ROWS + 5}; }}"

    def __init__(self, charts: int = 1) -> None:
        super().__init__()
        self._charts = charts

    def compose(self) -> ComposeResult:
        """Make the charts."""
        for _ in range(self._charts):
            yield Chart("loss", plot_style=BRAILLE)


class LiveBench(App[None]):
    """Four charts in a grid."""

    def compose(self) -> ComposeResult:
        """Make the grid."""
        yield ChartGrid(columns=2)


def noisy(rng: np.random.Generator, points: int) -> np.ndarray:
    """Return a random walk with noise on it, float64, shape (points,)."""
    return np.cumsum(rng.normal(0, 0.1, points)) + rng.normal(0, 1, points)


def redraw(chart: Chart) -> float:
    """Draw all of a chart once; returns CPU milliseconds."""
    before = time.process_time()
    chart._stale()
    for line in range(chart.size.height):
        chart.render_line(line)
    return (time.process_time() - before) * 1000


async def measure_redraw(points: int, smoothing: float = 0.0) -> tuple[float, float, float]:
    """Return median and worst redraw, and the median of adding a point and redrawing, in ms."""
    app = ChartBench()
    async with app.run_test(size=(COLUMNS + 20, ROWS + 10)):
        chart = app.query_one(Chart)
        rng = np.random.default_rng(0)
        for number in range(SERIES):
            chart.set_series(str(number), f"m{number}", np.arange(points), noisy(rng, points))
        chart.smoothing = smoothing
        redraw(chart)
        times = [redraw(chart) for _ in range(REPEATS)]
        added = []
        for step in range(REPEATS):
            before = time.process_time()
            for number in range(SERIES):
                chart.append(str(number), points + step, rng.normal())
            spent = (time.process_time() - before) * 1000
            added.append(spent + redraw(chart))
        drawn = chart._drawn()
        assert (drawn.width, drawn.height) >= (COLUMNS, ROWS), (drawn.width, drawn.height)
    return statistics.median(times), max(times), statistics.median(added)


async def measure_ratio(few: int, many: int) -> float:
    """Return how much more a redraw with many points costs, both measured in turn."""
    app = ChartBench(charts=2)
    async with app.run_test(size=(COLUMNS + 20, 2 * (ROWS + 8))):
        charts = list(app.query(Chart))
        rng = np.random.default_rng(0)
        for chart, points in zip(charts, (few, many), strict=True):
            for number in range(SERIES):
                chart.set_series(str(number), f"m{number}", np.arange(points), noisy(rng, points))
            redraw(chart)
        times = [[redraw(chart) for chart in charts] for _ in range(3 * REPEATS)]
    return statistics.median(t[1] for t in times) / statistics.median(t[0] for t in times)


async def measure_live() -> float:
    """Return the share of a core, in percent, of four live charts of 8 series."""
    app = LiveBench()
    async with app.run_test(size=(160, 45)) as pilot:
        grid = app.query_one(ChartGrid)
        rng = np.random.default_rng(0)
        for name in ("fitness", "loss", "score", "steps/s"):
            chart = grid.chart(name)
            for number in range(SERIES):
                chart.set_series(str(number), f"m{number}", np.arange(5000), noisy(rng, 5000))
        await pilot.pause(1.0)
        before, started = time.process_time(), time.monotonic()
        step = 5000
        while time.monotonic() - started < LIVE_SECONDS:
            for chart in grid.charts.values():
                for number in range(SERIES):
                    chart.append(str(number), step, rng.normal())
            step += 1
            await asyncio.sleep(1 / UPDATES_A_SECOND)
        spent, passed = time.process_time() - before, time.monotonic() - started
        redraws = sum(chart.redraws for chart in grid.charts.values())
    print(f"  {redraws} redraws of 4 charts, {step - 5000} updates in {passed:.1f} s")
    return 100 * spent / passed


async def main() -> int:
    """Measure, print, and judge."""
    print(f"redraw of a chart of {COLUMNS}×{ROWS} cells, {SERIES} series, braille, CPU ms")
    print(f"{'points a series':>16} {'median':>8} {'worst':>8} {'1 point added':>14}")
    medians = {}
    for points in (1_000, 12_500, 100_000, 1_000_000):
        median, worst, added = await measure_redraw(points)
        medians[points] = median
        print(f"{points:>16,} {median:>8.2f} {worst:>8.2f} {added:>14.2f}")
    median, worst, added = await measure_redraw(1_000_000, smoothing=0.9)
    print(f"{'1,000,000 smooth':>16} {median:>8.2f} {worst:>8.2f} {added:>14.2f}")
    ratio = await measure_ratio(1_000, 1_000_000)
    share = await measure_live()
    verdicts = [
        (f"8 × 1,000,000 points: {medians[1_000_000]:.2f} ms", medians[1_000_000] <= BOUND_MS),
        (f"ratio to 8 × 1,000: {ratio:.2f}", ratio <= BOUND_RATIO),
        (f"four live charts at 4/s: {share:.1f} % of a core", share <= BOUND_SHARE),
    ]
    for text, good in verdicts:
        print(("ok    " if good else "MISSED") + f" {text}")
    return 0 if all(good for _, good in verdicts) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
