"""Runs that are marked to be compared, and the look that every run keeps for life."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from arena_tui.stores.base import Store

_SLOTS_KEPT = 400


class Marks(Store):
    """Names of runs to compare, in the order they were marked.

    Attributes:
        names: The marked runs.
        slots: Number of each run that was ever looked at in comparison; colour and marker follow
            from it, so that a run looks the same everywhere and at the next start.
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.slots: dict[str, int] = {}

    def set(self, names: Iterable[str]) -> None:
        """Mark these and no others; those that stay keep their place."""
        wanted = list(names)
        kept = [name for name in self.names if name in wanted]
        new = kept + [name for name in wanted if name not in kept]
        if new != self.names:
            self.names = new
            for name in new:
                self.slot(name)
            self.changed()

    def drop(self, name: str) -> None:
        """Forget a run that is gone; its look is free for another."""
        self.set(other for other in self.names if other != name)
        self.slots.pop(name, None)

    def slot(self, name: str) -> int:
        """Return the number of a run; a new one gets the least that is free."""
        found = self.slots.get(name)
        if found is None:
            taken = set(self.slots.values())
            found = next(at for at in range(len(taken) + 1) if at not in taken)
            self.slots[name] = found
            while len(self.slots) > _SLOTS_KEPT:
                self.slots.pop(next(iter(self.slots)))
        return found

    def state(self) -> dict[str, Any]:
        """Return what is worth remembering, as JSON can hold it."""
        return {"names": self.names, "slots": self.slots}

    def restore(self, state: Any) -> None:
        """Take what `state` gave; what makes no sense is left out."""
        if not isinstance(state, dict):
            return
        slots = state.get("slots")
        for name, slot in slots.items() if isinstance(slots, dict) else ():
            if isinstance(slot, int) and not isinstance(slot, bool) and 0 <= slot < 10_000:
                self.slots.setdefault(str(name), slot)
        names = state.get("names")
        if isinstance(names, list) and not self.names:
            self.set(str(name) for name in names)
