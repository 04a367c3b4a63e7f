"""What is seen of a screen behind a dialog.

Textual draws it through a console of Rich, cell by cell and colour by colour, each time anything
behind the dialog changes. With four live charts there, that alone takes longer than a key may. Here
its lines are taken as they are, and each of the few styles in them is shaded once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual._context import visible_screen_stack
from textual.color import Color
from textual.geometry import Size
from textual.screen import Screen
from textual.strip import Strip
from textual.visual import RenderOptions, Visual

from arena_tui.widgets.steady import Steady


@lru_cache(maxsize=4096)
def shaded(style: Style | None, shade: Color) -> Style:
    """Return a style with a shade over its colours, and nothing left in it to click."""
    bare = Style.null() if style is None else style.clear_meta_and_links()
    if shade.a == 0:
        return bare
    under, over = (
        (Color.from_rich_color(colour) + shade).rich_color if colour is not None else None
        for colour in (bare.color, bare.bgcolor)
    )
    return bare + Style.from_color(under, over)


class Shaded(Visual):
    """The lines of a screen, under a shade."""

    def __init__(self, screen: Screen[Any], shade: Color) -> None:
        self._screen, self._shade = screen, shade

    def render_strips(
        self, width: int, height: int | None, style: Any, options: RenderOptions
    ) -> list[Strip]:
        """Return the lines, of the width and height that are asked for."""
        size = Size(width, self._screen.size.height if height is None else height)
        shade = self._shade
        return [
            Strip(
                Segment(text, shaded(look, shade), control)
                for text, look, control in strip.adjust_cell_length(width)
            )
            for strip in self._screen._compositor.render_strips(size)
        ]

    def get_optimal_width(self, rules: Any, container_width: int) -> int:
        """Return the width of the screen."""
        return self._screen.size.width

    def get_height(self, rules: Any, width: int) -> int:
        """Return the height of the screen."""
        return self._screen.size.height


class InFront(Steady):
    """Mix into a dialog, before Textual's class: the screen behind it is seen, and cheap."""

    styles: Any
    _size: Any

    def _on_resize(self, event: events.Resize) -> None:
        """Drop the size that the dialog was laid out at when it was shown.

        Textual would lay out the dialog and all that is behind it once more, which takes longer
        than a key may. A dialog looks the same at every size, so nothing else hangs on that event.
        """
        if event.size == self._size:
            event.stop()
            event.prevent_default()

    def render(self) -> Any:
        """Return what is behind the dialog."""
        shade: Color = self.styles.background
        stack = visible_screen_stack.get(None)
        behind: Any = stack.pop() if stack else None
        if behind is None or behind is self or shade.a == 1:
            return super().render()  # type: ignore[misc]
        return Shaded(behind, shade)
