"""What stands above the lines: markers, gaps, what is off the scale, marks and the crosshair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arena_tui.safetext import safe_text
from arena_tui.widgets.chart.axes import si_number
from arena_tui.widgets.chart.columns import Ints
from arena_tui.widgets.chart.decimate import Buckets
from arena_tui.widgets.chart.parts import INK_DIM, INK_GUIDE, INK_MARK, Layer, Options, Picture
from arena_tui.widgets.chart.raster import Canvas, to_rows
from arena_tui.widgets.chart.series import Guide, Mark


def draw_points(canvas: Canvas, picture: Picture, layer: Layer, options: Options) -> None:
    """Draw markers: on points that stand alone, on the last one, and along the line if wanted."""
    assert layer.buckets is not None
    assert picture.limits is not None
    style, buckets = options.style, layer.buckets
    marker = style.markers[layer.series.style.marker % len(style.markers)]
    finite = np.flatnonzero(np.isfinite(buckets.last))
    chosen = _alone(buckets)
    if len(chosen) > picture.width // 4:
        chosen = chosen[:0]
    if len(finite):
        chosen = np.append(chosen, finite[-1])
    if options.mark_lines and len(finite):
        phase = (layer.series.style.marker * 5) % 16 * style.columns
        along = np.arange(phase, picture.width * style.columns, 16 * style.columns)
        chosen = np.append(chosen, np.intersect1d(along, finite))
    values = buckets.last[chosen]
    good = np.isfinite(values) & (values >= picture.limits[0]) & (values <= picture.limits[1])
    rows = to_rows(values[good], *picture.limits, picture.height * style.rows)
    cell_rows = np.floor(rows + 0.5).astype(np.int64) // style.rows
    columns = chosen[good] // style.columns + picture.left
    canvas.put_cells(cell_rows, columns, marker, layer.ink)


def _alone(buckets: Buckets) -> Ints:
    """Return the columns whose one point no line reaches."""
    at = np.flatnonzero(buckets.filled)
    if not len(at):
        return at
    from_before = np.append(
        np.isfinite(buckets.before[1]) if buckets.before else False,
        np.isfinite(buckets.last[at[:-1]]),
    )
    to_after = np.append(
        np.isfinite(buckets.first[at[1:]]),
        np.isfinite(buckets.after[1]) if buckets.after else False,
    )
    reached = (from_before & np.isfinite(buckets.first[at])) | (
        to_after & np.isfinite(buckets.last[at])
    )
    return at[buckets.single[at] & ~reached]


def draw_edges(canvas: Canvas, picture: Picture, layer: Layer, options: Options) -> None:
    """Mark gaps at the foot of the plot, and what is off the scale at its edges."""
    assert layer.buckets is not None
    assert picture.limits is not None
    style, buckets = options.style, layer.buckets
    low, high = picture.limits
    bottom = picture.height - 1
    for where, row, glyph in (
        (buckets.gap, bottom, style.gap),
        (buckets.high > high, 0, style.up),
        (buckets.low < low, bottom, style.down),
    ):
        columns = np.unique(np.flatnonzero(where) // style.columns) + picture.left
        canvas.put_cells(np.full(len(columns), row), columns, glyph, layer.ink)


def draw_marks(canvas: Canvas, picture: Picture, marks: Sequence[Mark], options: Options) -> None:
    under = None if options.crosshair is None else picture.column(options.crosshair)
    for mark in marks:
        column = picture.column(mark.x)
        if column is None:
            continue
        canvas.put(picture.height, column, options.style.change, INK_MARK)
        if column == under and mark.label:
            picture.notes.append(safe_text(mark.label, 80))


def draw_crosshair(canvas: Canvas, picture: Picture, options: Options, with_foot: bool) -> None:
    if options.crosshair is None:
        return
    column = picture.column(options.crosshair)
    if column is None:
        return
    for row in range(picture.height):
        if canvas.codes[row, column] == ord(" "):
            canvas.put(row, column, options.style.guide, INK_GUIDE)
    if with_foot:
        canvas.put(picture.height, column, options.style.tick_x, INK_GUIDE)


def draw_guides(
    canvas: Canvas, picture: Picture, guides: Sequence[Guide], options: Options
) -> None:
    """Draw level lines beneath all else; those off the scale are named on the frame."""
    assert picture.limits is not None
    style, (low, high) = options.style, picture.limits
    for guide in guides:
        name = f"{safe_text(guide.label, 40)} {si_number(guide.y, 4)}".strip()
        place = scaled(guide.y, options.log)
        if not np.isfinite(place):
            continue
        if not low <= place <= high:
            picture.beyond.append(f"{name} {style.up if place > high else style.down}")
            continue
        row = int(to_rows(np.array([place]), low, high, picture.height * style.rows)[0] + 0.5)
        row = min(row // style.rows, picture.height - 1)
        for column in range(picture.left, picture.left + picture.width, 2):
            canvas.put(row, column, style.horizontal, INK_DIM)
        text = style.text(name)
        if len(text) < picture.width // 2:
            canvas.put(row, picture.left + picture.width - len(text) - 1, f" {text}", INK_DIM)


def scaled(value: float, log: bool) -> float:
    """Return where a value is on the y axis; NaN where a log scale has no place for it."""
    if not log:
        return value
    return float(np.log10(value)) if value > 0 else float("nan")
