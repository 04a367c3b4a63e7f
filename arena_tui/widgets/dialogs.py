"""Dialogs: message, confirmation, choice. Forms are in `form_dialog`, paths in `path_dialog`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from arena_tui.commands import Action, bindings
from arena_tui.safetext import safe_lines, safe_text
from arena_tui.widgets.acting import Acting
from arena_tui.widgets.backdrop import InFront

T = TypeVar("T")


class Dialog(Acting, InFront, ModalScreen[T], Generic[T]):
    """What all dialogs share: a frame with a title, a body, buttons, and escape to leave."""

    ACTIONS: ClassVar[list[Action]] = [
        Action("dialog.cancel", "escape", "Cancel", "Close this without doing anything.", 1),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ACTIONS)]
    DEFAULT_CSS = """
    Dialog { align: center middle; }
    Dialog > #dialog {
        width: 72; max-width: 96%; height: auto; max-height: 94%;
        border: round $primary; border-title-style: bold; background: $surface; padding: 1 2 0 2;
    }
    Dialog.-danger > #dialog { border: round $error; border-title-color: $text-error; }
    Dialog #dialog-body { height: auto; max-height: 100%; }
    Dialog #dialog-text { height: auto; max-height: 12; margin-bottom: 1; }
    Dialog #dialog-problem { color: $text-error; height: auto; display: none; }
    Dialog #dialog-buttons { height: auto; align-horizontal: right; }
    Dialog #dialog-buttons Button { margin-left: 2; min-width: 10; height: 1; border: none; }
    Dialog Input { height: 1; border: none; padding: 0 1; background: $panel; }
    Dialog Input:focus { border: none; background: $primary-muted; }
    Dialog #typed { margin-bottom: 1; }
    """
    CANCELLED: ClassVar[Any] = None

    def __init__(self, title: str, text: str = "") -> None:
        super().__init__()
        self.dialog_title = safe_text(title, 120)
        self.dialog_text = safe_lines(text, 20_000)

    def compose(self) -> ComposeResult:
        """Lay the dialog out."""
        with VerticalScroll(id="dialog", can_focus=False) as frame:
            frame.border_title = Text(self.dialog_title)
            if self.dialog_text:
                yield Static(Text(self.dialog_text), id="dialog-text", markup=False)
            yield from self.body()
            yield Static("", id="dialog-problem", markup=False)
            with Horizontal(id="dialog-buttons"):
                yield from self.buttons()

    def body(self) -> ComposeResult:
        """Make what stands between text and buttons."""
        yield from ()

    def buttons(self) -> Sequence[Widget]:
        """Return the buttons, from the left."""
        return [Button("OK", variant="primary", id="ok", flat=True)]

    def complain(self, problem: str) -> None:
        """Show what stands in the way, or nothing when it is empty."""
        line = self.query_one("#dialog-problem", Static)
        line.update(Text(safe_lines(problem, 2_000)))
        line.display = bool(problem)

    def act_cancel(self) -> None:
        """Leave with the answer that means no."""
        self.dismiss(self.CANCELLED)

    @on(Button.Pressed, "#cancel")
    def _cancel_pressed(self) -> None:
        self.act_cancel()


class MessageDialog(Dialog[None]):
    """Something to read; any of enter, escape and OK closes it."""

    def __init__(self, title: str, text: str, *, kind: str = "info") -> None:
        """Make a message; `kind` is "info" or "error"."""
        super().__init__(title, text)
        self.set_class(kind == "error", "-danger")

    @on(Button.Pressed, "#ok")
    def _read(self) -> None:
        self.dismiss(None)


class ConfirmDialog(Dialog[bool]):
    """Asks before something is done; names what will be lost, and may want a name typed.

    The answer is True only when it is to be done.
    """

    CANCELLED = False

    def __init__(
        self,
        title: str,
        text: str,
        *,
        loses: Sequence[str] = (),
        typed: str | None = None,
        confirm: str = "Delete",
        danger: bool = True,
    ) -> None:
        """Make a question.

        Args:
            title: What is to be done.
            text: What that means, in a sentence.
            loses: What will be gone, a line each.
            typed: What has to be typed before it can be done; None for nothing.
            confirm: The word on the button.
            danger: Whether something is lost: red, and "no" is what enter says at first.
        """
        lines = [text, *(f"  • {safe_text(item, 200)}" for item in loses[:12])]
        if len(loses) > 12:
            lines.append(f"  … and {len(loses) - 12} more")
        super().__init__(title, "\n".join(lines))
        self.typed = typed
        self._confirm = confirm
        self._danger = danger
        self.set_class(danger, "-danger")

    def body(self) -> ComposeResult:
        """Make the line to type the name in."""
        if self.typed is not None:
            yield Static(Text(f"Type {safe_text(self.typed, 200)} to confirm:"), markup=False)
            yield Input(id="typed")

    def buttons(self) -> Sequence[Widget]:
        """Return no, then yes."""
        return [
            Button("Cancel", id="cancel", flat=True),
            Button(
                Text(safe_text(self._confirm, 40)),
                variant="error" if self._danger else "primary",
                id="ok",
                flat=True,
                disabled=self.typed is not None,
            ),
        ]

    def on_mount(self) -> None:
        """Put the cursor where it does no harm."""
        if self.typed is not None:
            self.query_one("#typed").focus()
        else:
            self.query_one("#cancel" if self._danger else "#ok").focus()

    @on(Input.Changed, "#typed")
    def _typing(self, event: Input.Changed) -> None:
        self.query_one("#ok", Button).disabled = event.value != self.typed
        self.complain("")

    @on(Input.Submitted, "#typed")
    def _typed_enter(self, event: Input.Submitted) -> None:
        if event.value == self.typed:
            self.dismiss(True)
        else:
            self.complain(f"That is not {self.typed}.")

    @on(Button.Pressed, "#ok")
    def _confirmed(self) -> None:
        self.dismiss(True)


class ChoiceDialog(Dialog[Any]):
    """Asks for one of several; the answer is its value, or None."""

    DEFAULT_CSS = """
    ChoiceDialog OptionList { height: auto; max-height: 14; margin-bottom: 1; border: none; }
    ChoiceDialog OptionList:focus { border: none; }
    """

    def __init__(self, title: str, choices: Sequence[tuple[str, Any]], *, text: str = "") -> None:
        """Make a list of (label, value)."""
        super().__init__(title, text)
        self._choices = list(choices)

    def body(self) -> ComposeResult:
        """Make the list."""
        yield OptionList(*(Option(Text(safe_text(label, 200))) for label, _ in self._choices))

    def buttons(self) -> Sequence[Widget]:
        """Return cancel alone; enter on the list chooses."""
        return [Button("Cancel", id="cancel", flat=True)]

    def on_mount(self) -> None:
        """Start on the list."""
        self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index][1])


def __getattr__(name: str) -> Any:
    """Offer the dialogs of the modules beside this one under this name as well."""
    if name in ("FormDialog", "Field"):
        from arena_tui.widgets import form_dialog

        return getattr(form_dialog, name)
    if name == "PathDialog":
        from arena_tui.widgets import path_dialog

        return path_dialog.PathDialog
    raise AttributeError(name)
