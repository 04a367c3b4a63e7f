"""What stands where data would be: nothing yet, loading, an error, or no connection."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import Static

from arena_tui.safetext import safe_lines

_MARKS = {"empty": "○", "loading": "◌", "error": "✗", "offline": "!"}


class StateView(Static):
    """One sentence on the state of what is around it, and a hint at what to do; hidden when clear.

    Attributes:
        kind: "clear", "empty", "loading", "error" or "offline".
    """

    DEFAULT_CSS = """
    StateView { display: none; height: auto; width: 1fr; padding: 0 1; color: $text-muted; }
    StateView.-empty, StateView.-loading { padding: 1 2; }
    StateView.-error { color: $text-error; background: $error-muted; }
    StateView.-offline { color: $text-warning; background: $warning-muted; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes, markup=False)
        self.kind = "clear"
        self.sentence = ""

    def show_empty(self, text: str, hint: str = "") -> None:
        """Say that there is nothing, and how to make something."""
        self._show("empty", text, hint)

    def show_loading(self, text: str = "Loading…") -> None:
        """Say that data are on their way."""
        self._show("loading", text, "")

    def show_error(self, text: str, hint: str = "") -> None:
        """Say what went wrong, and what to do."""
        self._show("error", text, hint)

    def show_offline(self, text: str, hint: str = "") -> None:
        """Say that there is no connection, and what the data shown are worth."""
        self._show("offline", text, hint)

    def clear(self) -> None:
        """Show nothing."""
        if self.kind != "clear":
            self.remove_class(f"-{self.kind}")
            self.kind, self.sentence = "clear", ""
            self.display = False

    def _show(self, kind: str, text: str, hint: str) -> None:
        content = Text(f"{_MARKS[kind]} {safe_lines(text)}")
        if hint:
            content.append(f"\n  {safe_lines(hint)}", style="dim")
        if (kind, content.plain) == (self.kind, self.sentence):
            return
        self.remove_class(f"-{self.kind}")
        self.add_class(f"-{kind}")
        self.kind, self.sentence = kind, content.plain
        self.display = True
        self.update(content)
