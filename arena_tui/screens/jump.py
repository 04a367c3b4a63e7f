"""Go to any pane by a letter: each shows one for as long as it takes to press it."""

from __future__ import annotations

from typing import Any

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from arena_tui.widgets.backdrop import InFront

LETTERS = "asdfghjklqwertyuiopzxcvbnm"


def targets(screen: Any) -> list[Widget]:
    """Return what can be gone to on a screen, from the top left."""
    window = screen.region
    found = [
        widget
        for widget in screen.query("*")
        if widget.focusable and widget.region and window.overlaps(widget.region)
    ]
    # The pane of a letter is where its top left corner is; one within another is another pane.
    found.sort(key=lambda widget: (widget.region.y, widget.region.x))
    return found[: len(LETTERS)]


class JumpDialog(InFront, ModalScreen[Widget | None]):
    """Shows the letters; the answer is the widget whose letter was pressed."""

    DEFAULT_CSS = """
    JumpDialog { background: $background 40%; }
    JumpDialog Static {
        position: absolute; width: 3; height: 1;
        background: $accent; color: $background; text-style: bold;
    }
    """

    def __init__(self, found: list[Widget]) -> None:
        super().__init__()
        self._found = dict(zip(LETTERS, found, strict=False))

    def compose(self) -> ComposeResult:
        """Put a letter at the corner of each pane."""
        for letter, widget in self._found.items():
            label = Static(Text(f" {letter} "), markup=False)
            label.styles.offset = (widget.region.x, widget.region.y)
            yield label

    def on_key(self, event: events.Key) -> None:
        """Go to the pane of a letter; any other key goes nowhere."""
        event.stop()
        event.prevent_default()
        self.dismiss(self._found.get(event.key))

    def on_click(self, event: events.Click) -> None:
        """Go nowhere."""
        self.dismiss(None)
