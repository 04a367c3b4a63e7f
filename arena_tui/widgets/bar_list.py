"""Figures as horizontal bars, one a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text
from textual.app import RenderResult
from textual.widget import Widget

from arena_tui import format
from arena_tui.safetext import pad_cells, safe_text


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes:
        label: What it is of.
        value: How long it is; None or NaN draws none.
        maximum: The length of a whole bar; the largest value of the list when left out.
        text: What stands behind it; the value when left out.
    """

    label: str
    value: float | None
    maximum: float | None = None
    text: str | None = None


class BarList(Widget):
    """Bars under each other, with labels in front and figures behind."""

    DEFAULT_CSS = "BarList { height: auto; width: 1fr; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._bars: tuple[Bar, ...] = ()

    def set_bars(self, bars: Sequence[Bar]) -> None:
        """Replace the bars."""
        if tuple(bars) != self._bars:
            self._bars = tuple(bars)
            self.refresh(layout=True)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """Return one line a bar."""
        return max(1, len(self._bars))

    def render(self) -> RenderResult:
        """Draw all bars in the width there is."""
        if not self._bars:
            return Text(format.NOTHING, style="dim")
        width = self.content_size.width
        labels = [safe_text(bar.label, 80) for bar in self._bars]
        texts = [
            safe_text(format.number(bar.value) if bar.text is None else bar.text, 80)
            for bar in self._bars
        ]
        label_width = min(max(map(cell_len, labels)), max(4, width // 3))
        text_width = min(max(map(cell_len, texts)), max(4, width // 3))
        bar_width = max(0, width - label_width - text_width - 2)
        lines = Text(no_wrap=True, overflow="crop")
        for bar, label, text in zip(self._bars, labels, texts, strict=True):
            lines.append(pad_cells(label, label_width) + " ")
            lines.append(format.bar(self._share(bar), bar_width), style="cyan")
            lines.append(" " + pad_cells(text, text_width, "right") + "\n")
        lines.right_crop(1)
        return lines

    def _share(self, bar: Bar) -> float | None:
        if bar.value is None or not math.isfinite(bar.value):
            return None
        largest = max(
            (abs(b.value) for b in self._bars if b.value is not None and math.isfinite(b.value)),
            default=0.0,
        )
        whole = bar.maximum or largest
        return abs(bar.value) / whole if whole else 0.0
