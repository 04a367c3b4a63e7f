"""What every widget with keys of its own shares: its actions as data, run by their ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from arena_tui.commands import Action


class Acting:
    """Mix into a widget that declares `ACTIONS` and a method `act_<verb>` for each.

    A method `why_not_<verb>` may return a sentence when the action cannot be done now.
    """

    ACTIONS: ClassVar[list[Action]] = []

    async def action_act(self, action_id: str) -> None:
        """Do one of the widget's actions; this is what its key bindings call."""
        verb = action_id.rpartition(".")[2]
        why_not: Callable[[], str | None] | None = getattr(self, f"why_not_{verb}", None)
        reason = why_not() if why_not is not None else None
        if reason:
            self.notify(reason, severity="warning", markup=False)  # type: ignore[attr-defined]
            return
        outcome = getattr(self, f"act_{verb}")()
        if hasattr(outcome, "__await__"):
            await outcome
