"""What a picture of a chart is made of: inks, options, what was drawn, and one line to draw."""

from __future__ import annotations

from dataclasses import dataclass, field

from arena_tui.plotstyle import BRAILLE, PlotStyle
from arena_tui.widgets.chart.axes import Limits
from arena_tui.widgets.chart.columns import Column
from arena_tui.widgets.chart.decimate import Buckets
from arena_tui.widgets.chart.legend import Run
from arena_tui.widgets.chart.series import Series

INK_TEXT, INK_AXIS, INK_DIM, INK_GUIDE, INK_MARK = range(5)
INK_SERIES = 16
INK_FAINT = 48
INK_HEAT = 80
HEAT_LEVELS = 16
"""Shades of a heat map; the ink of each follows `INK_HEAT`."""


@dataclass(frozen=True)
class Options:
    """How a chart is drawn.

    Attributes:
        log: Whether the y axis is logarithmic.
        smoothing: Weight of the past, 0 for none.
        clip: Whether far outliers are left out of the limits.
        crosshair: Place on the x axis whose values the legend shows, or None for the last ones.
        style: What to draw with.
        x_label: Name of the x axis.
        x_kind: "number", "time" (epoch seconds) or "elapsed" (seconds).
        legend: Whether there is a legend.
        mark_lines: Whether markers stand along the lines, for when colour does not tell them apart.
        empty_text: What stands there when there is no point.
        heat: Whether a heat map is drawn instead of lines.
    """

    log: bool = False
    smoothing: float = 0.0
    clip: bool = False
    crosshair: float | None = None
    style: PlotStyle = BRAILLE
    x_label: str = "steps"
    x_kind: str = "number"
    legend: bool = True
    mark_lines: bool = False
    empty_text: str = "no points yet"
    heat: bool = False


@dataclass
class Picture:
    """What was drawn.

    Attributes:
        lines: Every line as runs of (text, ink).
        left, top, width, height: Where the plot itself is, in cells.
        window: Limits of the x axis in view, None without points.
        limits: Limits of the y axis (of log10 under a log scale).
        below, above: Points in view that are off the scale.
        gaps: Points in view that are not finite.
        unlogged: Points in view at or below zero, which a log scale cannot show.
        notes: Labels of the marks under the crosshair.
        beyond: Labels of guides that are off the scale, with the edge that they are behind.
    """

    lines: list[list[Run]] = field(default_factory=list)
    left: int = 0
    top: int = 0
    width: int = 0
    height: int = 0
    window: Limits | None = None
    limits: Limits | None = None
    below: int = 0
    above: int = 0
    gaps: int = 0
    unlogged: int = 0
    notes: list[str] = field(default_factory=list)
    beyond: list[str] = field(default_factory=list)

    def place(self, column: int) -> float | None:
        """Return the place on the x axis in the middle of a column of cells, None outside."""
        if self.window is None or not 0 <= column - self.left < self.width:
            return None
        left, right = self.window
        return left + (right - left) * (column - self.left + 0.5) / self.width

    def column(self, x: float) -> int | None:
        """Return the column of cells of a place on the x axis, None outside."""
        if self.window is None or self.width < 1:
            return None
        left, right = self.window
        if not left <= x <= right:
            return None
        return self.left + min(self.width - 1, int((x - left) / (right - left) * self.width))


@dataclass
class Layer:
    """One line to draw: a track of a series, and what falls into its columns."""

    series: Series
    column: Column
    faint: bool
    start: int = 0
    end: int = 0
    buckets: Buckets | None = None

    @property
    def ink(self) -> int:
        return (INK_FAINT if self.faint else INK_SERIES) + self.series.style.slot
