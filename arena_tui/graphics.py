"""What a terminal can show besides characters: pixels by Kitty's protocol, by Sixel, or none.

`prepare` must run before the app starts, because a terminal can only be asked what it can show
while nothing else reads from it. Most terminals are told from their variables alone, so it imports
next to nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.widget import Widget

_PROGRAMS = frozenset({"WezTerm", "iTerm.app", "ghostty", "mintty", "contour", "rio", "vscode"})
_TERMS = ("kitty", "ghostty", "foot", "mlterm", "wezterm", "contour")

_shows: type[Widget] | None = None


def may_show_graphics(environ: Mapping[str, str] | None = None) -> bool:
    """Tell whether it is worth asking this terminal for graphics; within tmux and screen never."""
    environ = os.environ if environ is None else environ
    if environ.get("TMUX") or environ.get("STY"):
        return False
    if environ.get("KITTY_WINDOW_ID") or environ.get("KONSOLE_VERSION"):
        return True
    term = environ.get("TERM", "")
    return environ.get("TERM_PROGRAM") in _PROGRAMS or any(name in term for name in _TERMS)


def prepare() -> str:
    """Ask the terminal what it can show; returns "kitty", "sixel" or "blocks"."""
    global _shows
    _shows = None
    if not may_show_graphics():
        return "blocks"
    try:
        from textual_image import renderable, widget
    except Exception:
        # Not installed, or the terminal could not be asked; half blocks need neither.
        return "blocks"
    if renderable.Image is renderable.SixelImage:
        _shows = widget.SixelImage
        return "sixel"
    if renderable.Image is renderable.TGPImage:
        _shows = widget.TGPImage
        return "kitty"
    return "blocks"


def pixel_widget() -> type[Widget] | None:
    """Return the widget that shows pixels on this terminal, or None where it shows none."""
    return _shows
