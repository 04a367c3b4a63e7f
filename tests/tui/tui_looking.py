"""What the tests of the dashboard see: the text on the screen."""

from __future__ import annotations

from typing import Any


def screen_lines(app: Any) -> list[str]:
    """Return what is on the screen, a text a line; one empty line before anything is drawn."""
    strips = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip) for strip in strips] or [""]


def screen_text(app: Any) -> str:
    """Return what is on the screen as one text."""
    return "\n".join(screen_lines(app))
