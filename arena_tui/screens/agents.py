"""Deployed agents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical

from arena_tui import format
from arena_tui.commands import Action
from arena_tui.safetext import safe_text
from arena_tui.screens.base import style_file
from arena_tui.screens.listing import Facts, ListScreen, state_text
from arena_tui.screens.run_actions import RunActions
from arena_tui.stores.base import Store
from arena_tui.stores.deployments import Deployments
from arena_tui.widgets.dialogs import ChoiceDialog, ConfirmDialog
from arena_tui.widgets.rows import Column, Row


class AgentsScreen(ListScreen, RunActions):
    """One row a deployment."""

    SCREEN = "agents"
    CSS_PATH = [style_file("frame"), style_file("agents")]
    ROWS_TITLE = "Agents"
    DROP = ("algorithm", "url", "checkpoint")
    TEXT_KEYS = ("name", "status", "experiment_name", "project_name", "environment")
    EMPTY = "No agent is deployed."
    HINT = "n deploys one from an experiment's checkpoints."
    ABSENT = "This Arena does not deploy agents."
    ACTIONS: ClassVar[list[Action]] = [
        Action("agents.play", "p", "Playground", "See this agent act.", 1),
        Action("agents.new", "n", "Deploy", "Deploy an agent of an experiment.", 2, True),
        Action("agents.active", "a", "Set active", "Let `arena agent` commands mean this one.", 4),
        Action("agents.stop", "s", "Stop", "Stop serving; the checkpoint stays.", 3, True),
    ]

    def columns(self) -> list[Column]:
        """Return the columns of the table."""

        def mark(value: Any, row: Row) -> str:
            return "★" if row.get("name") == self.hub.deployments.active else ""

        return [
            Column("active", "", 1, show=mark),
            Column("name", "agent", 24),
            Column("status", "status", 14, show=self.state_cell),
            Column("experiment_name", "experiment", 22),
            Column("checkpoint", "checkpoint", 14),
            Column("algorithm", "algo", 6),
            Column("url", "address"),
        ]

    @property
    def store(self) -> Deployments:
        """The deployments."""
        return self.hub.deployments

    def stores(self) -> Iterable[Store]:
        """Return what is watched."""
        yield self.hub.deployments
        yield self.hub.experiments
        if self._about is not None:
            yield self.hub.deployments.load_of(self._about)

    def __init__(self) -> None:
        super().__init__()
        self._about: str | None = None

    def selection_changed(self) -> None:
        """Ask for the load of another agent, where it is served."""
        row = self.selected
        served = row is not None and row.get("status") == "running"
        about = str(row["name"]) if row is not None and served else None
        if about != self._about:
            self._about = about
            self.rewatch()

    def detail(self) -> ComposeResult:
        """Make the pane about a deployment."""
        with Vertical(classes="pane right drop", id="about") as pane:
            pane.border_title = "Agent"
            yield Facts(id="facts")

    def show_detail(self, row: Row | None) -> None:
        """Show the selected deployment."""
        pane = self.query_one("#about")
        pane.set_class(row is None, "-none")
        if row is None:
            return
        pane.border_title = Text(safe_text(row["name"], 200))
        load = self._load(row)
        self.query_one("#facts", Facts).set_facts(
            [
                ("status", state_text(self.app, str(row.get("status")))),
                ("error", row.get("error")),
                ("address", row.get("url")),
                ("requests", load.get("requests")),
                ("requests/s", _rate(load.get("requests_per_second"))),
                ("answers in", _latency(load)),
                ("experiment", row.get("experiment_name")),
                ("checkpoint", row.get("checkpoint")),
                ("environment", row.get("environment")),
                ("project", row.get("project_name")),
                ("active", "yes" if row["name"] == self.hub.deployments.active else None),
                ("since", f"{format.age(row.get('created_at'))} ago"),
            ]
        )

    def _load(self, row: Row) -> dict[str, Any]:
        """Return what is asked of the selected agent, where it tells."""
        if self._about != row["name"]:
            return {}
        return self.hub.deployments.load_of(self._about).value or {}

    def act_active(self) -> None:
        """Make the selected agent the active one."""
        name = str((self.selected or {})["name"])
        self.hub.deployments.set_active(name)
        self.tell(f"`arena agent` commands mean {name} now.")

    def why_not_active(self) -> str | None:
        """Say why none can be made active."""
        return None if self.selected is not None else "Choose an agent first."

    async def open_row(self, row: Row) -> None:
        """Open the playground of an agent that answers."""
        reason = self.why_not_play()
        if reason:
            self.tell(reason, "warning")
        else:
            await self.arena.open_playground(str(row["name"]))

    async def act_play(self) -> None:
        """Open the playground of the selected agent."""
        if self.selected is not None:
            await self.open_row(self.selected)

    def why_not_play(self) -> str | None:
        """Say why the agent cannot play."""
        row = self.selected
        if row is None:
            return "Choose an agent first."
        if row.get("status") != "running":
            return f"The agent is {row.get('status')}; only one that is running can play."
        return None

    async def act_new(self) -> None:
        """Choose an experiment, then a checkpoint, and deploy it."""
        names = [str(row["name"]) for row in self.hub.experiments.value or ()]
        if not names:
            self.tell("There is no experiment to deploy from: 6, then n, trains one.", "warning")
            return
        name = await self.app.push_screen_wait(
            ChoiceDialog("Deploy an agent of which experiment?", [(name, name) for name in names])
        )
        if name is not None:
            rows = await self.hub.call(lambda: self.hub.client.list_checkpoints(name))
            if rows:
                await self.deploy(name, [dict(row) for row in rows])
            else:
                self.tell(f"{name} has no checkpoint yet.", "warning")

    async def act_stop(self) -> None:
        """Stop the selected deployment, after asking."""
        name = str((self.selected or {})["name"])
        sure = await self.app.push_screen_wait(
            ConfirmDialog(
                f"Stop agent {name}?",
                "Its address stops answering; the checkpoint stays and can be deployed again.",
                confirm="Stop",
            )
        )
        if sure:
            await self.hub.deployments.stop(name)
            self.tell(f"{name} is stopped.")

    def why_not_stop(self) -> str | None:
        """Say why it cannot be stopped."""
        row = self.selected
        if row is None:
            return "Choose an agent first."
        return "It is stopped already." if row.get("status") in ("stopped", "failed") else None


def _rate(value: Any) -> str | None:
    return f"{value:.1f}" if isinstance(value, int | float) else None


def _latency(load: dict[str, Any]) -> str | None:
    value = load.get("mean_latency_ms")
    if not isinstance(value, int | float) or not load.get("requests"):
        return None
    return f"{value:.2f} ms on average"
