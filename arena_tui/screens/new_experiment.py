"""A new experiment: a manifest, judged as it is written, then submitted."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static, TextArea

from arena_tui import format
from arena_tui.commands import Action
from arena_tui.safetext import safe_text
from arena_tui.screens.base import style_file
from arena_tui.screens.diagnosis import marks_of, problem_columns, problem_rows, sentence
from arena_tui.screens.fitted import FittedRows
from arena_tui.screens.listing import Facts, Note, colour
from arena_tui.screens.manifest_text import ManifestText
from arena_tui.screens.projects import name_check
from arena_tui.stores.base import Store
from arena_tui.stores.manifests import Diagnosis, diagnose, explanation, fitting
from arena_tui.stores.work import Job
from arena_tui.widgets.form_dialog import Field, FormDialog
from arena_tui.widgets.manifest_editor import Offer, YamlEditor
from arena_tui.widgets.rows import Row, Rows

JUDGE_AFTER = 0.25
"""Seconds without a key before the text is judged again."""


class NewExperimentScreen(ManifestText):
    """From a manifest to a run."""

    SCREEN = "new"
    TAB = "experiments"
    CSS_PATH = [style_file("frame"), style_file("new_experiment")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    MAIN = "#problems"
    ACTIONS: ClassVar[list[Action]] = [
        Action("new.submit", "ctrl+s", "Submit", "Submit it, and watch it.", 1, True),
        Action("new.edit", "e", "Edit", "Edit the manifest; esc leaves the editor.", 2),
        Action("new.template", "t", "Template", "Begin with a manifest of ours.", 3),
        Action("new.defaults", "f", "Defaults", "Fetch the service's defaults.", 4),
        Action("new.file", "m", "Manifest file", "Read a manifest from a file.", 5),
        Action("new.options", "p", "Name, resource", "Name, project, resource, nodes.", 6),
        Action("new.save", "w", "Save", "Write the manifest into a file.", 7),
        Action("new.drafts", "b", "Drafts", "Go on with what was not saved.", 9),
        Action("new.next", "f8,n", "Next problem", "Go to the next thing that is wrong.", 8),
        Action("new.previous", "f9,N", "Previous", "Go to the one before that.", 0),
        Action("new.explain", "f2", "Explain", "Say all about the field at the cursor.", 9),
        Action("new.complete", "f4", "Complete", "Offer what fits at the cursor; ^n too.", 9),
    ]

    def __init__(
        self,
        *,
        manifest: Path | None = None,
        environment: str | None = None,
        version: str | None = None,
    ) -> None:
        """Make the form.

        Args:
            manifest: A file to begin with.
            environment: An environment of the user's to train on.
            version: Its version.
        """
        super().__init__()
        self._start = manifest
        self.begin_text((environment, version) if environment and version else None)
        self.run_name: str | None = None
        self.project: str | None = None
        self.resource: str | None = None
        self.nodes = 1
        self.diagnosis = Diagnosis()
        self.job: Job | None = None
        self._timer: Any = None

    trail = "new"

    def body(self) -> ComposeResult:
        """Editor and problems at the left, what will be done at the right."""
        with Horizontal():
            with Vertical(classes="left"):
                with Vertical(classes="pane tight", id="editor-pane") as pane:
                    pane.border_title = "Manifest"
                    yield YamlEditor(complete=_offers, id="editor")
                    yield Static("", id="here", markup=False)
                with Vertical(classes="pane tight", id="problems-pane") as pane:
                    pane.border_title = "Diagnosis"
                    yield FittedRows(
                        problem_columns(self), drop=("path",), key="key", id="problems"
                    )
                    yield Note(id="note")
            with Vertical(classes="pane right", id="about") as pane:
                pane.border_title = "Run"
                yield Facts(id="facts")

    def on_mount(self) -> None:
        """Begin with what was given, or with what was not saved last time."""
        if self._start is not None:
            self.read_file(self._start)
        elif self.environment is not None or not self.begin_with_draft():
            self.begin_with("DQN")

    async def on_unmount(self) -> None:
        """Keep what is not saved."""
        self.cease()
        if self.is_unsaved:
            self.keep_draft()
            self.tell("The manifest was not saved: a new experiment (6, n) brings it back.")

    def stores(self) -> Iterable[Store]:
        """Return what is watched."""
        hub = self.hub
        found: list[Store] = [hub.projects, hub.resources, hub.credits]
        return [*found, self.job] if self.job is not None else found

    # Show ----------------------------------------------------------------------------------------

    def show(self) -> None:
        """Show the verdict, and what will be done."""
        found = self.diagnosis.problems
        self.query_one("#problems", Rows).set_rows(problem_rows(self.diagnosis))
        pane = self.query_one("#problems-pane")
        pane.border_subtitle = f"{len(found)} to mend" if found else "nothing to mend"
        name = self.file.name if self.file else "no file"
        self.query_one("#editor-pane").border_subtitle = Text(
            f"{name}, not saved" if self.is_unsaved or not self.file else name
        )
        self.editor.set_marks(marks_of(self.diagnosis))
        self._show_here()
        self._show_facts()

    def _show_here(self) -> None:
        """Say what is wrong where the cursor is, or else what may stand there."""
        line, column = self.editor.cursor_location
        problem = self.diagnosis.on_line(line + 1)
        text = Text(no_wrap=False)
        if problem is not None:
            is_error = problem.severity == "error"
            style = colour(self.app, "error" if is_error else "warning")
            text.append(f"{'✗' if is_error else '!'} {safe_text(sentence(problem), 500)}", style)
        else:
            found = explanation(self.text, line + 1, column + 1)
            facts = found[1].splitlines() if found else []
            short = [line.partition("  ")[2].strip() for line in facts[:2]]
            if found:
                text.append(safe_text(found[0]), style=colour(self.app, "primary"))
                text.append(f"  {safe_text('; '.join(filter(None, short)), 400)}", style="dim")
            elif self.editor.has_focus:
                text.append("^n offers what fits; esc leaves the editor.", style="dim")
        self.query_one("#here", Static).update(text)

    def _show_facts(self) -> None:
        facts = self.diagnosis.facts
        tier = self._tier()
        price = float((tier or {}).get("price_per_node_hour") or 0.0)
        job = self.job
        environment = " ".join(
            str(part) for part in (facts.get("environment"), facts.get("version")) if part
        )
        self.query_one("#facts", Facts).set_facts(
            [
                ("name", self.run_name or "chosen by the service"),
                ("project", self._project() or "asked for on submission"),
                ("resource", tier["id"] if tier else "unknown"),
                ("nodes", self.nodes),
                ("GPUs", None if tier is None else _gpus(tier)),
                ("price", f"{format.number(price * self.nodes)} credits/h" if price else "free"),
                ("credits last", self._credits_last(price * self.nodes)),
                ("algorithm", facts.get("algorithm")),
                ("environment", environment),
                ("population", facts.get("pop_size")),
                ("steps", _steps(facts.get("max_steps"))),
                ("target score", facts.get("target_score")),
                ("submission", None if job is None else f"{job.state} {job.last_line}"),
                ("error", None if job is None else job.error),
            ]
        )

    def _credits_last(self, price: float) -> str | None:
        credits = self.hub.credits.value
        return format.duration(credits / price * 3600) if credits is not None and price else None

    def _tier(self) -> Row | None:
        wanted = self.resource or self.hub.resources.suggested
        return next((row for row in self.hub.resources.value or () if row["id"] == wanted), None)

    def _project(self) -> str | None:
        projects = self.hub.projects
        only = projects.names[0] if len(projects.names) == 1 else None
        return self.project or self.hub.experiments.project or projects.default or only

    @on(TextArea.Changed, "#editor")
    def _edited(self, event: TextArea.Changed) -> None:
        self._last = event.text_area.text
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(JUDGE_AFTER, self._judge_and_keep)

    def _judge_and_keep(self) -> None:
        self.judge()
        self.keep_draft()

    def judge(self) -> None:
        """Look at the text, and show what is wrong."""
        self.diagnosis = diagnose(self.text)
        self.show()
        self.refresh_frame()

    @on(YamlEditor.Moved)
    def _moved(self) -> None:
        self._show_here()

    @on(YamlEditor.Left)
    def _left_editor(self) -> None:
        self.query_one("#problems").focus()

    @on(Rows.Selected, "#problems")
    def _show_note(self, event: Rows.Selected) -> None:
        row = event.row or {}
        self.query_one("#note", Note).say(row.get("line") and row.get("message"))

    @on(Rows.Opened, "#problems")
    def _go_to_problem(self, event: Rows.Opened) -> None:
        places = self.diagnosis.places
        line = (event.row or {}).get("line")
        if line:
            place = next((each for each in places if each.line == line), None)
            self.editor.go_to(int(line) - 1, place.column - 1 if place else 0)

    # Actions -------------------------------------------------------------------------------------

    def act_edit(self) -> None:
        """Go into the editor."""
        self.editor.focus()

    def act_complete(self) -> None:
        """Offer what fits at the cursor."""
        self.editor.focus()
        self.editor.action_complete()

    def act_next(self) -> None:
        """Go to the next problem."""
        self._go_by(1)

    def act_previous(self) -> None:
        """Go to the problem before."""
        self._go_by(-1)

    def _why_no_problem(self) -> str | None:
        return None if self.diagnosis.places else "Nothing is wrong."

    why_not_next = why_not_previous = _why_no_problem

    def _go_by(self, step: int) -> None:
        """Go to the next place that is wrong, round the end of the text."""
        places = sorted({(each.line - 1, each.column - 1) for each in self.diagnosis.places})
        here = self.editor.cursor_location
        if step > 0:
            to = next((place for place in places if place > here), places[0])
        else:
            to = next((place for place in reversed(places) if place < here), places[-1])
        self.editor.go_to(*to)

    async def act_options(self) -> None:
        """Ask for name, project, resource and nodes."""
        from arena_sdk.names import name_problem

        def check(values: dict[str, Any]) -> dict[str, str] | None:
            name = values.get("name")
            problem = name_problem("experiment", str(name)) if name else None
            return {"name": problem} if problem else None

        tier = self._tier()
        answer = await self.app.push_screen_wait(
            FormDialog(
                "How to run it",
                [
                    Field(
                        "name",
                        "Name",
                        value=self.run_name,
                        help="The service chooses one if empty.",
                    ),
                    Field("project", "Project", "select", self._project(), self.hub.projects.names),
                    Field(
                        "resource",
                        "Resource",
                        "select",
                        tier["id"] if tier else None,
                        [_tier_choice(row) for row in self.hub.resources.value or ()],
                    ),
                    Field("nodes", "Nodes", "integer", self.nodes, required=True, minimum=1),
                ],
                submit="Use",
                check=check,
            )
        )
        if answer is not None:
            self.run_name = answer["name"]
            self.project, self.resource = answer["project"], answer["resource"]
            self.nodes = int(answer["nodes"])
            self.show()

    async def act_submit(self) -> None:
        """Submit the manifest, and open the experiment once it is accepted."""
        import asyncio

        self.judge()
        reason = self.why_not_submit()
        if reason:
            self.tell(reason, "warning")
            return
        if self._project() is None and not await self._make_project():
            return
        tier = self._tier()
        job = self.job = self.hub.experiments.submit(
            self.diagnosis.document or {},
            resource_id=str(tier["id"]) if tier else "local",
            num_nodes=self.nodes,
            project=self._project(),
            name=self.run_name,
        )
        self.rewatch()
        if job.task is not None:
            await asyncio.wait([job.task])
        if job.state != "done":
            self.tell(job.error or "It was not submitted.", "error")
            return
        self.forget_draft()
        for level, line in job.lines:
            if level == "warning":
                self.tell(line, "warning")
        result = job.result if isinstance(job.result, dict) else {}
        name = result.get("experiment_name") or result.get("name") or self.run_name
        if name and self.is_attached:
            await self.arena.open_experiment(str(name))

    def why_not_submit(self) -> str | None:
        """Say why it cannot be submitted."""
        if self.diagnosis.problems:
            problem = self.diagnosis.problems[0]
            where = f"line {problem.line}: " if problem.line else ""
            return f"Mend the manifest first: {where}{sentence(problem)}"
        if self.job is not None and self.job.is_running:
            return "It is being submitted."
        if self._project() is None and self.hub.projects.names:
            return "It needs a project: p chooses one."
        return None

    async def _make_project(self) -> bool:
        """Ask for the name of a first project and make it; returns whether there is one."""
        answer = await self.app.push_screen_wait(
            FormDialog(
                "A first project",
                [Field("name", "Name", value="my-project", required=True)],
                submit="Make it",
                intro="Experiments belong to projects, and there is none yet.",
                check=name_check("project", "name"),
            )
        )
        if answer is None:
            return False
        name = str(answer["name"])
        await self.hub.projects.create(name, "")
        await self.hub.projects.set_default(name)
        return True

    def text_to_copy(self) -> str:
        """Return the manifest."""
        return self.text if self.is_mounted else ""


def _steps(value: Any) -> str | None:
    return f"{value:,} of each member" if isinstance(value, int) else None


def _offers(text: str, line: int, column: int) -> list[Offer]:
    """Return what the editor offers at a place, counted from 0."""
    return [Offer(*each) for each in fitting(text, line + 1, column + 1)]


def _gpus(tier: Row) -> str:
    return (
        f"{tier['num_gpus']}× {tier.get('gpu_type') or 'GPU'}" if tier.get("num_gpus") else "none"
    )


def _tier_choice(row: Row) -> tuple[str, str]:
    price = row.get("price_per_node_hour")
    words = f"{format.number(float(price))} credits/node-h" if price else "free"
    return f"{row['id']}  {row.get('num_cpus')} CPUs  {words}", str(row["id"])
