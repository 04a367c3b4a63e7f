"""The charts of several runs over each other, every run in the look that it has for life."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from arena_tui.screens.run_charts import GridCharts, Overlay, ordered, run_look
from arena_tui.stores.columns import spread
from arena_tui.widgets.chart import Chart, Guide
from arena_tui.widgets.chart.chart import GUIDE


class CompareCharts(GridCharts):
    """Keeps the charts of a grid up with the columns of several runs.

    Attributes:
        targets: The fitness that runs are to reach.
    """

    MODES: ClassVar[dict[str, str]] = {
        "best": "the fittest member of each run",
        "mean": "the mean over the members of each run",
        "members": "every living member of each run, and its ancestors",
    }
    targets: tuple[float, ...] = ()

    def update(self, runs: Sequence[Overlay]) -> None:
        """Make charts for the metrics of any run, and put new points into those in view."""
        names = dict.fromkeys(name for run in runs for name in run.columns.metric_names)
        state = tuple((run.name, run.columns.count, run.columns.version) for run in runs)
        for name in ordered(list(names)):
            chart = self.grid.chart(name)
            if self._stale(name, (self.axis, self.mode, state, self.targets)):
                self._draw(chart, runs, name)

    def _draw(self, chart: Chart, runs: Sequence[Overlay], name: str) -> None:
        drawn: set[str] = set()
        for run in runs:
            if name in run.columns.metric_names:
                drawn |= self._draw_run(chart, run, name)
        for sid in set(chart.series_ids) - drawn:
            chart.remove_series(sid)
        if name == "fitness":
            mine = [guide for guide in chart.guides if guide.label == GUIDE]
            chart.set_guides([*(Guide(target, "target") for target in self.targets), *mine])

    def _draw_run(self, chart: Chart, run: Overlay, name: str) -> set[str]:
        """Draw one run; returns the ids of its series."""
        look = run_look(run.slot)
        if self.mode == "members":
            ids = set()
            for rows in run.columns.living:
                x, y = run.columns.line(rows.member, name, self.axis)
                sid = f"run:{run.name}\0{rows.member}"
                chart.set_series(sid, f"m{rows.member} {run.name}", x, y, look)
                ids.add(sid)
            return ids
        lines = spread(run.columns, name, self.axis)
        sid = f"run:{run.name}"
        y = lines.mean if self.mode == "mean" else lines.best
        chart.set_series(sid, run.name, lines.x, y, look)
        return {sid}
