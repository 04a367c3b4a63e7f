"""Runs beside each other: charts over each other, figures, and how their manifests differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import ContentSwitcher, Static

from arena_tui.commands import Action
from arena_tui.screens.base import show_state, style_file
from arena_tui.screens.chart_actions import ChartActions
from arena_tui.screens.compare_charts import CompareCharts
from arena_tui.screens.compare_tables import RUN_DROP, Differences, run_columns, run_rows
from arena_tui.screens.fitted import FittedRows
from arena_tui.screens.run_charts import Overlay
from arena_tui.screens.run_summary import absent_run
from arena_tui.stores.base import ABSENT, LOADING, READY, Store
from arena_tui.stores.comparing import filled
from arena_tui.stores.run import Run
from arena_tui.widgets.chart_grid import ChartGrid
from arena_tui.widgets.form_dialog import Field, FormDialog
from arena_tui.widgets.rows import Rows
from arena_tui.widgets.state_view import StateView

MOST = 16
"""Runs that are compared at once at most."""


class CompareScreen(ChartActions):
    """Several runs, live while they run."""

    SCREEN = "compare"
    TAB = "experiments"
    CSS_PATH = [style_file("frame"), style_file("compare")]
    TABS = (
        ("charts", "Charts", "#grid"),
        ("runs", "Runs", "#run-rows"),
        ("manifests", "Manifests", "#differences"),
    )
    ACTIONS: ClassVar[list[Action]] = [
        Action("compare.next", "tab", "Next tab", "Go to the next tab.", 1),
        Action("compare.previous", "shift+tab", "Tab before", "Go to the tab before.", 0),
        Action("compare.axis", "x", "Axis", "Steps, generation, time, from start or in all.", 4),
        Action("compare.members", "a", "Members", "The best, the mean, or every member.", 3),
        Action("compare.filter", "slash", "Find", "Show charts by their names.", 11),
        Action("compare.drop", "u", "Leave out", "Unmark this run and compare the others.", 3),
    ]

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = list(names)
        self._filled: dict[str, tuple[Any, dict[str, Any]]] = {}

    @property
    def trail(self) -> str:
        """What is compared."""
        return " · ".join(self.names)

    @property
    def subject(self) -> str:
        """What the charts are of."""
        return "comparison"

    @property
    def runs(self) -> list[Run]:
        """The live stores of the runs."""
        return self.hub.runs(self.names)

    def body(self) -> ComposeResult:
        """Make the tabs."""
        yield self.strip_of_tabs()
        yield StateView(id="state")
        with ContentSwitcher(initial="charts", id="switch"):
            yield Vertical(StateView(id="chart-state"), ChartGrid(id="grid"), id="charts")
            yield Vertical(FittedRows(run_columns(self), drop=RUN_DROP, id="run-rows"), id="runs")
            yield Vertical(
                StateView(id="manifest-state"),
                Static("", id="same", markup=False),
                Differences(id="differences"),
                id="manifests",
            )

    def on_mount(self) -> None:
        """Get the charts ready."""
        self.use_charts("charts", CompareCharts(self.query_one("#grid", ChartGrid)))
        # Ages and times go on while nothing comes.
        self.set_interval(1.0, self.data_changed)

    def stores(self) -> Iterable[Store]:
        """Return what is watched: all runs."""
        return self.runs

    # Show ----------------------------------------------------------------------------------------

    def show(self) -> None:
        """Show the tab in view, and what is wrong with any run."""
        runs = self.runs
        self._show_state(runs)
        getattr(self, f"_show_{self.tab}")(runs)

    def _show_state(self, runs: list[Run]) -> None:
        view = self.query_one("#state", StateView)
        for run in runs:
            if run.details.state == LOADING and run.columns.count and not run.details.error:
                continue
            show_state(view, run.details, empty="", hint="", absent=absent_run(self.hub, run.name))
            if view.kind != "clear":
                return
        view.clear()

    def _show_charts(self, runs: list[Run]) -> None:
        charts = self.charts_in_view
        view = self.query_one("#chart-state", StateView)
        if any(run.columns.count for run in runs):
            view.clear()
        elif all(run.details.state == READY for run in runs):
            view.show_empty("None of them has reported anything yet.")
        else:
            view.clear()
        if isinstance(charts, CompareCharts):
            targets = {run.figures.get("target_score") for run in runs}
            charts.targets = tuple(
                sorted(float(target) for target in targets if isinstance(target, int | float))
            )
            slot = self.hub.marks.slot
            charts.update([Overlay(run.name, run.columns, slot(run.name)) for run in runs])
            self.focus_first_chart()

    def _show_runs(self, runs: list[Run]) -> None:
        slots = {run.name: self.hub.marks.slot(run.name) for run in runs}
        self.query_one("#run-rows", Rows).set_rows(run_rows(runs, slots))

    def _show_manifests(self, runs: list[Run]) -> None:
        known: dict[str, dict[str, Any]] = {}
        for run in runs:
            manifest = (run.details.value or {}).get("manifest")
            if isinstance(manifest, dict):
                known[run.name] = self._with_defaults(run.name, manifest)
        table = self.query_one(Differences)
        table.set_manifests(known)
        table.display = bool(table.rows_total)
        view = self.query_one("#manifest-state", StateView)
        told = [run.name for run in runs if run.details.state in (READY, ABSENT)]
        silent = [name for name in told if name not in known]
        if len(known) > 1 and not table.rows_total:
            view.show_empty("Their manifests mean the same once defaults are filled in.")
        elif silent:
            view.show_empty(f"This Arena does not tell the manifest of {', '.join(silent)}.")
        else:
            view.clear()
        line = self.query_one("#same", Static)
        line.update(Text(table.status if table.rows_total else ""))

    def _with_defaults(self, name: str, manifest: dict[str, Any]) -> dict[str, Any]:
        """Return a manifest with its defaults, worked out once."""
        given, whole = self._filled.get(name, (None, {}))
        if given != manifest:
            whole = filled(manifest)
            self._filled[name] = (manifest, whole)
        return whole

    # Actions -------------------------------------------------------------------------------------

    async def act_filter(self) -> None:
        """Ask which charts to show."""
        answer = await self.app.push_screen_wait(
            FormDialog("Find", [Field("text", "Charts by name")], submit="Find")
        )
        if answer is not None:
            self.query_one("#grid", ChartGrid).set_filter(str(answer["text"] or ""))

    def why_not_filter(self) -> str | None:
        """Say why there is nothing to find."""
        return self._why_no_charts()

    def act_drop(self) -> None:
        """Compare the other runs only."""
        name = self._name_in_hand()
        self.names.remove(str(name))
        marks = self.hub.marks
        marks.set(other for other in marks.names if other != name)
        self.rewatch()

    def why_not_drop(self) -> str | None:
        """Say why none can be left out."""
        if self._name_in_hand() is None:
            return "Choose a run in the tab of runs first."
        return None if len(self.names) > 2 else "Two runs are the least to compare."

    def _name_in_hand(self) -> str | None:
        return self.query_one("#run-rows", Rows).selected_key if self.tab == "runs" else None

    @on(Rows.Opened, "#run-rows")
    async def _open_run(self, event: Rows.Opened) -> None:
        from arena_tui.screens.experiment import ExperimentScreen

        if event.key is not None:
            # On top of this screen, so that escape leads back here.
            await self.app.push_screen(ExperimentScreen(event.key))

    def text_to_copy(self) -> str:
        """Return the selected row: a run's name, or a field with its value in every run."""
        if not self.is_mounted:
            return ""
        row = self.query_one(Differences).selected_row if self.tab == "manifests" else None
        if row is None:
            return self._name_in_hand() or "\n".join(self.names)
        values = [f"{name}: {row.get(str(at), '')}" for at, name in enumerate(self._filled)]
        return "\n".join([str(row["path"]), *values])
