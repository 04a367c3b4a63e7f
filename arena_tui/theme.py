"""The one place for colours: themes, the palette of series, and what to do without colour."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.theme import Theme

if TYPE_CHECKING:
    from textual.app import App

DARK = Theme(
    name="arena-dark",
    primary="#5ea1ff",
    secondary="#2f6fd0",
    accent="#f0b04a",
    warning="#f0b04a",
    error="#f4707a",
    success="#5fc98b",
    foreground="#dfe5ee",
    background="#0f141c",
    surface="#161d28",
    panel="#212b3a",
    dark=True,
    variables={
        "border": "#3a4a61",
        "border-blurred": "#2a3646",
        "footer-key-foreground": "#f0b04a",
    },
)
LIGHT = Theme(
    name="arena-light",
    primary="#1d5fc4",
    secondary="#4f86dd",
    accent="#a35b00",
    warning="#a35b00",
    error="#b8202e",
    success="#197a43",
    foreground="#1c2430",
    background="#fbfcfe",
    surface="#f0f3f8",
    panel="#dfe5ef",
    dark=False,
    variables={
        "border": "#a9b6c8",
        "border-blurred": "#c9d2df",
        "footer-key-foreground": "#a35b00",
    },
)
THEMES: tuple[Theme, ...] = (DARK, LIGHT)

SIXTEEN = "ansi-dark"
"""Textual's theme of the terminal's own sixteen colours, for terminals that have no more."""

# Okabe and Ito's colours, told apart by the colour blind, lightened for a dark ground.
_SERIES_DARK = (
    "#56b4e9", "#e69f00", "#3fcf9a", "#e37fb4", "#f0e442", "#f07a4a", "#8f9bff", "#c8cdd5",
)  # fmt: skip
_SERIES_LIGHT = (
    "#0072b2", "#b06a00", "#00795a", "#a8457f", "#7a6f00", "#c24a00", "#4b4fc4", "#4a5260",
)  # fmt: skip
_SERIES_SIXTEEN = (
    "bright_cyan", "bright_yellow", "bright_green", "bright_magenta",
    "yellow", "bright_red", "bright_blue", "white",
)  # fmt: skip

SERIES_COLOURS = len(_SERIES_DARK)

HEAT_RAMP = ("#3b1f6b", "#2f5d9e", "#1f968b", "#73c45a", "#fde725")
"""Heat maps from low to high on a dark ground, after matplotlib's viridis; even in lightness, which
the colour blind see. Turned round on a light ground."""


class Paper:
    """Colours of a chart that is exported to a white page."""

    GROUND = "#ffffff"
    TEXT = "#39424f"
    NOTE = "#5c6878"
    FRAME = "#8a97a8"
    GRID = "#dfe5ef"
    MARK = "#a35b00"


class Film:
    """Colours of the terminal's window around an animated picture."""

    BUTTONS = ("#ff5f57", "#febc2e", "#28c840")
    GROUND = "#0f141c"
    EDGE = "#3a4a61"
    TITLE = "#9aa5b5"
    TEXT = "#dfe5ee"


@dataclass(frozen=True)
class SeriesStyle:
    """How one series looks, for life.

    Attributes:
        slot: Place in the palette, from 0; colour and marker follow from it under any theme.
        marker: Place among the plot style's markers.
        faint: Drawn behind, in a weaker colour, as the raw line behind a smoothed one is.
    """

    slot: int = 0
    marker: int = 0
    faint: bool = False

    def as_faint(self) -> SeriesStyle:
        """Return the same, drawn behind."""
        return replace(self, faint=True)


class SeriesPalette:
    """Hands out looks by key; a key keeps its look as long as the palette lives."""

    def __init__(self) -> None:
        self._slots: dict[object, int] = {}

    def style(self, key: object) -> SeriesStyle:
        """Return the look of a key. Whole numbers, such as a member's id, choose their own slot."""
        slot = key if isinstance(key, int) else self._slots.setdefault(key, len(self._slots))
        return numbered_style(slot)


def numbered_style(number: int) -> SeriesStyle:
    """Return the look of the nth series: colours repeat after eight, with another marker then."""
    turn, slot = divmod(abs(number), SERIES_COLOURS)
    return SeriesStyle(slot, (slot + turn) % SERIES_COLOURS)


def series_colour(style: SeriesStyle, *, dark: bool = True, sixteen: bool = False) -> str:
    """Return the colour of a series, as Rich names colours."""
    if sixteen:
        return _SERIES_SIXTEEN[style.slot % SERIES_COLOURS]
    return (_SERIES_DARK if dark else _SERIES_LIGHT)[style.slot % SERIES_COLOURS]


STATE_COLOURS: dict[str, str] = {
    "running": "success",
    "completed": "primary",
    "ready": "success",
    "queued": "warning",
    "provisioning": "warning",
    "stopping": "warning",
    "interrupted": "warning",
    "failed": "error",
    "stopped": "secondary",
}
"""Theme colour by state; a mark always stands beside it."""

STATE_MARKS: dict[str, str] = {
    "running": "▶",
    "completed": "✓",
    "ready": "●",
    "queued": "…",
    "provisioning": "…",
    "stopping": "◌",
    "interrupted": "‼",
    "failed": "✗",
    "stopped": "■",
}


def no_colour(environ: Mapping[str, str] | None = None) -> bool:
    """Tell whether the user asked for no colour at all (`NO_COLOR`, set to anything)."""
    return bool((os.environ if environ is None else environ).get("NO_COLOR"))


def register(app: App[object]) -> None:
    """Make the themes known to an app."""
    for theme in THEMES:
        app.register_theme(theme)
