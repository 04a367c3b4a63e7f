"""Observations and actions as people read them: a line, or a bar a component."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena_tui import format
from arena_tui.widgets.bar_list import Bar

MOST_BARS = 24


def readout(value: Any) -> str:
    """Return a value in one line: `2`, `[0.12, -0.50]`, `left: 1  right: 0`."""
    if isinstance(value, Mapping):
        return "  ".join(f"{key}: {readout(item)}" for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        inner = ", ".join(readout(item) for item in value[:8])
        return f"[{inner}{', …' if len(value) > 8 else ''}]"
    if isinstance(value, float):
        return format.number(value)
    return str(value)


def components(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Yield (name, number) for every component of an observation, nested or not."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from components(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for at, item in enumerate(value):
            yield from components(item, f"{name}[{at}]")
    elif isinstance(value, bool | int | float):
        yield name or "value", float(value)


def bars(observation: Any) -> list[Bar]:
    """Return a bar a component, the first ones of a large observation."""
    found: list[Bar] = []
    for name, value in components(observation):
        if len(found) == MOST_BARS:
            found.append(Bar("…", None, text="more"))
            break
        found.append(Bar(name, value, text=format.number(value)))
    return found
