"""Talk to a deployed language model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from arena_tui import format
from arena_tui.commands import Action
from arena_tui.safetext import safe_text, shorten_middle
from arena_tui.screens.base import ArenaScreen, style_file
from arena_tui.screens.fitted import FittedRows
from arena_tui.screens.listing import colour
from arena_tui.stores.base import Store
from arena_tui.stores.chat import YOU, Chat, Turn
from arena_tui.widgets.dialogs import ConfirmDialog
from arena_tui.widgets.form_dialog import Field, FormDialog
from arena_tui.widgets.rows import Column, Row, Rows
from arena_tui.widgets.state_view import StateView
from arena_tui.widgets.turns import Conversation


class PromptLine(Input):
    """Where one types what to say; escape leaves it, so that letters are keys again."""

    BINDINGS: ClassVar[list[Any]] = [Binding("escape", "leave", "Leave", show=False)]

    class Left(Message):
        """It was left."""

    def action_leave(self) -> None:
        """Leave it."""
        self.post_message(self.Left())


class ChatScreen(ArenaScreen):
    """One conversation at a time, and the list of all."""

    SCREEN = "chat"
    TAB = "agents"
    CSS_PATH = [style_file("frame"), style_file("chat")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    MAIN = "#prompt"
    ACTIONS: ClassVar[list[Action]] = [
        Action("chat.say", "e", "Say", "Type something; esc leaves the line.", 1),
        Action("chat.stop", "ctrl+g,s", "Stop", "Stop the answer; what was said stays.", 1),
        Action("chat.new", "n", "New", "Begin a new conversation.", 2),
        Action("chat.sessions", "l", "Sessions", "Go to the list; enter resumes one.", 3),
        Action("chat.delete", "x", "Delete", "Delete the selected session.", 4, True),
        Action("chat.sampling", "p", "Sampling", "Set temperature, length and so on.", 5),
    ]

    def __init__(self, deployment: str) -> None:
        super().__init__()
        self.deployment = deployment
        self.chat: Chat | None = None
        self._lock = asyncio.Lock()
        self._session_shown = ""

    @property
    def trail(self) -> str:
        """The model."""
        return f"{self.deployment} chat"

    def body(self) -> ComposeResult:
        """Sessions at the left, the conversation and the line at the right."""
        with Horizontal():
            with Vertical(classes="pane tight left", id="list") as pane:
                pane.border_title = "Sessions"
                yield FittedRows(
                    [
                        Column("mark", "", 1),
                        Column("session_id", "session", None, show=_short),
                        Column("last_updated", "last", 5, "right", show=_ago),
                    ],
                    key="session_id",
                    id="sessions",
                )
            with Vertical(classes="pane tight", id="talk") as pane:
                pane.border_title = Text(safe_text(self.deployment))
                yield StateView(id="state")
                yield Conversation(id="conversation")
                yield Static("", id="status", markup=False)
                yield PromptLine(placeholder="Say something…", id="prompt")

    async def on_mount(self) -> None:
        """Reach the deployment."""
        self.chat = Chat(self.hub, self.deployment)
        self.rewatch()
        self.query_one("#prompt").focus()
        self.run_worker(self.chat.open(), group="chat")

    async def on_unmount(self) -> None:
        """Leave the deployment."""
        self.cease()
        if self.chat is not None:
            await self.chat.close()

    def stores(self) -> Iterable[Store]:
        """Return what is watched."""
        return (self.chat,) if self.chat is not None else ()

    # Show ----------------------------------------------------------------------------------------

    def show(self) -> None:
        """Show sessions, state and what is new of the conversation."""
        chat = self.chat
        if chat is None:
            return
        rows = [
            {**row, "mark": "▶" if row["session_id"] == chat.session_id else ""}
            for row in chat.sessions
        ]
        self.query_one("#sessions", Rows).set_rows(rows)
        view = self.query_one("#state", StateView)
        if chat.problem and not chat.is_ready:
            view.show_error(chat.problem, "esc, then r tries again.")
        elif chat.problem:
            view.show_offline(chat.problem)
        elif not chat.is_ready:
            view.show_loading(f"Reaching {self.deployment}…")
        else:
            view.clear()
        self.query_one("#status", Static).update(self._status(chat))
        self.run_worker(self._show_turns(chat), group="turns")

    async def _show_turns(self, chat: Chat) -> None:
        async with self._lock:
            conversation = self.query_one(Conversation)
            shown = f"{chat.session_id} {id(chat.turns)}"
            if shown != self._session_shown:
                self._session_shown = shown
                await conversation.clear()
            for at, turn in enumerate(list(chat.turns)):
                view = await conversation.turn(
                    at, "you" if turn.role == YOU else turn.role, mine=turn.role == YOU
                )
                await view.show(turn.text, _how(turn), failed=turn.error is not None)

    def _status(self, chat: Chat) -> Text:
        text = Text(no_wrap=True, overflow="ellipsis")
        if chat.is_generating:
            text.append(" ◌ talking", style=colour(self.app, "success"))
            speed = chat.turns[-1].speed if chat.turns else None
            text.append(f"  {speed:.1f} tokens/s about" if speed else "")
            text.append("  ^g stops", style="dim")
        else:
            sampling = "  ".join(f"{key} {value}" for key, value in chat.sampling.items())
            text.append(f" {sampling}", style="dim")
        return text

    # Actions -------------------------------------------------------------------------------------

    @on(Input.Submitted, "#prompt")
    def _said(self, event: Input.Submitted) -> None:
        event.stop()
        prompt = event.value.strip()
        if not prompt or self.chat is None:
            return
        if self.chat.is_generating:
            self.tell("It is still talking: ^g stops it.", "warning")
            return
        event.input.value = ""
        self.chat.ask(prompt)

    @on(PromptLine.Left)
    def _left(self) -> None:
        self.query_one(Conversation).focus()

    @on(Rows.Opened, "#sessions")
    async def _resume(self, event: Rows.Opened) -> None:
        if event.key is not None and self.chat is not None:
            await self.chat.resume(event.key)
            self.query_one("#prompt").focus()

    def act_say(self) -> None:
        """Go to the line."""
        self.query_one("#prompt").focus()

    async def act_stop(self) -> None:
        """Stop the answer."""
        if self.chat is not None:
            await self.chat.stop()

    def why_not_stop(self) -> str | None:
        """Say why there is nothing to stop."""
        talking = self.chat is not None and self.chat.is_generating
        return None if talking else "It is not talking."

    async def act_new(self) -> None:
        """Begin a new conversation."""
        if self.chat is not None:
            await self.chat.begin()
            self.query_one("#prompt").focus()

    def act_sessions(self) -> None:
        """Go to the list of sessions, which is shown where there is room or when asked for."""
        self.add_class("-listed")
        self.query_one("#sessions").focus()

    def act_back(self) -> None:
        """Close the list where it takes the room, or go back."""
        if self.has_class("-listed") and self.has_class("-narrow"):
            self.remove_class("-listed")
            self.query_one(Conversation).focus()
        else:
            super().act_back()

    async def act_delete(self) -> None:
        """Delete the selected session, after asking."""
        row = self.query_one("#sessions", Rows).selected_row or {}
        name = str(row.get("session_id"))
        sure = await self.app.push_screen_wait(
            ConfirmDialog(f"Delete session {shorten_middle(name, 24)}?", "Its turns are gone then.")
        )
        if sure and self.chat is not None and await self.chat.delete(name):
            self.tell("Deleted the session.")

    def why_not_delete(self) -> str | None:
        """Say why none can be deleted."""
        rows = self.query_one("#sessions", Rows)
        return None if rows.selected_row is not None else "There is no session yet."

    async def act_sampling(self) -> None:
        """Ask for sampling parameters."""
        chat = self.chat
        if chat is None:
            return
        now = chat.sampling
        answer = await self.app.push_screen_wait(
            FormDialog(
                "Sampling",
                [
                    Field("max_new_tokens", "Tokens at most", "integer", now["max_new_tokens"],
                          required=True, minimum=1, maximum=1_000_000),
                    Field("temperature", "Temperature", "number", now["temperature"],
                          required=True, minimum=0, maximum=10),
                    Field("top_p", "Top p", "number", now["top_p"],
                          required=True, minimum=0, maximum=1),
                    Field("do_sample", "Draw at random (else always the likeliest)", "switch",
                          now["do_sample"]),
                ],
                submit="Use",
            )
        )  # fmt: skip
        if answer is not None:
            chat.sampling = answer
            self.data_changed()

    def act_refresh(self) -> None:
        """Reach the deployment again."""
        if self.chat is not None:
            self.run_worker(self.chat.open(), group="chat")

    def text_to_copy(self) -> str:
        """Return the last answer."""
        turns = self.chat.turns if self.chat is not None else []
        return turns[-1].text if turns else ""


def _how(turn: Turn) -> str:
    if turn.role == YOU:
        return ""
    if turn.error is not None:
        return f"✗ It broke off: {turn.error}"
    if turn.is_stopped:
        return "■ Stopped."
    if turn.is_open or turn.seconds is None:
        return ""
    speed = f", {turn.speed:.1f} tokens/s" if turn.speed else ""
    return f"about {turn.tokens} tokens in {turn.seconds:.1f} s{speed}"


def _short(value: Any, row: Row) -> str:
    return shorten_middle(safe_text(value), 20)


def _ago(value: Any, row: Row) -> str:
    return format.age(value)
