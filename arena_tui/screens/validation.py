"""A long action as it goes: the checks of a validation, and what it says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from arena_tui import format
from arena_tui.commands import Action
from arena_tui.safetext import safe_text
from arena_tui.screens.base import ArenaScreen, style_file
from arena_tui.screens.checks import check_columns, check_rows
from arena_tui.screens.fitted import FittedRows
from arena_tui.screens.listing import Note, colour, state_text
from arena_tui.stores.base import Store
from arena_tui.stores.work import Job
from arena_tui.widgets.dialogs import MessageDialog
from arena_tui.widgets.log_view import LogView
from arena_tui.widgets.rows import Rows


class ValidationScreen(ArenaScreen):
    """Follows one long action of this session; leaving does not break it off."""

    SCREEN = "validation"
    TAB = "environments"
    CSS_PATH = [style_file("frame"), style_file("validation")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (32, "-high")]
    ACTIONS: ClassVar[list[Action]] = [
        Action("validation.cancel", "x", "Cancel", "Break it off.", 2),
        Action("validation.train", "e", "Train on it", "Use it in a new experiment.", 1, True),
    ]

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self._lines = 0

    @property
    def trail(self) -> str:
        """What is going on."""
        return self.job.title

    def body(self) -> ComposeResult:
        """Verdict, checks, and what it says."""
        yield Static("", id="verdict", markup=False)
        with Vertical(classes="pane tight", id="checks-pane") as pane:
            pane.border_title = "Checks"
            yield FittedRows(check_columns(self), key="check", id="checks")
            yield Note(id="note")
        with Vertical(classes="pane tight", id="log-pane") as pane:
            pane.border_title = "What it says"
            yield LogView(id="log")

    def on_mount(self) -> None:
        """Keep the time going."""
        self.query_one("#checks-pane").display = self.job.kind == "validate"
        self.query_one("#checks" if self.job.kind == "validate" else "#log").focus()
        self.set_interval(0.5, self.data_changed)

    def stores(self) -> Iterable[Store]:
        """Return what is watched."""
        return (self.job,)

    def show(self) -> None:
        """Show how far it is."""
        job = self.job
        failed = [name for name, result in job.checks.items() if not result["success"]]
        checks = self.query_one("#checks", Rows)
        before = checks.rows_total
        checks.set_rows(
            check_rows({"check": name, **result} for name, result in job.checks.items())
        )
        if checks.rows_total > before:
            # What is wrong matters most; without that, the latest check.
            checks.select(failed[0] if failed else list(job.checks)[-1])
        self.query_one("#checks-pane").border_subtitle = f"{len(job.checks)} done" + (
            f", {len(failed)} failed" if failed else ""
        )
        log = self.query_one("#log", LogView)
        log.write_lines(line for _, line in job.lines[self._lines :])
        self._lines = len(job.lines)
        self.query_one("#verdict", Static).update(self._verdict(failed))

    def _verdict(self, failed: list[str]) -> Text:
        job = self.job
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(f" {safe_text(job.title)}  ", style="bold")
        text.append(state_text(self.app, job.outcome))
        text.append(f"  {format.duration(job.seconds)}  ", style="dim")
        if job.is_running:
            text.append(safe_text(job.last_line, 200), style="dim")
        elif job.error:
            text.append(safe_text(job.error, 500), style=colour(self.app, "error"))
        elif job.kind == "validate":
            good = self._is_valid() and not failed
            words = "It is valid: e trains on it." if good else f"Not valid: {', '.join(failed)}."
            text.append(safe_text(words), style=colour(self.app, "success" if good else "error"))
        return text

    def _is_valid(self) -> bool:
        return self.job.outcome == "done"

    @on(Rows.Selected, "#checks")
    def _show_note(self, event: Rows.Selected) -> None:
        self.query_one("#note", Note).say((event.row or {}).get("note"))

    @on(Rows.Opened, "#checks")
    def _open_check(self, event: Rows.Opened) -> None:
        if event.row is not None and event.row["note"]:
            result = self.job.checks.get(str(event.key), {})
            found = [result.get("error") or "", *result.get("warnings", ())]
            self.app.push_screen(
                MessageDialog(str(event.key), "\n".join(filter(None, map(str, found))))
            )

    def act_cancel(self) -> None:
        """Break it off."""
        self.job.cancel()

    def why_not_cancel(self) -> str | None:
        """Say why it cannot be broken off."""
        return None if self.job.is_running else "It has ended."

    async def act_train(self) -> None:
        """Use what was validated in a new experiment."""
        name, version = self.job.subject
        await self.arena.open_new(
            environment=name,
            version=version,
            manifest=self.hub.environments.manifest_beside(name, version),
        )

    def why_not_train(self) -> str | None:
        """Say why it cannot be trained on."""
        if self.job.kind == "validate" and self._is_valid():
            return None
        return "Only a valid environment can be trained on."

    def text_to_copy(self) -> str:
        """Return what it said."""
        return "\n".join(line for _, line in self.job.lines)
