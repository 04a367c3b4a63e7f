"""The charts of a run: which metrics, along which axis, of which members."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arena_tui.stores.columns import RunColumns, spread
from arena_tui.theme import SeriesStyle, numbered_style
from arena_tui.widgets.chart import Chart, Guide, Mark
from arena_tui.widgets.chart.chart import GUIDE
from arena_tui.widgets.chart_grid import ChartGrid

if TYPE_CHECKING:
    from collections.abc import Callable

AXES: tuple[tuple[str, str, str], ...] = (
    ("steps", "steps", "number"),
    ("total_steps", "total steps", "number"),
    ("generation", "generation", "number"),
    ("time", "time", "time"),
    ("relative_steps", "steps from start", "number"),
    ("relative_time", "time from start", "elapsed"),
)
MODE_NAMES = {
    "spread": "best, and mean between lowest and highest",
    "members": "every living member, and its ancestors",
    "best": "the fittest member",
    "heat": "a heat map of every member there was",
}
FIRST = ("fitness", "score", "loss", "steps_per_second", "episodes")


def ordered(names: list[str]) -> list[str]:
    """Return metric names with the ones that matter first."""
    return sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))


def run_look(slot: int) -> SeriesStyle:
    """Return the look that a run has for life; the first looks are those of a run's own lines."""
    return numbered_style(slot + 2)


@dataclass(frozen=True)
class Overlay:
    """A run to be drawn beside others: its name, its metrics, and its number for life."""

    name: str
    columns: RunColumns
    slot: int


class GridCharts:
    """What all charts of a grid share: what is along the x axis, and what is drawn of a run.

    Attributes:
        axis: What is along the x axis.
        mode: What is drawn, one of `MODES`.
    """

    MODES: ClassVar[dict[str, str]] = {"best": "the fittest member"}

    def __init__(self, grid: ChartGrid) -> None:
        """Draw into a grid."""
        self.grid = grid
        self.axis = "steps"
        self.mode = next(iter(self.MODES))
        self._drawn: dict[str, tuple[Any, ...]] = {}

    def next_axis(self) -> str:
        """Go on to the next x axis; returns its name."""
        names = [item[0] for item in AXES]
        self.axis = names[(names.index(self.axis) + 1) % len(names)]
        return next(item[1] for item in AXES if item[0] == self.axis)

    def next_mode(self) -> str:
        """Go on to the next way to show members; returns its name."""
        names = list(self.MODES)
        self.mode = names[(names.index(self.mode) + 1) % len(names)]
        return self.MODES[self.mode]

    def restore(self, state: dict[str, Any]) -> None:
        """Take axis and mode from what was remembered; nonsense is left out."""
        if state.get("axis") in [item[0] for item in AXES]:
            self.axis = state["axis"]
        if state.get("mode") in self.MODES:
            self.mode = state["mode"]

    def _start_over(self, chart: Chart) -> None:
        """Empty a chart for another axis or mode; the user's own guide stays."""
        mine = [guide for guide in chart.guides if guide.label == GUIDE]
        chart.clear()
        chart.set_guides(mine)
        chart.heat = self.mode == "heat"
        _, label, kind = next(item for item in AXES if item[0] == self.axis)
        chart.set_x_label(label, kind)

    def _stale(self, name: str, state: tuple[Any, ...]) -> bool:
        """Tell whether a chart must be drawn anew; `state` begins with axis and mode."""
        chart = self.grid.charts[name]
        before = self._drawn.get(name)
        if not chart.display or before == state:
            return False
        self._drawn[name] = state
        if before is None or before[:2] != state[:2]:
            self._start_over(chart)
        return True


class RunCharts(GridCharts):
    """Keeps the charts of a grid up with the columns of a run.

    Attributes:
        overlays: Other runs whose fittest members are drawn as well, except over a heat map.
        target: The fitness that the run is to reach, or None.
    """

    MODES: ClassVar[dict[str, str]] = MODE_NAMES

    def __init__(self, grid: ChartGrid, wanted: Callable[[str], bool]) -> None:
        """Draw into a grid the metrics whose names are wanted."""
        super().__init__(grid)
        self.overlays: tuple[Overlay, ...] = ()
        self.target: float | None = None
        self._wanted = wanted

    def update(self, columns: RunColumns) -> None:
        """Make charts for new metrics, and put new points into those in view."""
        others = tuple((o.name, o.columns.count, o.columns.version) for o in self.overlays)
        for name in ordered([name for name in columns.metric_names if self._wanted(name)]):
            chart = self.grid.chart(name)
            state = (self.axis, self.mode, columns.version, columns.count, others, self.target)
            if self._stale(name, state):
                self._draw(chart, columns, name)

    def _draw(self, chart: Chart, columns: RunColumns, name: str) -> None:
        if self.mode == "members":
            self._draw_members(chart, columns, name)
        elif self.mode == "heat":
            for member, x, y in sorted(columns.series(name, self.axis), key=itemgetter(0)):
                chart.set_series(f"m{member}", f"member {member}", x, y, numbered_style(member))
        else:
            lines = spread(columns, name, self.axis)
            if self.mode == "spread":
                chart.set_band("range", lines.x, lines.low, lines.high, numbered_style(1))
                chart.set_series("mean", "mean", lines.x, lines.mean, numbered_style(1))
            chart.set_series("best", "best", lines.x, lines.best, numbered_style(0))
        if self.mode != "heat":
            self._overlay(chart, name)
        if name == "fitness":
            mine = [guide for guide in chart.guides if guide.label == GUIDE]
            target = [] if self.target is None else [Guide(self.target, "target")]
            chart.set_guides([*target, *mine])
            chart.set_marks(self._marks(columns))

    def _overlay(self, chart: Chart, name: str) -> None:
        """Draw the fittest members of other runs, and take away those no longer wanted."""
        for sid in [sid for sid in chart.series_ids if sid.startswith("run:")]:
            if sid.removeprefix("run:") not in {other.name for other in self.overlays}:
                chart.remove_series(sid)
        for other in self.overlays:
            if name in other.columns.metric_names:
                lines = spread(other.columns, name, self.axis)
                look = run_look(other.slot)
                chart.set_series(f"run:{other.name}", other.name, lines.x, lines.best, look)

    def _draw_members(self, chart: Chart, columns: RunColumns, name: str) -> None:
        """Draw the line of every living member, through its ancestors, back to the start."""
        living = columns.living
        keep = {f"m{rows.member}" for rows in living}
        for sid in list(chart.series_ids):
            if sid not in keep and not sid.startswith("run:"):
                chart.remove_series(sid)
        for rows in living:
            x, y = columns.line(rows.member, name, self.axis)
            look = numbered_style(rows.member)
            chart.set_series(f"m{rows.member}", f"member {rows.member}", x, y, look)

    def _marks(self, columns: RunColumns) -> list[Mark]:
        """Return the mutations along the x axis."""
        marks = []
        for rows in columns.members.values():
            generations = rows.columns["generation"].values
            for generation, mutation in rows.mutations:
                if mutation.casefold() in ("none", "no mutation", "no_mut"):
                    continue
                at = int(np.searchsorted(generations, generation))
                if at < len(generations):
                    x = float(columns.places(rows, self.axis)[at])
                    marks.append(Mark(x, f"member {rows.member}: {mutation}"))
        return marks
