"""The two axes around a plot, with their ticks and figures."""

from __future__ import annotations

import numpy as np

from arena_tui.safetext import safe_text
from arena_tui.widgets.chart import axes
from arena_tui.widgets.chart.parts import INK_AXIS, INK_DIM, Options, Picture
from arena_tui.widgets.chart.raster import Canvas, to_rows

_LEAST_GUTTER = 5


def draw_axes(canvas: Canvas, picture: Picture, options: Options, with_foot: bool) -> None:
    """Draw both axes; what is left of the width is for the plot."""
    assert picture.limits is not None
    assert picture.window is not None
    style, (low, high) = options.style, picture.limits
    width = canvas.codes.shape[1]
    count = max(2, round(picture.height / 2.5))
    places = axes.log_ticks(low, high, count) if options.log else axes.ticks(low, high, count)
    labels = axes.log_labels(places) if options.log else axes.tick_labels(places)
    gutter = max([_LEAST_GUTTER, *map(len, labels)]) + 1
    if not with_foot or width - gutter < 8:
        gutter, labels = 0, []
    picture.left, picture.width = gutter, width - gutter
    if gutter:
        for row in range(picture.height):
            canvas.put(row, gutter - 1, style.vertical, INK_AXIS)
        taken = -1
        dots = picture.height * style.rows
        for place, label in sorted(zip(places, labels, strict=True), reverse=True):
            row = int(to_rows(np.array([place]), low, high, dots)[0] + 0.5) // style.rows
            if 0 <= row < picture.height and row > taken:
                canvas.put(row, gutter - 1, style.tick_y, INK_AXIS)
                canvas.put(row, 0, style.text(label).rjust(gutter - 1), INK_DIM)
                taken = row
    if with_foot:
        draw_x_axis(canvas, picture, options)


def draw_x_axis(canvas: Canvas, picture: Picture, options: Options) -> None:
    """Draw the x axis below the plot, whose place must be known."""
    assert picture.window is not None
    style, row = options.style, picture.height
    corner = style.corner if picture.left else ""
    line = corner + style.horizontal * picture.width
    canvas.put(row, max(0, picture.left - 1), line, INK_AXIS)
    count = max(1, picture.width // 12)
    places, labels = axes.place_ticks(picture.window, count, options.x_kind)
    width = picture.left + picture.width
    name = style.text(safe_text(options.x_label, 40))
    name = name if name.isascii() and len(name) <= picture.width // 2 else ""
    end = width - len(name) - (1 if name else 0)
    canvas.put(row + 1, width - len(name), name, INK_DIM)
    free = 0
    for place, label in zip(places, labels, strict=True):
        column = picture.column(place)
        if column is None:
            continue
        canvas.put(row, column, style.tick_x, INK_AXIS)
        start = min(max(column - len(label) // 2, free), max(0, end - len(label)))
        if start >= free and abs(start + len(label) // 2 - column) <= 3:
            canvas.put(row + 1, start, style.text(label), INK_DIM)
            free = start + len(label) + 1
