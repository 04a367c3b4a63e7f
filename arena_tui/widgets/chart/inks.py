"""Inks to terminal styles, under the theme there is."""

from __future__ import annotations

from rich.color import Color as RichColor
from rich.style import Style
from textual.color import Color
from textual.widget import Widget

from arena_tui.theme import HEAT_RAMP, SeriesStyle, series_colour
from arena_tui.widgets.chart import parts

_COMPONENTS = {
    parts.INK_AXIS: "chart--axis",
    parts.INK_DIM: "chart--label",
    parts.INK_GUIDE: "chart--guide",
    parts.INK_MARK: "chart--mark",
}
COMPONENT_CLASSES = set(_COMPONENTS.values())

_FAINT_SHARE = 0.4


def sixteen_colours(widget: Widget) -> bool:
    """Tell whether the terminal or the theme has sixteen colours, and no more."""
    app = widget.app
    # Without a terminal, as in screenshots, the console's guess says nothing.
    few = app.console.color_system == "standard" and not app.is_headless
    return bool(app.current_theme.ansi) or few


class Inks:
    """The styles of inks for one widget, made when first used, until `forget`."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[int, Style] = {}

    def forget(self) -> None:
        """Make them anew, as after a change of the theme."""
        self._styles.clear()

    def __getitem__(self, ink: int) -> Style:
        style = self._styles.get(ink)
        if style is None:
            style = self._styles[ink] = self._make(ink)
        return style

    def _make(self, ink: int) -> Style:
        base = self._widget.rich_style
        if ink in _COMPONENTS:
            styles = self._widget.get_component_styles(_COMPONENTS[ink])
            # Rich knows no transparency: what shines through is mixed in here.
            colour = self._widget.background_colors[1] + styles.color
            return base + Style(color=colour.rich_color) + styles.text_style
        if ink < parts.INK_SERIES:
            return base
        if ink >= parts.INK_HEAT:
            return base + self._heat(ink - parts.INK_HEAT)
        faint = ink >= parts.INK_FAINT
        slot = ink - (parts.INK_FAINT if faint else parts.INK_SERIES)
        sixteen = sixteen_colours(self._widget)
        name = series_colour(
            SeriesStyle(slot), dark=self._widget.app.current_theme.dark, sixteen=sixteen
        )
        if sixteen:
            return base + Style(color=name, dim=faint or None)
        colour = Color.parse(name)
        if faint:
            colour = self._widget.background_colors[1].blend(colour, _FAINT_SHARE)
        return base + Style(color=RichColor.parse(colour.hex6))

    def _heat(self, level: int) -> Style:
        """Return a shade of a heat map: a ramp even in lightness, which the colour blind see."""
        if sixteen_colours(self._widget):
            # Characters of growing thickness tell these shades apart.
            return Style(color="default")
        dark = self._widget.app.current_theme.dark
        return Style(color=RichColor.parse(heat_colour(level, dark=dark)))


def heat_colour(level: int, *, dark: bool) -> str:
    """Return the colour of a shade as `#rrggbb`."""
    share = level / (parts.HEAT_LEVELS - 1) * (len(HEAT_RAMP) - 1)
    ramp = HEAT_RAMP if dark else HEAT_RAMP[::-1]
    at = min(int(share), len(ramp) - 2)
    return Color.parse(ramp[at]).blend(Color.parse(ramp[at + 1]), share - at).hex6
