"""All experiments, a row each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import on

from arena_tui.commands import Action
from arena_tui.screens.base import style_file
from arena_tui.screens.compare import MOST
from arena_tui.screens.listing import ListScreen
from arena_tui.screens.progress import DROP, experiment_columns
from arena_tui.screens.run_actions import RunActions
from arena_tui.stores.base import Store
from arena_tui.stores.experiments import Experiments
from arena_tui.widgets.dialogs import ChoiceDialog
from arena_tui.widgets.rows import Column, Row, Rows


class ExperimentsScreen(ListScreen, RunActions):
    """One row a run, of all projects or of one."""

    SCREEN = "experiments"
    CSS_PATH = [style_file("frame"), style_file("experiments")]
    ROWS_TITLE = "Experiments"
    TEXT_KEYS = ("name", "state", "algorithm", "environment", "project")
    EMPTY = "No experiment yet."
    HINT = "n trains a population from a manifest file."
    ABSENT = "This Arena does not list experiments."
    MARKABLE = True
    DROP = DROP
    ACTIONS: ClassVar[list[Action]] = [
        Action("experiments.open", "", "Open", "Open the selected experiment.", 0),
        Action("experiments.new", "n", "New", "Train a population from a manifest file.", 1, True),
        Action("experiments.stop", "s", "Stop", "Stop the run; it leaves a checkpoint.", 3, True),
        Action("experiments.resume", "u", "Resume", "Go on with a new budget of steps.", 4, True),
        Action("experiments.deploy", "d", "Deploy", "Deploy an agent of this run.", 5, True),
        Action("experiments.compare", "c", "Compare", "Show the marked runs beside each other.", 6),
        Action("experiments.unmark", "m", "Unmark all", "Mark no run any more.", 12),
        Action(
            "experiments.delete", "x", "Delete", "Delete this run or the marked ones.", 10, True
        ),
        Action("experiments.download", "w", "Metrics", "Write the metrics into a CSV file.", 9),
        Action("experiments.project", "p", "Project", "Show one project's runs, or all.", 8),
    ]

    def columns(self) -> list[Column]:
        """Return the columns of the table."""
        return experiment_columns(self)

    @property
    def store(self) -> Experiments:
        """The experiments."""
        return self.hub.experiments

    def stores(self) -> Iterable[Store]:
        """Return what is watched."""
        return (self.hub.experiments, self.hub.projects, self.hub.marks)

    def show(self) -> None:
        """Show the rows, whose they are, and how many are marked."""
        self.rows.set_marked(name for name in self.hub.marks.names if self.store.named(name))
        super().show()
        project = self.store.project
        words = f"Experiments · {project}" if project else "Experiments · all projects"
        marked = len(self._marked)
        self.query_one("#list").border_title = f"{words} · {marked} marked" if marked else words

    def run_in_hand(self) -> Row | None:
        """Return the selected row."""
        return self.selected

    async def open_row(self, row: Row) -> None:
        """Open an experiment."""
        await self.arena.open_experiment(str(row["name"]))

    async def act_open(self) -> None:
        """Open the selected experiment."""
        if self.selected is not None:
            await self.open_row(self.selected)

    def why_not_open(self) -> str | None:
        """Say why nothing can be opened."""
        return None if self.selected is not None else "Choose an experiment first."

    # Marks ---------------------------------------------------------------------------------------

    @property
    def _marked(self) -> list[str]:
        """The marked runs; where all projects are shown, those that there still are."""
        names = self.hub.marks.names
        if self.store.project is not None or self.store.value is None:
            return names
        return [name for name in names if self.store.named(name)]

    @on(Rows.MarksChanged, "#rows")
    def _marks_changed(self, event: Rows.MarksChanged) -> None:
        """Keep what is marked; runs of projects that are not shown stay as they are."""
        marks, marked = self.hub.marks, event.rows.marked
        kept = [name for name in marks.names if name in marked or event.rows.row(name) is None]
        marks.set([*kept, *(name for name in marked if name not in kept)])
        self.refresh_frame()

    async def act_compare(self) -> None:
        """Show the marked runs beside each other."""
        await self.arena.open_compare(self._marked)

    def why_not_compare(self) -> str | None:
        """Say why there is nothing to compare."""
        count = len(self._marked)
        if count < 2:
            return f"Mark two runs or more with space first; {count or 'none'} is marked."
        if count > MOST:
            return f"{count} runs are marked, and {MOST} are compared at most; m unmarks all."
        return None

    def act_unmark(self) -> None:
        """Mark no run any more."""
        self.hub.marks.set(())

    def why_not_unmark(self) -> str | None:
        """Say why there is nothing to unmark."""
        return None if self.hub.marks.names else "No run is marked."

    async def runs_to_delete(self) -> list[Row]:
        """Return the selected run or the marked ones; asks which where they are not the same."""
        here = await super().runs_to_delete()
        marked = [row for name in self._marked if (row := self.store.named(name)) is not None]
        if not marked or [row["name"] for row in marked] == [row["name"] for row in here]:
            return here
        chosen = await self.app.push_screen_wait(
            ChoiceDialog(
                "Delete which?",
                [*((f"{row['name']} only", here) for row in here), (_count(marked), marked)],
            )
        )
        return list(chosen or ())

    def why_not_delete(self) -> str | None:
        """Say why nothing can be deleted."""
        if self._marked and self.hub.has("experiment_delete"):
            return None
        return super().why_not_delete()

    async def act_new(self) -> None:
        """Open the form of a new experiment."""
        await self.arena.open_new()

    async def act_project(self) -> None:
        """Choose whose runs are shown."""
        names = self.hub.projects.names
        chosen = await self.app.push_screen_wait(
            ChoiceDialog(
                "Show experiments of",
                [("all projects", ""), *((name, name) for name in names)],
            )
        )
        if chosen is not None:
            self.store.show_project(chosen or None)
            self.data_changed()


def _count(rows: list[Row]) -> str:
    return "the marked one" if len(rows) == 1 else f"the {len(rows)} marked ones"
