"""One run in one line, and its manifest as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from arena_tui import format
from arena_tui.safetext import safe_lines, safe_text
from arena_tui.screens.listing import colour, state_text
from arena_tui.screens.progress import time_left
from arena_tui.widgets.rows import Row

if TYPE_CHECKING:
    from arena_tui.stores.hub import Hub


def summary(app: Any, name: str, row: Row) -> Text:
    """Return name, state, progress and figures of a run as one line."""
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(f" {safe_text(name)}  ", style="bold")
    text.append(state_text(app, str(row.get("state") or "…")))
    share = format.percent(row.get("steps"), row.get("max_steps"))
    if share is not None:
        text.append(f"  {format.bar(share, 10)}", style=colour(app, "success"))
        text.append(f" {share * 100:.0f}%")
    for label, value in _facts(row):
        if value is not None:
            text.append(f"  {label} ", style="dim")
            text.append(safe_text(value, 60))
    return text


def _facts(row: Row) -> list[tuple[str, Any]]:
    left = time_left(row)
    return [
        ("gen", row.get("generation")),
        ("steps", f"{format.count(row.get('steps'))}/{format.count(row.get('max_steps'))}"),
        ("best", format.number(row.get("best_fitness"))),
        ("steps/s", format.count(row.get("steps_per_second"))),
        ("left", None if left is None else format.duration(left)),
        ("algo", row.get("algorithm")),
        ("env", environment(row)),
        ("pop", row.get("pop_size")),
        ("project", row.get("project")),
    ]


def absent_run(hub: Hub, name: str) -> str:
    """Say what it means that a service has no more about a run."""
    if hub.has("experiment_details"):
        return f"There is no experiment {name}."
    return "This Arena tells no more of a run than its metrics and checkpoints."


def environment(row: Row) -> str | None:
    """Return the environment of a run with its version, where it has one."""
    name, version = row.get("environment"), row.get("environment_version")
    return f"{name} {version}" if name and version else name


def manifest_text(manifest: Any) -> str:
    """Return a manifest as YAML, harmless to a terminal."""
    if not manifest:
        return "# This Arena does not say."
    if isinstance(manifest, str):
        return safe_lines(manifest)
    import yaml

    return safe_lines(yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True))
