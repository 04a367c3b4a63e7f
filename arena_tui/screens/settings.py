"""What can be set to one's taste, and every key by the id of what it does."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from arena_tui import registry
from arena_tui.commands import Action, clashes, show_key, show_keys
from arena_tui.screens.base import ArenaScreen, style_file
from arena_tui.screens.fitted import FittedRows
from arena_tui.screens.listing import colour
from arena_tui.settings import PLOT_STYLES
from arena_tui.widgets.dialogs import ChoiceDialog
from arena_tui.widgets.form_dialog import Field, FormDialog
from arena_tui.widgets.key_dialog import DEFAULT, KeyDialog
from arena_tui.widgets.rows import Column, Row, Rows

TAKEN_ELSEWHERE = {
    "ctrl+b": "tmux",
    "ctrl+a": "screen",
    "ctrl+c": "the terminal",
    "ctrl+z": "the terminal",
    "ctrl+q": "the terminal",
    "ctrl+s": "terminals with flow control",
    "ctrl+backslash": "the terminal",
    "ctrl+m": "enter",
    "ctrl+i": "tab",
    "ctrl+h": "backspace",
}
"""Keys that something outside keeps, or that terminals cannot tell from another."""


class SettingsScreen(ArenaScreen):
    """Settings above, keys below."""

    SCREEN = "settings"
    CSS_PATH = [style_file("frame"), style_file("settings")]
    MAIN = "#settings"
    ACTIONS: ClassVar[list[Action]] = [
        Action("settings.change", "e", "Change", "Change what is selected; enter does too.", 1),
        Action("settings.usual", "u", "Usual keys", "Make every key what it usually is.", 2),
    ]

    trail = "settings"

    def body(self) -> ComposeResult:
        """Make the two tables."""
        with Vertical(classes="pane tight", id="settings-pane") as pane:
            pane.border_title = "Settings"
            yield FittedRows(
                [Column("label", "what", 14), Column("value", "is", 24), Column("help", "means")],
                drop=("help",),
                id="settings",
            )
        with Vertical(classes="pane tight", id="keys-pane") as pane:
            pane.border_title = "Keys"
            yield FittedRows(
                [
                    Column("keys", "keys", 18, show=self._keys_cell),
                    Column("id", "action", 24),
                    Column("where", "where", 16),
                    Column("help", "does"),
                    Column("clash", "clash", 26, show=self._clash_cell),
                ],
                drop=("help", "where"),
                key="id",
                id="keys",
            )

    def _keys_cell(self, value: Any, row: Row) -> Text:
        return Text(str(value), style="bold" if row["id"] in self.arena.keymap else "")

    def _clash_cell(self, value: Any, row: Row) -> Text:
        return Text(str(value), style=colour(self.app, "warning"))

    def show(self) -> None:
        """Show what is set."""
        settings = self.arena.settings
        self.query_one("#settings", Rows).set_rows(
            [
                {"name": "theme", "label": "theme", "value": self.app.theme,
                 "help": "Colours; ansi-dark and ansi-light are the terminal's own."},
                {"name": "plot_style", "label": "plots", "value": settings.plot_style,
                 "help": "What charts are drawn with; ascii needs no special font."},
                {"name": "refresh", "label": "refresh", "value": f"{settings.refresh:g} s",
                 "help": "Time between two looks at what is not pushed."},
            ]
        )  # fmt: skip
        found = self.clashes()
        self.query_one("#keys", Rows).set_rows(
            [
                {
                    "id": action.id,
                    "where": where,
                    "keys": show_keys(self.keys_of(action)),
                    "help": action.help,
                    "clash": found.get(action.id, ""),
                }
                for where, action in registry.all_actions()
            ]
        )
        self.query_one("#keys-pane").border_subtitle = (
            f"{len(found)} with a clash" if found else "no clash"
        )

    def clashes(self, keymap: dict[str, str] | None = None) -> dict[str, str]:
        """Return by action id what stands against its keys, as they are set or would be."""
        keymap = self.arena.keymap if keymap is None else keymap
        everywhere = list(self.arena.ACTIONS)
        found: dict[str, str] = {}
        for spec in registry.SCREENS:
            for key, one, other in clashes([*spec.load().all_actions(), *everywhere], keymap):
                found[one] = f"{show_key(key)} is {other} too"
                found[other] = f"{show_key(key)} is {one} too"
        for action_id, keys in keymap.items():
            for key in keys.split(","):
                if key.strip() in TAKEN_ELSEWHERE:
                    found[action_id] = f"{show_key(key)} belongs to {TAKEN_ELSEWHERE[key.strip()]}"
        return found

    # Actions -------------------------------------------------------------------------------------

    @on(Rows.Opened)
    def _opened(self, event: Rows.Opened) -> None:
        event.stop()
        self.app.run_worker(self.act_change(), group="settings.change", exclusive=True)

    async def act_change(self) -> None:
        """Change the selected setting or key."""
        table = self.query_one("#keys" if self._in_keys else "#settings", Rows)
        row = table.selected_row
        if row is None:
            return
        if self._in_keys:
            await self._change_key(str(row["id"]), str(row["help"]))
        elif row["name"] == "refresh":
            await self._change_refresh()
        else:
            await self._choose(str(row["name"]))
        self.data_changed()

    @property
    def _in_keys(self) -> bool:
        return self.query_one("#keys").has_focus

    async def _choose(self, name: str) -> None:
        choices = PLOT_STYLES if name == "plot_style" else sorted(self.app.available_themes)
        chosen = await self.app.push_screen_wait(
            ChoiceDialog(name.replace("_", " "), [(choice, choice) for choice in choices])
        )
        if chosen is not None:
            setattr(self.arena.settings, name, chosen)
            self.arena.use_settings()

    async def _change_refresh(self) -> None:
        answer = await self.app.push_screen_wait(
            FormDialog(
                "Refresh",
                [Field("refresh", "Seconds between two looks", "number",
                       self.arena.settings.refresh, required=True, minimum=0.5, maximum=60)],
                submit="Use",
            )
        )  # fmt: skip
        if answer is not None:
            self.arena.settings.refresh = float(answer["refresh"])
            self.arena.use_settings()

    async def _change_key(self, action_id: str, what: str) -> None:
        def warn(key: str) -> str:
            return self.clashes({**self.arena.keymap, action_id: key}).get(action_id, "")

        key = await self.app.push_screen_wait(KeyDialog(f"A key for {action_id}", what, warn))
        if key is None:
            return
        keys = self.arena.settings.keys
        keys.pop(action_id, None)
        if key != DEFAULT:
            keys[action_id] = key
        self.arena.use_settings()

    def act_usual(self) -> None:
        """Forget all keys that were set."""
        self.arena.settings.keys.clear()
        self.arena.use_settings()
        self.data_changed()

    def why_not_usual(self) -> str | None:
        """Say why there is nothing to forget."""
        return None if self.arena.settings.keys else "Every key is what it usually is."
