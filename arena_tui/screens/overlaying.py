"""Marked runs, drawn over the charts of another."""

from __future__ import annotations

from arena_tui.screens.chart_actions import ChartActions
from arena_tui.screens.run_charts import Overlay
from arena_tui.stores.run import Run

MOST_BESIDE = 8
"""Runs that are drawn over the charts of another at most; `c` compares more."""


class Overlaying(ChartActions):
    """Mixed into the screen of one run; it gives `trail`, the name of that run."""

    _MEMORY = "charts.beside"

    def __init__(self) -> None:
        super().__init__()
        self._beside: bool | None = None

    @property
    def is_beside(self) -> bool:
        """Whether marked runs are drawn as well."""
        if self._beside is None:
            memory = self.arena.memory
            self._beside = memory is None or memory.get(self._MEMORY, True) is not False
        return self._beside

    def _others(self) -> list[str]:
        return [name for name in self.hub.marks.names if name != self.trail][:MOST_BESIDE]

    def runs_beside(self) -> list[Run]:
        """Return the runs that are to be drawn as well."""
        if not self.is_beside:
            return []
        return self.hub.runs((self.trail, *self._others()))[1:]

    def overlays(self) -> tuple[Overlay, ...]:
        """Return what is drawn of them."""
        marks = self.hub.marks
        return tuple(
            Overlay(run.name, run.columns, marks.slot(run.name)) for run in self.runs_beside()
        )

    def act_beside(self) -> None:
        """Draw the marked runs as well, or no more."""
        self._beside = not self.is_beside
        if self.arena.memory is not None:
            self.arena.memory.set(self._MEMORY, self._beside)
        names = ", ".join(self._others())
        self.tell(f"Beside it: {names}." if self._beside else "It is shown without marked runs.")
        self.rewatch()

    def why_not_beside(self) -> str | None:
        """Say why there is nothing to draw."""
        if self.charts_in_view is None:
            return "There are no charts in this tab."
        return None if self._others() else "Mark runs with space in Experiments first."
