"""An RGB frame in the terminal: as pixels where it can show them, else as half blocks.

Whether it can is found out by `graphics.prepare`, before the app starts.
"""

from __future__ import annotations

from typing import Any

from rich.segment import Segment
from textual.app import ComposeResult
from textual.strip import Strip
from textual.widget import Widget

from arena_tui.graphics import pixel_widget
from arena_tui.plotstyle import PlotStyle, detect
from arena_tui.safetext import pad_cells, safe_text
from arena_tui.widgets.pixels import (
    ASCII_SHADES,
    SHADES,
    Frame,
    as_frame,
    fitted,
    half_blocks,
    shaded,
)


class FrameView(Widget):
    """Shows a frame as large as fits, its proportions kept, in the middle."""

    DEFAULT_CSS = """
    FrameView { height: 1fr; width: 1fr; min-height: 4; background: $surface; }
    FrameView { align: center middle; }
    FrameView > .pixels { display: none; }
    """

    def __init__(
        self, *, message: str = "no frame", id: str | None = None, classes: str | None = None
    ) -> None:
        """Make an empty view.

        Args:
            message: What stands there when there is no frame.
            id: The widget's id.
            classes: Its classes.
        """
        super().__init__(id=id, classes=classes)
        self._frame: Frame | None = None
        self._message = message
        self._lines: list[list[Segment]] = []
        self._drawn_size: tuple[int, int] | None = None
        kind = pixel_widget()
        self._pixels: Widget | None = None if kind is None else kind(classes="pixels")

    def compose(self) -> ComposeResult:
        """Make the place for pixels where the terminal can show them."""
        if self._pixels is not None:
            yield self._pixels

    @property
    def frame(self) -> Frame | None:
        """The frame shown, shape (height, width, 3), uint8."""
        return self._frame

    def set_frame(self, frame: Any) -> None:
        """Show a frame, or none.

        Args:
            frame: uint8 of shape (height, width, 3); grey, RGBA and floats from 0 to 1 are taken
                too. Raises ValueError for what is no frame.
        """
        self._frame = None if frame is None else as_frame(frame)
        self._drawn_size = None
        if self._pixels is not None:
            self._put_pixels()
        self.refresh()

    def set_message(self, text: str) -> None:
        """Say why there is no frame."""
        self._message = text
        self.refresh()

    def on_resize(self) -> None:
        """Fit the pixels to another size."""
        if self._pixels is not None:
            self._put_pixels()

    def _put_pixels(self) -> None:
        pixels = self._pixels
        assert pixels is not None
        pixels.display = self._frame is not None
        if self._frame is None or not self.size.height:
            return
        from PIL import Image

        height, width = self._frame.shape[:2]
        high, wide = fitted(height, width, self.size.height * 2, self.size.width)
        pixels.styles.width, pixels.styles.height = wide, max(1, high // 2)
        pixels.image = Image.fromarray(self._frame)  # type: ignore[attr-defined]

    def _plot_style(self) -> PlotStyle:
        style = getattr(self.app, "plot_style", None)
        return style if isinstance(style, PlotStyle) else detect()

    def _draw(self) -> None:
        size = (self.size.width, self.size.height)
        if self._drawn_size == size or self._frame is None:
            return
        width, height = size
        if self._plot_style().name == "ascii":
            self._lines = shaded(self._frame, height, width, ASCII_SHADES)
        elif self.app.no_color:
            self._lines = shaded(self._frame, height, width, SHADES)
        else:
            self._lines = half_blocks(self._frame, height, width)
        self._drawn_size = size

    def render_line(self, y: int) -> Strip:
        """Return one line of the frame, or of the message."""
        width, height = self.size.width, self.size.height
        base = self.rich_style
        if self._frame is None or self._pixels is not None:
            if y != height // 2 or self._frame is not None:
                return Strip.blank(width, base)
            text = safe_text(self._message, width)
            return Strip([Segment(pad_cells(" " * ((width - len(text)) // 2) + text, width), base)])
        self._draw()
        row = y - (height - len(self._lines)) // 2
        if not 0 <= row < len(self._lines):
            return Strip.blank(width, base)
        line = self._lines[row]
        wide = sum(len(segment.text) for segment in line)
        margin = Segment(" " * ((width - wide) // 2), base)
        return Strip([margin, *line], margin.cell_length + wide).adjust_cell_length(width, base)
