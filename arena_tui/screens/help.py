"""The keys of the screen in view."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from arena_tui.commands import Action, bindings, show_keys
from arena_tui.widgets.acting import Acting
from arena_tui.widgets.backdrop import InFront

if TYPE_CHECKING:
    from arena_tui.screens.base import ArenaScreen


_WORDS = {"FittedRows": "table", "Chart": "chart", "ChartGrid": "charts", "LogView": "log"}


class HelpDialog(Acting, InFront, ModalScreen[None]):
    """Every key that does something here, and what it does."""

    ACTIONS: ClassVar[list[Action]] = [
        Action("help.close", "escape,question_mark,q,enter", "Close", "Close the help.", 1),
    ]
    BINDINGS: ClassVar[list[Any]] = bindings(ACTIONS)
    DEFAULT_CSS = """
    HelpDialog { align: center middle; }
    HelpDialog > VerticalScroll {
        width: 92; max-width: 96%; height: auto; max-height: 94%;
        border: round $primary; background: $surface; padding: 0 2;
    }
    """

    def __init__(self, screen: ArenaScreen) -> None:
        super().__init__()
        self._screen = screen

    def compose(self) -> ComposeResult:
        """List the keys in groups."""
        with VerticalScroll() as frame:
            frame.border_title = "Keys"
            frame.border_subtitle = "other keys, by these ids: `keys:` in ~/.arena/tui.yaml"
            yield Static(self._table(), markup=False)

    def _table(self) -> Text:
        screen = self._screen
        text = Text()
        here = list(screen.all_actions())
        focused = screen.focused
        while focused is not None and focused is not screen:
            if isinstance(focused, Acting) and focused.ACTIONS:
                self._group(
                    text, f"In the {_WORDS.get(type(focused).__name__, 'pane')}", focused.ACTIONS
                )
            focused = focused.parent  # type: ignore[assignment]
        self._group(text, "This screen", [a for a in here if a.scope == screen.SCREEN])
        self._group(text, "Every screen", [a for a in here if a.scope != screen.SCREEN])
        self._group(text, "Everywhere", screen.arena.ACTIONS)
        return text

    def _group(self, text: Text, title: str, actions: Iterable[Action]) -> None:
        rows = [(self._screen.keys_of(action), action) for action in actions]
        rows = [(keys, action) for keys, action in rows if keys]
        if not rows:
            return
        text.append(("\n" if text.plain else "") + title + "\n", style="bold")
        wide = self.app.size.width >= 100
        for keys, action in rows:
            text.append(f"  {show_keys(keys):<14}", style="bold cyan")
            text.append(f"{action.help:<44}" if wide else action.help)
            text.append(f" {action.id}\n" if wide else "\n", style="dim")

    def act_close(self) -> None:
        """Close it."""
        self.dismiss(None)
