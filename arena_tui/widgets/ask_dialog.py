"""Ask an agent for its action on an observation that was typed, as often as one likes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from arena_tui.safetext import safe_lines
from arena_tui.widgets.dialogs import Dialog

Ask = Callable[[str], Awaitable[str]]
"""From what was typed to what is answered; raises ValueError with a sentence."""


class AskDialog(Dialog[None]):
    """A line to edit; enter asks, and the answer stands below until the next."""

    DEFAULT_CSS = """
    AskDialog > #dialog { width: 96; }
    AskDialog #asked { margin-bottom: 1; }
    AskDialog #answer { height: auto; min-height: 1; max-height: 10; margin-bottom: 1; }
    """

    def __init__(self, title: str, text: str, start: str, ask: Ask) -> None:
        """Make the dialog.

        Args:
            title: Who is asked.
            text: What may be typed.
            start: What the line holds at first.
            ask: Asks.
        """
        super().__init__(title, text)
        self._start = start
        self._ask = ask

    def body(self) -> ComposeResult:
        """Make line and answer."""
        yield Input(self._start, id="asked", select_on_focus=False)
        yield Static("", id="answer", markup=False)

    def buttons(self) -> Sequence[Widget]:
        """Return close, then ask."""
        return [
            Button("Close", id="cancel", flat=True),
            Button("Ask", variant="primary", id="ok", flat=True),
        ]

    def on_mount(self) -> None:
        """Start in the line."""
        self.query_one("#asked").focus()

    @on(Input.Submitted, "#asked")
    @on(Button.Pressed, "#ok")
    def _go(self, event: Input.Submitted | Button.Pressed) -> None:
        event.stop()
        self.run_worker(self._answer(), exclusive=True)

    async def _answer(self) -> None:
        answer = self.query_one("#answer", Static)
        try:
            said = await self._ask(self.query_one("#asked", Input).value)
        except ValueError as problem:
            answer.update("")
            self.complain(str(problem))
        else:
            self.complain("")
            answer.update(Text(safe_lines(said, 2_000)))
