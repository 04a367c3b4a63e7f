"""Charts for a terminal that is not the dashboard, drawn by plotext."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Mapping, Sequence

from arena_sdk.cli.output import shows_unicode

MAX_WIDTH = 100
HEIGHT = 14
MARKERS = ("braille", "dot", "x", "o")
ASCII_MARKERS = ("*", "o", "x", "+")
_FRAME = str.maketrans(
    {
        "─": "-", "│": "|", "┌": "+", "┐": "+", "└": "+", "┘": "+",
        "├": "+", "┤": "+", "┬": "+", "┴": "+", "┼": "+", "·": "-", "…": ".",
    }
)  # fmt: skip


def can_plot() -> bool:
    """Tell whether stdout is a terminal that can show braille."""
    return sys.stdout.isatty() and shows_unicode()


def line_chart(
    title: str, x_label: str, series: Mapping[str, Sequence[tuple[float, float]]]
) -> str:
    """Draw named lines without colour codes; in ASCII where stdout takes no more.

    Args:
        title: Stands above the chart.
        x_label: Stands below it.
        series: Points (x, y) by name; points that are not finite are left out, since plotext
            raises on them.

    Returns:
        The chart as lines of text, at most 100 columns wide.
    """
    import plotext

    rich = shows_unicode()
    figure = plotext.figure
    figure.clear()
    figure.plot_size(min(shutil.get_terminal_size().columns, MAX_WIDTH), HEIGHT)
    figure.title(title)
    figure.label(x_label, "x")
    markers = MARKERS if rich else ASCII_MARKERS
    for index, (name, points) in enumerate(series.items()):
        finite = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
        if not finite:
            continue
        marker = markers[index % len(markers)]
        signal = figure.signal([x for x, _ in finite], [y for _, y in finite], marker=marker)
        if len(finite) > 1:
            signal.lines()
        signal.label(name)
        figure.draw(signal)
    figure.legend()
    text: str = plotext.uncolorize(str(figure.build()))
    drawn = "\n".join(line.rstrip() for line in text.splitlines())
    return drawn if rich else drawn.translate(_FRAME)
