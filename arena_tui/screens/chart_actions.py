"""What screens with charts do for them: axes, modes, files, and a set-up that is remembered."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import on

from arena_tui.safetext import safe_text
from arena_tui.screens.tabbed import TabbedScreen
from arena_tui.widgets.chart import Chart
from arena_tui.widgets.chart_grid import ChartGrid

if TYPE_CHECKING:
    from arena_tui.screens.run_charts import GridCharts

KINDS = (("picture, PNG", "png"), ("picture, SVG", "svg"), ("data, CSV", "csv"))


class ChartActions(TabbedScreen):
    """Mixed into screens with chart grids in some of their tabs.

    Attributes:
        chart_sets: The charts by the tab that they are in.
    """

    def __init__(self) -> None:
        super().__init__()
        self.chart_sets: dict[str, GridCharts] = {}

    @property
    def subject(self) -> str:
        """What the charts are of, for the name of a file."""
        return "charts"

    @on(Chart.ExportWanted)
    def _export_wanted(self, event: Chart.ExportWanted) -> None:
        event.stop()
        self.app.run_worker(self._guarded(self._export(event.chart)), group="export")

    async def _export(self, chart: Chart) -> None:
        """Ask for kind and place, and write the file."""
        from arena_tui.widgets.chart.exporting import can_png
        from arena_tui.widgets.form_dialog import Field, FormDialog

        kinds = [kind for kind in KINDS if kind[1] != "png" or can_png()]
        start = file_name(f"{self.subject}-{chart.title}")
        answer = await self.app.push_screen_wait(
            FormDialog(
                f"Export {chart.title}",
                [
                    Field("kind", "What", "select", kinds[0][1], choices=kinds),
                    Field(
                        "path",
                        "File",
                        "path",
                        str(Path.cwd() / start),
                        required=True,
                        help="Its ending is added; a file that exists is left as it is.",
                    ),
                ],
                submit="Write",
                check=_check,
            )
        )
        if answer:
            path = await write(chart, full_path(answer))
            self.tell(f"Wrote {path}.")

    # Set-up --------------------------------------------------------------------------------------

    def use_charts(self, tab: str, charts: GridCharts) -> None:
        """Take the charts of a tab in hand, with the set-up that they had at the last start."""
        self.chart_sets[tab] = charts
        kept = self.arena.memory.get(self._memory_name(tab)) if self.arena.memory else None
        if isinstance(kept, dict):
            charts.restore(kept)
            charts.grid.restore(kept)

    def _memory_name(self, tab: str) -> str:
        return f"charts.{self.SCREEN if tab == 'charts' else tab}"

    def _remember(self, grid: ChartGrid) -> None:
        if self.arena.memory is None:
            return
        for tab, charts in self.chart_sets.items():
            if charts.grid is grid:
                kept = {**grid.state(), "axis": charts.axis, "mode": charts.mode}
                self.arena.memory.set(self._memory_name(tab), kept)

    @on(ChartGrid.Changed)
    def _set_up_changed(self, event: ChartGrid.Changed) -> None:
        self._remember(event.grid)
        self.data_changed()

    # Actions -------------------------------------------------------------------------------------

    @property
    def charts_in_view(self) -> GridCharts | None:
        """The charts of the tab in view, if it has any."""
        return self.chart_sets.get(self.tab)

    def act_axis(self) -> None:
        """Go on to the next x axis."""
        charts = self.charts_in_view
        if charts is not None:
            self.tell(f"Along the x axis: {charts.next_axis()}.")
            self._remember(charts.grid)
            self.data_changed()

    def act_members(self) -> None:
        """Go on to the next way to show members."""
        charts = self.charts_in_view
        if charts is not None:
            self.tell(f"Shown: {charts.next_mode()}.")
            self._remember(charts.grid)
            self.data_changed()

    def _why_no_charts(self) -> str | None:
        return None if self.charts_in_view else "There are no charts in this tab."

    why_not_axis = why_not_members = _why_no_charts

    def focus_first_chart(self) -> None:
        """Give the focus to the first chart in view, if nothing has it."""
        charts = self.charts_in_view
        if charts is None or self.focused is not None or self.app.screen.is_modal:
            return
        first = charts.grid.first_shown
        if first is not None:
            first.focus()


def file_name(text: str) -> str:
    """Return a name that every file system takes."""
    name = re.sub(r"[^\w.+-]+", "-", safe_text(text, 100)).strip(".-")
    return name or "chart"


def full_path(answer: dict[str, Any]) -> Path:
    """Return the path that was asked for, with the ending of its kind."""
    path = Path(str(answer["path"])).expanduser().absolute()
    ending = f".{answer['kind']}"
    return path if path.suffix.casefold() == ending else path.with_name(path.name + ending)


def _check(answer: dict[str, Any]) -> dict[str, str] | None:
    path = full_path(answer)
    if path.exists():
        return {"path": f"{path} exists; choose another name."}
    return None if path.parent.is_dir() else {"path": f"{path.parent} is no folder."}


async def write(chart: Chart, path: Path) -> Path:
    """Write a chart's picture or data, by the ending of the path; returns what was written."""
    if path.suffix.casefold() == ".csv":
        text = chart.export_csv()

        def put() -> Path:
            with path.open("x", encoding="utf-8", newline="") as file:
                file.write(text)
            return path

        return await asyncio.to_thread(put)
    from arena_tui.widgets.chart.exporting import write_chart

    page = chart.page()
    if page is None:
        raise ValueError("There are no points yet.")
    return await asyncio.to_thread(write_chart, page, path)
