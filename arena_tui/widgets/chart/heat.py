"""A heat map: a row a series, a column a stretch of the x axis, a shade for the value."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from arena_tui.safetext import fit_cells, safe_text, shorten_middle
from arena_tui.widgets.chart import axes
from arena_tui.widgets.chart.axes import Limits
from arena_tui.widgets.chart.columns import Floats
from arena_tui.widgets.chart.decimate import decimate
from arena_tui.widgets.chart.frame_axes import draw_x_axis
from arena_tui.widgets.chart.legend import Run
from arena_tui.widgets.chart.overlays import draw_crosshair
from arena_tui.widgets.chart.parts import (
    HEAT_LEVELS,
    INK_AXIS,
    INK_DIM,
    INK_GUIDE,
    INK_HEAT,
    INK_TEXT,
    Options,
    Picture,
)
from arena_tui.widgets.chart.raster import Canvas
from arena_tui.widgets.chart.series import Series

_WIDEST_NAME = 16

Levels = NDArray[np.int64]


def cell_values(series: Series, log: bool, window: Limits, columns: int) -> tuple[Floats, Floats]:
    """Return what each column of cells shows of a series, and which columns hold a gap.

    A column shows the middle between the extrema that fall into it; one into which nothing falls
    shows what the column before it ended with, up to the last point of the series.

    Args:
        series: The series.
        log: Whether log10 of the values is shown.
        window: Limits of the x axis.
        columns: How many columns of cells there are.

    Returns:
        Values of shape (columns,), NaN for nothing, and as many floats, 1 where a gap is.
    """
    column = series.track(log, 0.0)
    buckets = decimate(series.x, column, *window, columns)
    values = buckets.low / 2 + buckets.high / 2
    places = np.where(buckets.filled, np.arange(columns), -1)
    np.maximum.accumulate(places, out=places)
    known = buckets.last[np.maximum(places, 0)]
    held = np.where(places >= 0, known, np.nan if buckets.before is None else buckets.before[1])
    end = np.flatnonzero(buckets.filled)
    last = columns if buckets.end < len(series) else (int(end[-1]) + 1 if len(end) else 0)
    held[last:] = np.nan
    return np.where(buckets.filled, values, held), buckets.gap.astype(np.float64)


def gathered(rows: Floats, height: int) -> tuple[Floats, list[slice]]:
    """Return at most `height` rows: where there are more, neighbours by their mean.

    Args:
        rows: Values, shape (series, columns), NaN for nothing.
        height: Rows at most.
    """
    count = len(rows)
    if count <= height:
        return rows, [slice(at, at + 1) for at in range(count)]
    bounds = np.linspace(0, count, height + 1).round().astype(int)
    groups = [slice(int(a), int(b)) for a, b in itertools.pairwise(bounds)]
    means = []
    for group in groups:
        part = rows[group]
        known = np.isfinite(part)
        counts = known.sum(axis=0)
        total = np.where(known, part, 0.0).sum(axis=0)
        means.append(np.where(counts > 0, total / np.maximum(counts, 1), np.nan))
    return np.array(means), groups


def levels(values: Floats, low: float, high: float, count: int) -> Levels:
    """Return the shade of each value from 0 to `count` - 1, -1 for NaN."""
    good = np.isfinite(values)
    span = high / 2 - low / 2
    share = np.where(good, values / 2 - low / 2, 0.0) / span if span > 0 else np.full_like(
        values, 0.5
    )  # fmt: skip
    shade = np.clip(np.floor(share * count), 0, count - 1).astype(np.int64)
    return np.where(good, shade, -1)


def draw_heat(
    picture: Picture, shown: Sequence[Series], options: Options, width: int, height: int
) -> None:
    """Draw a heat map into a picture whose window is set."""
    assert picture.window is not None
    style = options.style
    head = 1 if options.legend and height >= 5 else 0
    foot = 2 if height - head >= 5 else 0
    picture.top, picture.height = head, height - head - foot
    labels = [style.text(safe_text(series.label, 200)) for series in shown]
    values_at = _values_at(shown, options)
    figures = max((len(figure) for figure in values_at), default=0)
    name = min(_WIDEST_NAME, max(map(cell_len, labels)), max(0, width // 3 - figures - 1))
    gutter = name + 1 + (figures + 1 if figures else 0)
    if width < 2 * gutter:
        name = figures = gutter = 0
    picture.left, picture.width = gutter, max(1, width - gutter)
    rows = [cell_values(s, options.log, picture.window, picture.width) for s in shown]
    values, groups = gathered(np.array([row for row, _ in rows]), picture.height)
    gaps, _ = gathered(np.array([gap for _, gap in rows]), picture.height)
    picture.gaps = sum(int(gap.sum()) for _, gap in rows)
    good = values[np.isfinite(values)]
    low, high = (float(good.min()), float(good.max())) if len(good) else (0.0, 1.0)
    if options.clip and len(good):
        fence = axes.fences(good, (low, high))
        picture.below, picture.above = int((good < fence[0]).sum()), int((good > fence[1]).sum())
        low, high = fence
    picture.limits = (low, high)
    canvas = Canvas(picture.height + foot, width)
    tall = max(1, picture.height // len(groups))
    for at, group in enumerate(groups):
        row = at * tall
        label = labels[group.start]
        if group.stop - group.start > 1:
            label = f"{label} +{group.stop - group.start - 1}"
        text = style.text(shorten_middle(label, name))
        canvas.put(row, 0, fit_cells(text, name), INK_TEXT)
        if figures and group.stop - group.start == 1:
            canvas.put(row, name + 1, values_at[group.start].rjust(figures), INK_DIM)
        for line in range(row, min(row + tall, picture.height)):
            _draw_row(canvas, line, gutter, values[at], gaps[at] > 0, (low, high), options)
    if foot:
        draw_x_axis(canvas, picture, options)
    _cross(canvas, picture, options, foot > 0)
    lines = [_scale(low, high, options, width)] if head else []
    picture.lines = lines + [canvas.runs(row) for row in range(picture.height + foot)]


def _values_at(shown: Sequence[Series], options: Options) -> list[str]:
    """Return the figures of the series at the crosshair; none without one."""
    if options.crosshair is None:
        return []
    points = [series.value_near(options.crosshair) for series in shown]
    return [options.style.text(axes.si_number(point[1], 4)) if point else "" for point in points]


def _draw_row(
    canvas: Canvas,
    row: int,
    left: int,
    values: Floats,
    gaps: NDArray[np.bool_],
    limits: Limits,
    options: Options,
) -> None:
    shade = levels(values, *limits, HEAT_LEVELS)
    glyphs = np.array([ord(g) for g in _glyphs(options)], np.uint32)
    at = np.flatnonzero(shade >= 0)
    canvas.codes[row, left + at] = glyphs[shade[at] * len(glyphs) // HEAT_LEVELS]
    canvas.inks[row, left + at] = INK_HEAT + shade[at]
    for place in np.flatnonzero(gaps):
        canvas.put(row, left + int(place), options.style.gap, INK_DIM)


def _glyphs(options: Options) -> str:
    """Return characters from thin to thick; one where colours tell the shades apart."""
    if options.style.name == "ascii":
        return ".:-=+*#%@"
    return "░▒▓█" if options.mark_lines else "█"


def _scale(low: float, high: float, options: Options, width: int) -> list[Run]:
    """Return the line that says which shade is which value."""
    style, glyphs = options.style, _glyphs(options)
    shown = (10**low, 10**high) if options.log and max(abs(low), abs(high)) < 300 else (low, high)
    first, last = (style.text(axes.si_number(value, 4)) for value in shown)
    runs: list[Run] = [(f"{first} ", INK_DIM)]
    runs += [
        (glyphs[shade * len(glyphs) // HEAT_LEVELS], INK_HEAT + shade)
        for shade in range(HEAT_LEVELS)
    ]
    runs.append((f" {last}", INK_DIM))
    return runs if sum(len(text) for text, _ in runs) <= width else [(f"{first} - {last}", INK_DIM)]


def _cross(canvas: Canvas, picture: Picture, options: Options, with_foot: bool) -> None:
    """Draw the crosshair over the shades, since no cell of a heat map is blank."""
    draw_crosshair(canvas, picture, options, with_foot)
    column = None if options.crosshair is None else picture.column(options.crosshair)
    if column is not None:
        for row in range(picture.height):
            canvas.put(row, column, options.style.guide, INK_GUIDE)
        if picture.left:
            canvas.put(picture.height, picture.left - 1, options.style.corner, INK_AXIS)
