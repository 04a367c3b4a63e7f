"""Where the text of a manifest comes from and goes to: files, templates, defaults, drafts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena_tui import format
from arena_tui.screens.base import ArenaScreen
from arena_tui.screens.environment_actions import absolute_path
from arena_tui.stores.drafts import Drafts
from arena_tui.stores.manifests import Diagnosis, dump, read, with_environment, without_target
from arena_tui.stores.templates import TEMPLATES, algorithm_names, template, usual_environment
from arena_tui.widgets.dialogs import ChoiceDialog, MessageDialog
from arena_tui.widgets.form_dialog import Field, FormDialog
from arena_tui.widgets.manifest_editor import YamlEditor
from arena_tui.widgets.path_dialog import PathDialog

STAY, SAVE, LEAVE, DISCARD = "stay", "save", "leave", "discard"


class ManifestText(ArenaScreen):
    """Mixed into the screen with the editor `#editor`.

    Attributes:
        file: The file that the text was read from or written to.
        diagnosis: What is wrong with the text.
    """

    diagnosis: Diagnosis

    def begin_text(self, environment: tuple[str, str] | None) -> None:
        """Set what there is before any text.

        Args:
            environment: Name and version of an environment of the user's to train on.
        """
        self.environment = environment
        self.file: Path | None = None
        self._kept = self._last = ""
        self._drafts: Drafts | None = None
        self._draft_id = ""

    @property
    def editor(self) -> YamlEditor:
        """The editor."""
        return self.query_one("#editor", YamlEditor)

    @property
    def text(self) -> str:
        """The manifest as it is written; once the editor is gone, as it was last."""
        for editor in self.query(YamlEditor):
            self._last = editor.text
        return self._last

    @property
    def drafts(self) -> Drafts:
        """The drafts."""
        if self._drafts is None:
            self._drafts = Drafts(self.arena.memory)
        return self._drafts

    @property
    def is_unsaved(self) -> bool:
        """Whether there is something in the editor that is nowhere else."""
        return self.text != self._kept

    def judge(self) -> None:
        """Look at the text again."""

    # Text in -------------------------------------------------------------------------------------

    def put_text(self, text: str, file: Path | None = None, *, kept: bool = True) -> None:
        """Put a text into the editor.

        Args:
            text: The text.
            file: Where it is from.
            kept: Whether it can be had again; if not, it counts as unsaved.
        """
        self.file = file
        self._draft_id = self.drafts.new_id()
        self.editor.load_text(text)
        self._kept = text if kept else ""
        self.judge()

    def begin_with(self, algorithm: str, environment: str | None = None) -> None:
        """Put a template into the editor, for the environment that is wanted."""
        if self.environment is not None:
            text = TEMPLATES.get(algorithm) or template(algorithm, self.environment[0])
            text = without_target(with_environment(text, *self.environment))
        else:
            text = template(algorithm, environment)
        self.put_text(text)

    def read_file(self, path: Path) -> None:
        """Read a manifest file; for an environment that is wanted, it is named in it."""
        text = read(path)
        if self.environment is not None:
            text = with_environment(text, *self.environment)
        self.put_text(text, path)

    def begin_with_draft(self) -> bool:
        """Put the latest draft into the editor; tells whether there was one."""
        latest = next(iter(self.drafts.all), None)
        if latest is not None:
            self._take_draft(latest)
            self.tell("This manifest was not saved, so it was kept: t begins a new one.")
        return latest is not None

    def _take_draft(self, draft: dict[str, Any]) -> None:
        self.put_text(
            str(draft["text"]), Path(draft["file"]) if draft.get("file") else None, kept=False
        )
        self._draft_id = str(draft["id"])

    def keep_draft(self) -> None:
        """Keep what is not saved, in case that this ends in any way."""
        if self.is_unsaved and self.text.strip():
            self.drafts.keep(self._draft_id, self.text, str(self.file) if self.file else None)
        else:
            self.drafts.drop(self._draft_id)

    def forget_draft(self) -> None:
        """The text is safe elsewhere, or not wanted."""
        self._kept = self.text
        self.drafts.drop(self._draft_id)

    # Actions -------------------------------------------------------------------------------------

    async def act_file(self) -> None:
        """Ask for a manifest file and read it."""
        memory = self.arena.memory
        start = memory.get("manifest-folder") if memory else None
        path = await self.app.push_screen_wait(
            PathDialog("Which manifest?", start, pick="file", suffixes=(".yaml", ".yml", ".json"))
        )
        if path is not None:
            if memory is not None:
                memory.set("manifest-folder", str(path.parent))
            self._leave_text()
            self.environment = None
            self.read_file(path)

    def _leave_text(self) -> None:
        """Keep what is in the editor before something else comes there, and say so."""
        if self.is_unsaved:
            self.keep_draft()
            self.tell("What was in the editor is kept as a draft: b brings it back.")

    async def act_template(self) -> None:
        """Ask for an algorithm and begin with its template."""
        own = self.environment[0] if self.environment else None
        name = await self.app.push_screen_wait(
            ChoiceDialog(
                "Begin with",
                [
                    (f"{name} on {own or usual_environment(name)}", name)
                    for name in algorithm_names()
                ],
            )
        )
        if name is not None:
            self._leave_text()
            self.begin_with(name)

    async def act_defaults(self) -> None:
        """Ask for algorithm and environment, and fetch the service's defaults for them."""
        facts = self.diagnosis.facts
        names = sorted(self.hub.environments.value or {})
        answer = await self.app.push_screen_wait(
            FormDialog(
                "Defaults of the service",
                [
                    Field(
                        "algorithm",
                        "Algorithm",
                        "select",
                        facts.get("algorithm"),
                        algorithm_names(),
                        required=True,
                    ),
                    Field(
                        "environment",
                        "Environment",
                        value=facts.get("environment"),
                        required=True,
                        help="A Gymnasium id"
                        + (f", or one of yours: {', '.join(names[:6])}" if names else "."),
                    ),
                ],
                submit="Fetch",
            )
        )
        if answer is None:
            return
        algorithm, environment = str(answer["algorithm"]), str(answer["environment"])
        text, said = await self._defaults(algorithm, environment)
        self._leave_text()
        self.put_text(text)
        self.tell(said)

    async def _defaults(self, algorithm: str, environment: str) -> tuple[str, str]:
        """Return a manifest, and where it is from."""
        from arena_sdk.errors import ArenaError
        from arena_sdk.manifest import algorithms

        client = self.hub.client
        about: dict[str, Any] = {"gym_env": environment}
        if algorithms.is_llm(algorithm):
            about = {"dataset_name": environment}
        try:
            document = await self.hub.call(lambda: client.get_default_run_spec(algorithm, **about))
            text, said = dump(document), f"Defaults for {algorithm} from {self.hub.connection.url}."
        except ArenaError as error:
            text = template(algorithm, environment)
            said = f"Defaults of this program, as the service has none: {self.hub.sentence(error)}"
        versions = list((self.hub.environments.value or {}).get(environment, {}))
        if versions and "version:" not in text:
            text = with_environment(text, environment, versions[-1])
        return text, said

    async def act_drafts(self) -> None:
        """Choose among the manifests that were begun and not saved."""
        draft = await self.app.push_screen_wait(
            ChoiceDialog("Go on with", [(_about(draft), draft) for draft in self.drafts.all])
        )
        if draft is not None:
            self._leave_text()
            self._take_draft(draft)

    def why_not_drafts(self) -> str | None:
        """Say why there is none to choose."""
        return None if self.drafts.all else "There is no draft: every manifest was saved."

    async def act_save(self) -> None:
        """Write the manifest into a file."""
        await self.save_text()

    async def save_text(self) -> bool:
        """Ask for a file and write the text into it; tells whether that was done."""

        def check(values: dict[str, Any]) -> dict[str, str] | None:
            path = absolute_path(values["path"])
            if path.exists() and path != self.file:
                return {"path": f"{path} exists; choose another name."}
            return None

        start = self.file or Path.cwd() / "manifest.yaml"
        answer = await self.app.push_screen_wait(
            FormDialog(
                "Save the manifest",
                [Field("path", "File", "path", str(start), required=True)],
                submit="Save",
                check=check,
            )
        )
        if not answer:
            return False
        path = absolute_path(answer["path"])
        path.write_text(self.text, encoding="utf-8")
        self.file = path
        self.forget_draft()
        self.tell(f"Wrote {path}.")
        self.data_changed()
        return True

    async def act_back(self) -> None:
        """Go back; asks first when something is not saved."""
        if not self.is_unsaved:
            super().act_back()
            return
        answer = await self.app.push_screen_wait(
            ChoiceDialog(
                "The manifest is not saved",
                [
                    ("Stay here", STAY),
                    ("Save it into a file", SAVE),
                    ("Leave; it is kept as a draft, and there again next time", LEAVE),
                    ("Leave and throw the changes away", DISCARD),
                ],
            )
        )
        if answer == DISCARD:
            self.forget_draft()
        elif answer == SAVE and not await self.save_text():
            return
        if answer in (SAVE, LEAVE, DISCARD) and self.app.screen is self:
            super().act_back()

    async def act_explain(self) -> None:
        """Say all about the field under the cursor."""
        from arena_tui.stores.manifests import explanation

        line, column = self.editor.cursor_location
        found = explanation(self.text, line + 1, column + 1)
        if found is not None:
            self.app.push_screen(MessageDialog(found[0], found[1]))

    def why_not_explain(self) -> str | None:
        """Say why there is nothing to explain."""
        from arena_tui.stores.manifests import explanation

        line, column = self.editor.cursor_location
        if explanation(self.text, line + 1, column + 1) is None:
            return "There is no field under the cursor."
        return None


def _about(draft: dict[str, Any]) -> str:
    """Return a line that tells drafts apart."""
    from arena_tui.stores.manifests import diagnose

    facts = diagnose(str(draft["text"])).facts
    what = " on ".join(str(facts[key]) for key in ("algorithm", "environment") if facts.get(key))
    name = Path(draft["file"]).name if draft.get("file") else "no file"
    ago = format.age(float(draft.get("time") or 0.0))
    return f"{what or 'a manifest'} ({name}), {ago} ago"
