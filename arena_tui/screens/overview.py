"""What goes on just now, at a glance, and the way to anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from arena_tui import format
from arena_tui.commands import Action
from arena_tui.screens.base import ArenaScreen, show_state, style_file
from arena_tui.screens.fitted import FittedRows
from arena_tui.screens.listing import Facts, colour, state_text
from arena_tui.screens.progress import DROP, experiment_columns
from arena_tui.stores.base import Store
from arena_tui.stores.experiments import ACTIVE
from arena_tui.widgets.bar_list import Bar, BarList
from arena_tui.widgets.rows import Column, Row, Rows
from arena_tui.widgets.state_view import StateView

_LEVELS = {"error": ("✗", "error"), "warning": ("!", "warning"), "info": ("·", "secondary")}


class OverviewScreen(ArenaScreen):
    """Running work, load of the machine, events, credits."""

    SCREEN = "overview"
    MAIN = "#runs"
    CSS_PATH = [style_file("frame"), style_file("overview")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    ACTIONS: ClassVar[list[Action]] = [
        Action(
            "overview.new", "n", "New experiment", "Train a population from a manifest.", 2, True
        ),
        Action("overview.cancel", "x", "Cancel", "Break off the selected work in progress.", 3),
    ]

    def body(self) -> ComposeResult:
        """Runs and events at the left, machine and work at the right."""
        with Horizontal():
            with Vertical(classes="left"):
                with Vertical(classes="pane tight", id="runs-pane") as pane:
                    pane.border_title = "Experiments"
                    yield StateView(id="runs-state")
                    yield FittedRows(experiment_columns(self), drop=DROP, id="runs")
                with Vertical(classes="pane tight", id="events-pane") as pane:
                    pane.border_title = "Events"
                    yield StateView(id="events-state")
                    yield FittedRows(self._event_columns(), key=_event_key, id="events")
            with Vertical(classes="right", id="side"):
                with Vertical(classes="pane", id="machine-pane") as pane:
                    pane.border_title = "Machine"
                    yield BarList(id="machine")
                    yield Facts(id="machine-facts")
                with Vertical(classes="pane tight", id="work-pane") as pane:
                    pane.border_title = "In progress"
                    yield FittedRows(self._work_columns(), key="key", id="work")
                with Vertical(classes="pane", id="spending-pane") as pane:
                    pane.border_title = "Spending"
                    yield Facts(id="spending")

    def _event_columns(self) -> list[Column]:
        def level(value: Any, row: Row) -> Text:
            mark, name = _LEVELS.get(str(value), _LEVELS["info"])
            return Text(mark, style=colour(self.app, name))

        return [
            Column("time", "UTC", 8, show=lambda value, row: format.clock(value)),
            Column("level", "", 1, show=level),
            Column("name", "what", 20),
            Column("message", "event"),
        ]

    def _work_columns(self) -> list[Column]:
        return [
            Column("state", "state", 11, show=lambda value, row: state_text(self.app, value)),
            Column("title", "what"),
            Column("seconds", "for", 6, show=lambda value, row: format.duration(value)),
        ]

    def on_mount(self) -> None:
        """Keep the times of work in progress going."""
        self.set_interval(1.0, self.data_changed)

    def stores(self) -> Iterable[Store]:
        """Return everything that is summed up here."""
        hub = self.hub
        return (hub.experiments, hub.machine, hub.activity, hub.credits, hub.work, hub.resources)

    def show(self) -> None:
        """Show all panes."""
        self._show_runs()
        self._show_events()
        self._show_machine()
        self._show_work()
        self._show_spending()

    def _show_runs(self) -> None:
        store = self.hub.experiments
        active = store.active
        rest = [row for row in store.value or () if row.get("state") not in ACTIVE]
        rows = self.query_one("#runs", Rows)
        rows.set_rows([*active, *rest[:30]])
        view = self.query_one("#runs-state", StateView)
        show_state(
            view,
            store,
            empty="No experiment yet.",
            hint="n trains one from a manifest; 2 shows environments and makes a first one.",
            absent="This Arena does not list experiments.",
        )
        rows.display = bool(rows.rows_total)
        self.query_one("#runs-pane").border_subtitle = f"{len(active)} running"

    def _show_events(self) -> None:
        store = self.hub.activity
        rows = self.query_one("#events", Rows)
        rows.set_rows(list(store.value or ()))
        view = self.query_one("#events-state", StateView)
        show_state(
            view,
            store,
            empty="Nothing has happened yet.",
            hint="",
            absent="This Arena keeps no list of events.",
        )
        rows.display = bool(rows.rows_total)

    def _show_machine(self) -> None:
        machine = self.hub.machine.value
        pane = self.query_one("#machine-pane")
        pane.set_class(machine is None, "-none")
        if machine is None:
            return
        total = machine.get("memory_total_gb")
        free = machine.get("memory_available_gb")
        used = f"{total - free:.1f}/{total:.1f} GB" if total and free is not None else None
        cpus = machine.get("cpus")
        bars = [
            Bar(f"CPU ×{cpus}" if cpus else "CPU", machine.get("cpu_percent"), 100.0,
                f"{machine.get('cpu_percent') or 0:.0f} %"),
            Bar("memory", machine.get("memory_percent"), 100.0, used),
        ]  # fmt: skip
        for at, gpu in enumerate(machine.get("gpus") or ()):
            share = gpu.get("utilization_percent", gpu.get("percent"))
            bars.append(Bar(f"GPU {at}", share, 100.0, f"{share or 0:.0f} %"))
        self.query_one("#machine", BarList).set_bars(bars)
        jobs = machine.get("jobs") or []
        kinds = ", ".join(f"{job.get('kind')} {job.get('name')}" for job in jobs[:3])
        line = format.sparkline(self.hub.machine.cpu_history, 40)
        self.query_one("#machine-facts", Facts).set_facts(
            [("CPU lately", line), ("workers", f"{len(jobs)}  {kinds}" if jobs else "none")]
        )

    def _show_work(self) -> None:
        jobs = self.hub.work.jobs
        self.query_one("#work-pane").set_class(not jobs, "-none")
        self.query_one("#work", Rows).set_rows(
            {
                "key": str(job.number),
                "title": job.title,
                "state": job.outcome,
                "seconds": job.seconds,
            }
            for job in jobs
        )

    def _show_spending(self) -> None:
        prices = {
            row["id"]: row.get("price_per_node_hour") or 0.0
            for row in self.hub.resources.value or ()
        }
        rate = sum(
            prices.get(str(row.get("resource_id")), 0.0) * (row.get("num_nodes") or 1)
            for row in self.hub.experiments.active
        )
        credits = self.hub.credits.value
        lasts = format.duration(credits / rate * 3600) if credits and rate else None
        self.query_one("#spending", Facts).set_facts(
            [
                ("credits", format.number(credits) if credits is not None else "none needed here"),
                ("an hour", None if credits is None and not rate else format.number(rate)),
                ("lasts", lasts),
            ]
        )

    @on(Rows.Opened, "#runs")
    async def _open_run(self, event: Rows.Opened) -> None:
        await self.arena.open_experiment(str(event.key))

    @on(Rows.Opened, "#events")
    async def _open_event(self, event: Rows.Opened) -> None:
        row = event.row or {}
        subject, name = str(row.get("subject")), str(row.get("name"))
        if subject == "experiment":
            await self.arena.open_experiment(name)
        elif subject in ("environment", "project", "deployment"):
            mode = {"environment": "environments", "project": "projects"}.get(subject, "agents")
            await self.arena.go(mode)
            self.app.screen.select(name)  # type: ignore[attr-defined]

    @on(Rows.Opened, "#work")
    def _open_work(self, event: Rows.Opened) -> None:
        self._open_job(str(event.key))

    def _open_job(self, key: str) -> None:
        from arena_tui.screens.validation import ValidationScreen

        job = next((job for job in self.hub.work.jobs if str(job.number) == key), None)
        if job is not None:
            self.app.push_screen(ValidationScreen(job))

    async def act_new(self) -> None:
        """Open the form of a new experiment."""
        await self.arena.open_new()

    def _selected_job(self) -> Any:
        if not self.is_mounted:
            return None
        rows = self.query_one("#work", Rows)
        key = rows.selected_key if rows.has_focus else None
        return next((job for job in self.hub.work.running if str(job.number) == key), None)

    def act_cancel(self) -> None:
        """Break the selected work off."""
        self._selected_job().cancel()

    def why_not_cancel(self) -> str | None:
        """Say why nothing can be broken off."""
        return None if self._selected_job() else "Choose something in progress first."

    def text_to_copy(self) -> str:
        """Return the name of what is selected."""
        focused = self.focused
        if not isinstance(focused, Rows) or focused.selected_row is None:
            return ""
        row = focused.selected_row
        return str(row.get("message") or row.get("name") or row.get("title") or "")


def _event_key(row: Row) -> str:
    return f"{row.get('time')}\0{row.get('subject')}\0{row.get('name')}\0{row.get('message')}"
