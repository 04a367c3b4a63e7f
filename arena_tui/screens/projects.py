"""Projects, and which is the default."""

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
from arena_tui.screens.listing import Facts, ListScreen
from arena_tui.stores.base import Store
from arena_tui.stores.projects import Projects
from arena_tui.widgets.dialogs import ConfirmDialog
from arena_tui.widgets.form_dialog import Field, FormDialog
from arena_tui.widgets.rows import Column, Row


def name_check(what: str, field: str) -> Any:
    """Return a form's check that a field holds a name the service will take."""
    from arena_sdk.names import name_problem

    def check(values: dict[str, Any]) -> dict[str, str] | None:
        problem = name_problem(what, str(values.get(field) or ""))
        return {field: problem} if problem else None

    return check


class ProjectsScreen(ListScreen):
    """One row a project."""

    SCREEN = "projects"
    CSS_PATH = [style_file("frame"), style_file("projects")]
    ROWS_TITLE = "Projects"
    DROP = ("type", "last", "description")
    EMPTY = "No project yet."
    HINT = "n makes one; experiments belong to projects."
    ABSENT = "This Arena has no projects."
    ACTIONS: ClassVar[list[Action]] = [
        Action("projects.new", "n", "New", "Make a project.", 1, True),
        Action("projects.default", "d", "Set default", "Make this the default project.", 2),
        Action("projects.delete", "x", "Delete", "Delete this project and its runs.", 4, True),
        Action("projects.experiments", "e", "Experiments", "Show this project's runs.", 3),
    ]

    def columns(self) -> list[Column]:
        """Return the columns of the table."""

        def mark(value: Any, row: Row) -> str:
            return "★" if row.get("name") == self.hub.projects.default else ""

        return [
            Column("default", "", 1, show=mark),
            Column("name", "name", 26),
            Column("type", "type", 12),
            Column("experiments", "runs", 5, "right"),
            Column("last", "last run", 8, "right"),
            Column("description", "description"),
        ]

    @property
    def store(self) -> Projects:
        """The projects."""
        return self.hub.projects

    def stores(self) -> Iterable[Store]:
        """Return what is watched."""
        return (self.hub.projects, self.hub.experiments)

    def rows_data(self) -> list[Row]:
        """Return projects with the number and age of their experiments, where these are known."""
        rows: list[Row] = []
        for project in self.store.value or ():
            runs = self._runs(str(project.get("name")))
            latest = max((str(run.get("created_at") or "") for run in runs), default="")
            known = self.hub.experiments.value is not None and self.hub.experiments.project is None
            count = project.get("experiments")
            rows.append(
                {
                    **project,
                    "experiments": count
                    if isinstance(count, int)
                    else len(runs)
                    if known
                    else None,
                    "last": format.age(latest) if latest else "",
                }
            )
        return rows

    def _runs(self, name: str) -> list[dict[str, Any]]:
        return [row for row in self.hub.experiments.value or () if row.get("project") == name]

    def detail(self) -> ComposeResult:
        """Make the pane about a project."""
        with Vertical(classes="pane right drop", id="about") as pane:
            pane.border_title = "Project"
            yield Facts(id="facts")

    def show_detail(self, row: Row | None) -> None:
        """Show the selected project."""
        pane = self.query_one("#about")
        pane.set_class(row is None, "-none")
        pane.border_title = Text(safe_text(row["name"], 200)) if row else "Project"
        if row is None:
            self.query_one("#facts", Facts).set_facts([])
            return
        runs = self._runs(str(row["name"]))
        states: dict[str, int] = {}
        for run in runs:
            state = str(run.get("state"))
            states[state] = states.get(state, 0) + 1
        self.query_one("#facts", Facts).set_facts(
            [
                ("type", row.get("type")),
                ("description", row.get("description")),
                ("default", "yes" if row["name"] == self.store.default else "no"),
                (
                    "created",
                    f"{format.age(row.get('created_at'))} ago" if row.get("created_at") else None,
                ),
                (
                    "runs",
                    ", ".join(f"{n} {state}" for state, n in sorted(states.items())) or "none",
                ),
            ]
        )

    async def open_row(self, row: Row) -> None:
        """Show a project's experiments."""
        self.hub.experiments.show_project(str(row["name"]))
        await self.arena.go("experiments")

    async def act_experiments(self) -> None:
        """Show the selected project's experiments."""
        if self.selected is not None:
            await self.open_row(self.selected)

    async def act_new(self) -> None:
        """Ask for name and description, and make it."""
        answer = await self.app.push_screen_wait(
            FormDialog(
                "New project",
                [
                    Field("name", "Name", required=True),
                    Field("description", "Description"),
                    Field("llm_based", "For language models", "switch", False),
                ],
                check=name_check("project", "name"),
            )
        )
        if answer:
            name = str(answer["name"])
            await self.store.create(
                name, str(answer["description"] or ""), bool(answer["llm_based"])
            )
            if self.store.default is None:
                await self.store.set_default(name)
            self.select(name)
            self.tell(f"Made project {name}.")

    async def act_default(self) -> None:
        """Make the selected project the default."""
        name = str((self.selected or {})["name"])
        await self.store.set_default(name)
        self.tell(f"{name} is the default project now.")

    async def act_delete(self) -> None:
        """Delete the selected project, after naming what goes with it."""
        name = str((self.selected or {})["name"])
        runs = self._runs(name)
        sure = await self.app.push_screen_wait(
            ConfirmDialog(
                f"Delete project {name}?",
                "With it go its experiments, their metrics and checkpoints."
                if runs
                else "It holds no experiment.",
                loses=[f"experiment {run.get('name')}" for run in runs],
                typed=name if runs else None,
            )
        )
        if sure:
            await self.store.delete(name)
            self.tell(f"Deleted project {name}.")

    def _why_none(self) -> str | None:
        return None if self.selected is not None else "Choose a project first."

    why_not_default = why_not_delete = why_not_experiments = _why_none
