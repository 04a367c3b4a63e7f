"""Dialogs of a login: where to go and what to enter, and how long that is good for."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import Button, Static

from arena_tui.commands import Action, bindings
from arena_tui.safetext import safe_text
from arena_tui.widgets.dialogs import Dialog

Begin = Callable[[Callable[[Any], None]], Awaitable[None]]
"""Logs in; calls what it is given with the code to show, and returns once it is approved."""


class DeviceLoginDialog(Dialog[bool]):
    """Shows address and code while a login waits; the answer is True once it is approved."""

    CANCELLED = False
    ACTIONS: ClassVar[list[Action]] = [
        Action("dialog.cancel", "escape", "Cancel", "Break the login off.", 1),
        Action("login.copy", "y", "Copy", "Copy the address.", 2),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ACTIONS)]
    DEFAULT_CSS = """
    DeviceLoginDialog > #dialog { width: 84; }
    DeviceLoginDialog #login { height: auto; margin-bottom: 1; }
    """

    def __init__(self, where: str, begin: Begin, sentence: Callable[[BaseException], str]) -> None:
        """Make the dialog; the login begins when it is shown.

        Args:
            where: The service that is logged in to.
            begin: Logs in.
            sentence: Says of an error what went wrong.
        """
        super().__init__(f"Log in to {where}")
        self._begin = begin
        self._sentence = sentence
        self._code: Any = None
        self._ends = math.inf

    def body(self) -> ComposeResult:
        """Make the place for address and code."""
        yield Static("Asking for a code…", id="login", markup=False)

    def buttons(self) -> Sequence[Widget]:
        """Return cancel alone."""
        return [Button("Cancel", id="cancel", flat=True)]

    def on_mount(self) -> None:
        """Begin."""
        self.set_interval(0.5, self._tell)
        self.run_worker(self._log_in(), exclusive=True)

    async def _log_in(self) -> None:
        try:
            await self._begin(self._show)
        except Exception as error:
            # Whatever the identity server does ends here, in words; trying again is one key away.
            self._code = None
            self.query_one("#login", Static).update("esc closes this; then try again.")
            self.complain(self._sentence(error))
        else:
            self.dismiss(True)

    def _show(self, code: Any) -> None:
        self._code = code
        self._ends = time.monotonic() + float(code.expires_in)
        self._tell()

    def _tell(self) -> None:
        code = self._code
        if code is None:
            return
        text = Text("Open this address in any browser, on this or another machine:\n\n  ")
        text.append(safe_text(code.address, 400), style="bold underline")
        text.append("\n\nand check that it shows this code, or enter it:\n\n  ")
        text.append(safe_text(code.user_code, 60), style="bold reverse")
        left = self._ends - time.monotonic()
        if math.isfinite(left):
            minutes, seconds = divmod(max(0, round(left)), 60)
            text.append(f"\n\nWaiting; the code is good for {minutes}:{seconds:02d} more.")
        else:
            text.append("\n\nWaiting until it is approved there.")
        text.append("  y copies the address.", style="dim")
        self.query_one("#login", Static).update(text)

    def act_copy(self) -> None:
        """Copy the address."""
        from arena_tui.clipboard import copy

        self.notify(copy(self.app, str(self._code.address)), markup=False)

    def why_not_copy(self) -> str | None:
        """Say why there is nothing to copy."""
        return None if self._code is not None else "There is no address yet."
