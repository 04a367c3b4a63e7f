"""The machine of a local Arena, what happened at the service, and the account's credits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena_tui.stores.base import Polled

if TYPE_CHECKING:
    from arena_tui.stores.hub import Hub


class Machine(Polled[dict[str, Any]]):
    """Load of the service's machine; "absent" where it does not tell."""

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub, self._get)
        self.cpu_history: list[float] = []

    async def _get(self) -> dict[str, Any]:
        row = dict(await self.hub.client.get_machine())
        cpu = row.get("cpu_percent")
        if isinstance(cpu, int | float):
            self.cpu_history = [*self.cpu_history[-119:], float(cpu)]
        return row


class Activity(Polled[list[dict[str, Any]]]):
    """What happened lately, newest first; "absent" where the service does not tell."""

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub, self._list, every=1.5)

    async def _list(self) -> list[dict[str, Any]]:
        return [dict(row) for row in await self.hub.client.list_activity(limit=50)]


class Credits(Polled[float | None]):
    """What is left on the account; None where the service charges nothing."""

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub, self._get, every=30)

    async def _get(self) -> float | None:
        return credits_of(await self.hub.client.get_user_credits())


def credits_of(answer: Any) -> float | None:
    """Return the figure in what the service says of credits, or None."""
    if isinstance(answer, dict):
        for key in ("credits", "balance", "remaining", "available", "amount"):
            if key in answer:
                return credits_of(answer[key])
        return None
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        return None
    return float(answer)
