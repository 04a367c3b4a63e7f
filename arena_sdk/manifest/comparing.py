"""How two manifests differ once defaults are filled in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

ABSENT: Any = object()


@dataclass(frozen=True)
class Difference:
    """A field that two manifests do not agree on; `ABSENT` where one has none."""

    path: str
    old: Any
    new: Any

    def __str__(self) -> str:
        if self.old is ABSENT:
            return f"+ {self.path}: {_shown(self.new)}"
        if self.new is ABSENT:
            return f"- {self.path}: {_shown(self.old)}"
        return f"~ {self.path}: {_shown(self.old)} -> {_shown(self.new)}"

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON; an absent value has no key."""
        found = {"path": self.path, "old": self.old, "new": self.new}
        return {key: value for key, value in found.items() if value is not ABSENT}


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[Difference]:
    """Return the differences of two payloads, in the order of the first."""
    return list(_between(old, new, ()))


def _between(old: Any, new: Any, path: tuple[str, ...]) -> Iterator[Difference]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from _between(old.get(key, ABSENT), new.get(key, ABSENT), (*path, str(key)))
    elif old is ABSENT or new is ABSENT or old != new:
        yield Difference(".".join(path), old, new)


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
