"""One picture of a chart: a pure function from data, view and options to characters and inks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from arena_tui.safetext import pad_cells, safe_text, shorten_middle
from arena_tui.widgets.chart import axes
from arena_tui.widgets.chart.axes import Limits
from arena_tui.widgets.chart.columns import Floats
from arena_tui.widgets.chart.decimate import decimate
from arena_tui.widgets.chart.frame_axes import draw_axes
from arena_tui.widgets.chart.heat import draw_heat
from arena_tui.widgets.chart.legend import Entry, Run, legend_lines
from arena_tui.widgets.chart.overlays import (
    draw_crosshair,
    draw_edges,
    draw_guides,
    draw_marks,
    draw_points,
    scaled,
)
from arena_tui.widgets.chart.parts import (
    INK_DIM,
    INK_FAINT,
    INK_SERIES,
    INK_TEXT,
    Layer,
    Options,
    Picture,
)
from arena_tui.widgets.chart.raster import Bits, Canvas, dithered, fill, pack, spans
from arena_tui.widgets.chart.series import Band, Guide, Mark, Series
from arena_tui.widgets.chart.view import View

_SAMPLE = 1024


def x_extent(series: Sequence[Series]) -> Limits | None:
    """Return where the points of the shown series begin and end, None without points."""
    return axes.merged((float(s.x[0]), float(s.x[-1])) for s in series if len(s))


def draw(
    series: Sequence[Series],
    view: View,
    marks: Sequence[Mark],
    options: Options,
    width: int,
    height: int,
    *,
    guides: Sequence[Guide] = (),
    band: Band | None = None,
) -> Picture:
    """Draw a chart.

    Args:
        series: Its lines that are shown, those beneath first.
        view: Which part of the x axis is in view.
        marks: What to mark on the x axis.
        options: How to draw.
        width: Cells wide.
        height: Cells high.
        guides: Level lines.
        band: What is shaded behind the lines, or None.

    Returns:
        The picture, of exactly `height` lines of at most `width` cells.
    """
    picture = Picture()
    if width < 1 or height < 1:
        return picture
    shown = [s for s in series if len(s)]
    extent = x_extent(shown)
    if extent is None:
        picture.lines = _message(options.style.text(safe_text(options.empty_text)), width, height)
        return picture
    picture.window = view.window(extent)
    if options.heat:
        draw_heat(picture, shown, options, width, height)
        return picture
    band = band if band is not None and len(band) else None
    head: list[list[Run]] = []
    if options.legend and height >= 5:
        entries = [_entry(s, options) for s in shown]
        if band is not None:
            entries.append(_band_entry(band, options))
        head = legend_lines(entries, width, max(1, height // 7), options.style, INK_TEXT)
    foot = 2 if height - len(head) >= 5 else 0
    picture.top, picture.height = len(head), height - len(head) - foot
    canvas = Canvas(picture.height + foot, width)
    layers = _layers(shown, options, picture.window)
    plain = replace(options, smoothing=0.0)
    edges = [] if band is None else _layers([band.low, band.high], plain, picture.window)
    _set_limits(picture, layers, edges, guides, options)
    draw_axes(canvas, picture, options, foot > 0)
    draw_guides(canvas, picture, guides, options)
    _draw_layers(canvas, picture, layers, edges, options)
    if foot:
        draw_marks(canvas, picture, marks, options)
    draw_crosshair(canvas, picture, options, foot > 0)
    picture.lines = head + [canvas.runs(row) for row in range(picture.height + foot)]
    return picture


def _message(text: str, width: int, height: int) -> list[list[Run]]:
    line = shorten_middle(text, width)
    lines: list[list[Run]] = [[] for _ in range(height)]
    lines[height // 2] = [(pad_cells("", (width - len(line)) // 2) + line, INK_DIM)]
    return lines


def _entry(series: Series, options: Options) -> Entry:
    point = series.last() if options.crosshair is None else series.value_near(options.crosshair)
    value = axes.si_number(point[1], 4) if point else ""
    marker = options.style.markers[series.style.marker % len(options.style.markers)]
    return Entry(marker, safe_text(series.label, 200), value, INK_SERIES + series.style.slot)


def _band_entry(band: Band, options: Options) -> Entry:
    at = options.crosshair
    points = [s.last() if at is None else s.value_near(at) for s in (band.low, band.high)]
    value = "–".join(axes.si_number(point[1], 4) for point in points if point)
    marker = ":" if options.style.name == "ascii" else "░"
    return Entry(
        marker, safe_text(band.label, 200), options.style.text(value), INK_FAINT + band.style.slot
    )


def _layers(shown: Sequence[Series], options: Options, window: Limits) -> list[Layer]:
    layers: list[Layer] = []
    if options.smoothing > 0:
        layers += [Layer(s, s.track(options.log, 0.0), True) for s in shown]
    layers += [Layer(s, s.track(options.log, options.smoothing), s.style.faint) for s in shown]
    for layer in layers:
        x = layer.series.x
        layer.start = int(np.searchsorted(x, window[0], "left"))
        layer.end = int(np.searchsorted(x, window[1], "right"))
    return layers


def _set_limits(
    picture: Picture,
    layers: Sequence[Layer],
    edges: Sequence[Layer],
    guides: Sequence[Guide],
    options: Options,
) -> None:
    """Set the y limits, and count what they leave out."""
    extent = axes.merged(layer.column.extent(layer.start, layer.end) for layer in (*layers, *edges))
    own = [layer for layer in layers if layer.column is layer.series.track(options.log, 0.0)]
    for layer in own:
        span = (np.array([layer.start]), np.array([layer.end]))
        missing = int(layer.column.gap_counts(*span)[0])
        not_finite = int(layer.series.track(False, 0.0).gap_counts(*span)[0])
        picture.gaps += not_finite
        picture.unlogged += missing - not_finite
    if extent is None:
        picture.limits = (0.0, 1.0)
        return
    picture.limits = axes.widened(*_with_guides(extent, guides, options), share=0.02)
    if not options.clip:
        return
    within = axes.fences(_sample(own), extent)
    if within == extent:
        return
    low, high = axes.widened(*within, share=0.02)
    picture.limits = (low, high)
    for layer in own:
        below, above = layer.column.count_outside(layer.start, layer.end, low, high)
        picture.below += below
        picture.above += above


def y_limits(
    shown: Sequence[Series],
    window: Limits,
    options: Options,
    *,
    guides: Sequence[Guide] = (),
    band: Band | None = None,
) -> Limits:
    """Return the limits of the y axis (of log10 under a log scale) for a window."""
    picture = Picture(window=window)
    layers = _layers(shown, options, window)
    lines = [] if band is None or not len(band) else [band.low, band.high]
    edges = _layers(lines, replace(options, smoothing=0.0), window)
    _set_limits(picture, layers, edges, guides, options)
    assert picture.limits is not None
    return picture.limits


def _with_guides(extent: Limits, guides: Sequence[Guide], options: Options) -> Limits:
    """Return the extent with the guides that are near enough not to flatten the lines."""
    low, high = extent
    room = high - low
    places = [scaled(guide.y, options.log) for guide in guides]
    near = [place for place in places if low - room <= place <= high + room]
    return min([low, *near]), max([high, *near])


def _sample(layers: Sequence[Layer]) -> Floats:
    """Return values of the layers in view, evenly taken and the same ones at every redraw."""
    parts = []
    for layer in layers:
        stride = 1
        while (layer.end - layer.start) // stride > _SAMPLE:
            stride *= 2
        first = -(-layer.start // stride) * stride
        parts.append(layer.column.values[first : layer.end : stride])
    values = np.concatenate(parts) if parts else np.empty(0)
    return values[np.isfinite(values)]


def _draw_layers(
    canvas: Canvas,
    picture: Picture,
    layers: Sequence[Layer],
    edges: Sequence[Layer],
    options: Options,
) -> None:
    assert picture.limits is not None
    assert picture.window is not None
    style, (low, high) = options.style, picture.limits
    dots_wide, dots_high = picture.width * style.columns, picture.height * style.rows
    drawn: list[tuple[Bits, int, bool]] = []
    if edges:
        reach = [
            spans(decimate(e.series.x, e.column, *picture.window, dots_wide), low, high, dots_high)
            for e in edges
        ]
        shade = dithered(fill(reach[1][0], reach[0][1], dots_high), style)
        drawn.append((pack(shade, style), INK_FAINT + edges[0].series.style.slot, True))
    for layer in layers:
        layer.buckets = decimate(layer.series.x, layer.column, *picture.window, dots_wide)
        top, bottom = spans(layer.buckets, low, high, dots_high)
        drawn.append((pack(fill(top, bottom, dots_high), style), layer.ink, layer.faint))
    canvas.put_layers(0, picture.left, drawn, style)
    for layer in layers:
        if not layer.faint:
            draw_points(canvas, picture, layer, options)
            draw_edges(canvas, picture, layer, options)
