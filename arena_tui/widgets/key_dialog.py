"""Asks for a key by having it pressed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Static

from arena_tui.commands import show_key
from arena_tui.widgets.dialogs import Dialog

DEFAULT = ""


class KeyDialog(Dialog[str | None]):
    """The answer is the key as Textual names it, "" for the action's own, None when cancelled."""

    def __init__(self, title: str, text: str, warn: Callable[[str], str]) -> None:
        """Make the dialog.

        Args:
            title: What the key is for.
            text: What it does.
            warn: Says what stands against a key, or nothing.
        """
        super().__init__(title, text)
        self._warn = warn
        self._key: str | None = None

    def body(self) -> ComposeResult:
        """Make the place where the key is shown."""
        yield Static(Text("Press a key; backspace is the usual one again."), id="key", markup=False)

    def buttons(self) -> Sequence[Widget]:
        """Return none: every key means itself here."""
        return []

    def on_key(self, event: events.Key) -> None:
        """Take the key; the same once more, or enter, confirms it."""
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.dismiss(None)
        elif event.key == "backspace":
            self.dismiss(DEFAULT)
        elif self._key is not None and event.key in ("enter", self._key):
            self.dismiss(self._key)
        else:
            self._key = event.key
            text = Text("The key: ")
            text.append(f" {show_key(event.key)} ", style="bold reverse")
            text.append("   enter takes it, esc leaves it as it was.")
            self.query_one("#key", Static).update(text)
            self.complain(self._warn(event.key))
