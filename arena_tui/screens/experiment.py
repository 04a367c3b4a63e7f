"""One experiment: charts, population, hyperparameters, checkpoints, log and manifest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widgets import ContentSwitcher, Static, TextArea

from arena_tui import format
from arena_tui.commands import Action
from arena_tui.safetext import safe_text
from arena_tui.screens.base import show_state, style_file
from arena_tui.screens.fitted import FittedRows
from arena_tui.screens.lineage_pane import LineagePane
from arena_tui.screens.overlaying import Overlaying
from arena_tui.screens.run_actions import RunActions
from arena_tui.screens.run_charts import RunCharts
from arena_tui.screens.run_summary import absent_run, manifest_text, summary
from arena_tui.screens.run_tables import (
    CHECKPOINT_DROP,
    MEMBER_DROP,
    checkpoint_columns,
    checkpoint_rows,
    member_columns,
    member_rows,
)
from arena_tui.stores.base import ABSENT, READY, Store
from arena_tui.stores.run import Run
from arena_tui.widgets.chart_grid import ChartGrid
from arena_tui.widgets.form_dialog import Field, FormDialog
from arena_tui.widgets.log_view import LogView
from arena_tui.widgets.rows import Row, Rows
from arena_tui.widgets.state_view import StateView


class ExperimentScreen(RunActions, Overlaying):
    """Everything of one run, live while it runs."""

    SCREEN = "experiment"
    TAB = "experiments"
    CSS_PATH = [style_file("frame"), style_file("experiment")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    TABS = (
        ("charts", "Charts", "#grid"),
        ("population", "Population", "#members"),
        ("hyperparameters", "Hyperparameters", "#hp-grid"),
        ("checkpoints", "Checkpoints", "#checkpoint-rows"),
        ("logs", "Logs", "#log"),
        ("manifest", "Manifest", "#manifest-text"),
    )
    ACTIONS: ClassVar[list[Action]] = [
        Action("experiment.next", "tab", "Next tab", "Go to the next tab.", 1),
        Action("experiment.previous", "shift+tab", "Tab before", "Go to the tab before.", 0),
        Action("experiment.stop", "s", "Stop", "Stop the run; it leaves a checkpoint.", 2, True),
        Action("experiment.resume", "u", "Resume", "Go on with a new budget of steps.", 2, True),
        Action("experiment.deploy", "d", "Deploy", "Deploy an agent of this run.", 3, True),
        Action("experiment.axis", "x", "Axis", "Steps, generation, time, from start or in all.", 8),
        Action(
            "experiment.members", "a", "Members", "Band, every member, the best, or a heat map.", 7
        ),
        Action("experiment.beside", "b", "Beside", "Lay the marked runs over these charts.", 10),
        Action("experiment.download", "w", "Metrics", "Write the metrics into a CSV file.", 12),
        Action("experiment.filter", "slash", "Find", "Charts by name; text in the log.", 11),
        Action("experiment.delete", "X", "Delete", "Delete this run and all it left.", 13, True),
    ]

    def __init__(self, name: str) -> None:
        super().__init__()
        self.experiment = name
        self._lines = 0

    @property
    def trail(self) -> str:
        """The experiment's name."""
        return self.experiment

    @property
    def subject(self) -> str:
        """What the charts are of."""
        return self.experiment

    @property
    def run_store(self) -> Run:
        """The live store of this run."""
        return self.hub.run(self.experiment)

    def body(self) -> ComposeResult:
        """Make the summary and the tabs."""
        yield Static("", id="summary", markup=False)
        yield self.strip_of_tabs()
        yield StateView(id="state")
        with ContentSwitcher(initial="charts", id="switch"):
            yield Vertical(StateView(id="chart-state"), ChartGrid(id="grid"), id="charts")
            with Vertical(id="population"):
                yield StateView(id="member-state")
                with Container(id="members-and-lineage"):
                    yield FittedRows(member_columns(), drop=MEMBER_DROP, key="member", id="members")
                    yield LineagePane(id="lineage")
            yield Vertical(StateView(id="hp-state"), ChartGrid(id="hp-grid"), id="hyperparameters")
            yield Vertical(
                StateView(id="checkpoint-state"),
                FittedRows(checkpoint_columns(), drop=CHECKPOINT_DROP, id="checkpoint-rows"),
                id="checkpoints",
            )
            yield Vertical(
                StateView(id="log-state"),
                LogView(id="log"),
                Static("", id="log-line", markup=False),
                id="logs",
            )
            yield Vertical(
                TextArea("", read_only=True, show_line_numbers=True, id="manifest-text"),
                id="manifest",
            )

    def on_mount(self) -> None:
        """Get the charts ready."""
        self.use_charts(
            "charts",
            RunCharts(
                self.query_one("#grid", ChartGrid), lambda name: name not in self._hp_names()
            ),
        )
        moved = RunCharts(
            self.query_one("#hp-grid", ChartGrid), lambda name: name in self._hp_names()
        )
        moved.axis, moved.mode = "generation", "members"
        self.use_charts("hyperparameters", moved)
        self.set_interval(1.0, self._show_summary)

    def _hp_names(self) -> set[str]:
        names: set[str] = set()
        for member in self.run_store.population:
            names.update(member.get("hyperparameters") or ())
        return names

    def stores(self) -> Iterable[Store]:
        """Return what is watched: the run, and what the tab in view needs."""
        run = self.run_store
        yield run
        yield self.hub.marks
        if self.tab in self.chart_sets:
            yield from self.runs_beside()
        elif self.tab == "checkpoints":
            yield run.checkpoints
        elif self.tab == "logs":
            yield run.log

    # Show ----------------------------------------------------------------------------------------

    def show(self) -> None:
        """Show the summary and the tab in view."""
        run = self.run_store
        self._show_summary()
        view = self.query_one("#state", StateView)
        show_state(
            view,
            run.details,
            empty="",
            hint="",
            absent=absent_run(self.hub, self.experiment),
        )
        if view.kind == "clear" and run.error:
            view.show_error(run.error, "Logs say more." if self.tab != "logs" else "")
        getattr(self, f"_show_{self.tab}")(run)

    def _show_summary(self) -> None:
        text = summary(self.app, self.experiment, self.run_store.figures)
        self.query_one("#summary", Static).update(text)

    def _show_charts(self, run: Run) -> None:
        self._show_wait("#chart-state", run)
        self._update_charts(run)

    def _update_charts(self, run: Run) -> None:
        charts = self.charts_in_view
        if isinstance(charts, RunCharts):
            target = run.figures.get("target_score")
            charts.target = float(target) if isinstance(target, int | float) else None
            charts.overlays = self.overlays()
            charts.update(run.columns)
            self.focus_first_chart()

    def _show_wait(self, selector: str, run: Run) -> None:
        """Say why there are no metrics yet."""
        view = self.query_one(selector, StateView)
        if run.columns.count or run.details.state != READY:
            view.clear()
        elif run.state == "queued":
            why = (run.details.value or {}).get("waiting")
            view.show_empty("It waits for its turn.", safe_text(why or "", 200))
        elif run.is_active or not run.state:
            steps = run.progress.get("steps")
            done = f" {format.count(steps)} steps are done." if steps else ""
            view.show_loading(f"The first generation is under way.{done}")
        else:
            view.show_empty("It ended before its first generation did.", "Logs say more.")

    def _show_hyperparameters(self, run: Run) -> None:
        self._show_wait("#hp-state", run)
        self._update_charts(run)

    def _show_population(self, run: Run) -> None:
        self._show_wait("#member-state", run)
        rows = self.query_one("#members", Rows)
        rows.set_rows(member_rows(run))
        self.query_one("#members-and-lineage").display = bool(rows.rows_total)
        self._show_lineage()

    def _show_lineage(self) -> None:
        key = self.query_one("#members", Rows).selected_key
        pane = self.query_one(LineagePane)
        pane.show_run(self.run_store.columns, None if key is None else int(key))

    @on(Rows.Selected, "#members")
    def _member_selected(self, event: Rows.Selected) -> None:
        if isinstance(event, Rows.Opened):
            self.query_one(LineagePane).go_to(int(str(event.key)))
        else:
            self._show_lineage()

    def _show_checkpoints(self, run: Run) -> None:
        rows = self.query_one("#checkpoint-rows", Rows)
        rows.set_rows(checkpoint_rows(run.checkpoints.value or []))
        show_state(
            self.query_one("#checkpoint-state", StateView),
            run.checkpoints,
            empty="No checkpoint yet.",
            hint="The first one is written at the end of a generation, or when you stop the run.",
            absent="This Arena keeps no checkpoints.",
        )
        self._say_once("#checkpoint-state")

    def _show_logs(self, run: Run) -> None:
        log = self.query_one("#log", LogView)
        log.write_lines(run.log.lines[self._lines :])
        self._lines = len(run.log.lines)
        show_state(
            self.query_one("#log-state", StateView),
            run.log,
            empty="The log is empty.",
            hint="",
            absent="This Arena does not offer logs.",
        )
        self._say_once("#log-state")

    def _say_once(self, selector: str) -> None:
        """Leave out what is said above already, as when nothing at all can be reached."""
        view = self.query_one(selector, StateView)
        if view.sentence == self.query_one("#state", StateView).sentence:
            view.clear()

    @on(LogView.Changed)
    def _show_log_line(self) -> None:
        """Say what of the log is shown."""
        log = self.query_one("#log", LogView)
        line = self.query_one("#log-line", Static)
        line.display = bool(log.line_count)
        line.update(Text(log.status))

    def _show_manifest(self, run: Run) -> None:
        area = self.query_one("#manifest-text", TextArea)
        known = run.details.value is not None or run.details.state == ABSENT
        text = manifest_text((run.details.value or {}).get("manifest")) if known else ""
        if area.text != text:
            area.load_text(text)

    # Actions -------------------------------------------------------------------------------------

    def run_in_hand(self) -> Row | None:
        """Return the row of this experiment."""
        row = self.run_store.figures
        return {"name": self.experiment, **row} if row else None

    def deleted(self, names: list[str]) -> None:
        """Go back, as there is nothing more to see."""
        if self in self.app.screen_stack:
            self.act_back()

    async def act_filter(self) -> None:
        """Ask what to look for in the tab in view."""
        words = "Charts by name" if self.charts_in_view else "Text in the log"
        answer = await self.app.push_screen_wait(
            FormDialog("Find", [Field("text", words)], submit="Find")
        )
        if answer is None:
            return
        text = str(answer["text"] or "")
        if self.tab == "logs":
            found = self.query_one("#log", LogView).search(text)
            if text:
                self.tell(f"{found} lines hold it; n goes to the next, N to the one before.")
        elif self.charts_in_view is not None:
            self.charts_in_view.grid.set_filter(text)

    def why_not_filter(self) -> str | None:
        """Say why there is nothing to find."""
        good = self.is_mounted and (self.charts_in_view or self.tab == "logs")
        return None if good else "There is nothing to find in this tab."

    async def act_deploy(self) -> None:
        """Deploy the checkpoint that is selected, or one that is chosen."""
        row = self.query_one("#checkpoint-rows", Rows).selected_row
        if self.tab == "checkpoints" and row is not None:
            await self.deploy_checkpoint(self.experiment, str(row["name"]))
        else:
            await super().act_deploy()

    @on(Rows.Opened, "#checkpoint-rows")
    async def _deploy_this(self) -> None:
        await self.action_act("experiment.deploy")

    def text_to_copy(self) -> str:
        """Return the manifest, the log, or the name of what is selected."""
        if not self.is_mounted:
            return ""
        if self.tab == "manifest":
            return self.query_one("#manifest-text", TextArea).text
        if self.tab == "logs":
            return "\n".join(self.query_one("#log", LogView).lines[-1000:])
        return self.experiment
