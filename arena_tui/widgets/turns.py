"""Turns of a conversation as Markdown, appended to as they come and never parsed again whole."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Markdown, Static

from arena_tui.safetext import safe_text


def safe_markdown(text: str) -> str:
    """Return Markdown whose lines hold nothing that a terminal would act on."""
    return "\n".join(safe_text(line, 100_000) for line in text.split("\n"))


class TurnView(Vertical):
    """One turn: who speaks, what is said, and how that went."""

    DEFAULT_CSS = """
    TurnView { height: auto; margin-bottom: 1; }
    TurnView Markdown { height: auto; margin: 0; padding: 0; background: transparent; }
    TurnView .who { text-style: bold; color: $text-primary; }
    TurnView.-mine .who { color: $text-accent; }
    TurnView .how { color: $text-muted; height: auto; }
    TurnView.-failed .how { color: $text-error; }
    """

    def __init__(self, who: str, *, mine: bool) -> None:
        """Make an empty turn."""
        super().__init__()
        self._who = who
        self._shown = 0
        self._how = ""
        self._body = Markdown("", open_links=False)
        self.set_class(mine, "-mine")

    def compose(self) -> ComposeResult:
        """Name, text, and how it went."""
        yield Static(Text(safe_text(self._who, 60)), classes="who", markup=False)
        yield self._body
        yield Static("", classes="how", markup=False)

    async def show(self, text: str, how: str = "", *, failed: bool = False) -> None:
        """Append what is new of the text, and say how it went."""
        if len(text) > self._shown:
            new = text[self._shown :]
            self._shown = len(text)
            await self._body.append(safe_markdown(new))
        if how != self._how:
            self._how = how
            self.set_class(failed, "-failed")
            self.query_one(".how", Static).update(Text(safe_text(how, 600)))


class Conversation(VerticalScroll):
    """All turns; follows the last one unless it was scrolled away from."""

    can_focus = True

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.turns: list[TurnView] = []

    async def clear(self) -> None:
        """Forget all turns."""
        self.turns.clear()
        await self.remove_children()

    async def turn(self, at: int, who: str, *, mine: bool) -> TurnView:
        """Return the view of a turn, made when it is new."""
        if at == len(self.turns):
            view = TurnView(who, mine=mine)
            self.turns.append(view)
            await self.mount(view)
            self.anchor()
        return self.turns[at]
