"""Manifests that were begun and not saved: kept until they are saved, submitted or thrown away."""

from __future__ import annotations

import itertools
import time
from typing import Any, Protocol

KEEP = 20
"""How many are kept; the oldest goes first."""
_NAME = "drafts"


class Keeper(Protocol):
    """What remembers between two starts."""

    def get(self, name: str, default: Any = None) -> Any:
        """Return what was remembered."""

    def set(self, name: str, value: Any) -> None:
        """Remember something."""

    def save(self) -> None:
        """Write it."""


class Drafts:
    """The drafts in a memory; without one they last as long as this object."""

    _numbers = itertools.count()

    def __init__(self, memory: Keeper | None) -> None:
        self._memory = memory
        self._own: list[dict[str, Any]] = []

    @property
    def all(self) -> list[dict[str, Any]]:
        """Every draft, the latest first: `id`, `text`, `file`, `time` in seconds since 1970."""
        rows = self._memory.get(_NAME) if self._memory else self._own
        good = [row for row in rows or () if isinstance(row, dict) and row.get("text")]
        return sorted(good, key=lambda row: -float(row.get("time") or 0.0))

    def new_id(self) -> str:
        """Return an id for a draft that begins."""
        return f"{time.time():.6f}-{next(self._numbers)}"

    def keep(self, draft_id: str, text: str, file: str | None = None) -> None:
        """Keep a draft as it is now, on disk too."""
        row = {"id": draft_id, "text": text, "file": file, "time": time.time()}
        self._put([row, *(each for each in self.all if each.get("id") != draft_id)][:KEEP])

    def drop(self, draft_id: str) -> None:
        """Forget a draft."""
        left = [each for each in self.all if each.get("id") != draft_id]
        if len(left) != len(self.all):
            self._put(left)

    def _put(self, rows: list[dict[str, Any]]) -> None:
        if self._memory is None:
            self._own = rows
            return
        self._memory.set(_NAME, rows)
        self._memory.save()
