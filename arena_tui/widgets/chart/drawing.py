"""A chart as lines, shapes and words on a page: what its exports to SVG and PNG are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from arena_tui.safetext import safe_text, shorten_middle
from arena_tui.theme import Paper, SeriesStyle, series_colour
from arena_tui.widgets.chart import axes
from arena_tui.widgets.chart.axes import Limits
from arena_tui.widgets.chart.columns import Column, Floats
from arena_tui.widgets.chart.decimate import decimate
from arena_tui.widgets.chart.heat import cell_values, levels
from arena_tui.widgets.chart.inks import heat_colour
from arena_tui.widgets.chart.overlays import scaled
from arena_tui.widgets.chart.parts import HEAT_LEVELS, Options
from arena_tui.widgets.chart.picture import y_limits
from arena_tui.widgets.chart.series import Band, Guide, Mark, Series

WIDTH, HEIGHT = 960, 540
_LEFT, _RIGHT, _TOP, _FOOT = 76, 18, 40, 46
_LINE = 18
DASHES = ((), (8, 4), (2, 3), (10, 3, 2, 3), (14, 4), (4, 4), (1, 4), (12, 2, 2, 2))
"""Dashes by a series' marker, so that more than colour tells lines apart on paper too."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Shape:
    """A line through points, or a filled polygon.

    Attributes:
        points: Where, in pixels from the top left.
        colour: `#rrggbb`.
        width: Of the line in pixels; 0 fills the polygon.
        opacity: From 0 to 1.
        dash: Lengths of dashes and gaps in pixels; nothing for a solid line.
    """

    points: tuple[Point, ...]
    colour: str
    width: float = 1.5
    opacity: float = 1.0
    dash: tuple[int, ...] = ()


@dataclass(frozen=True)
class Words:
    """One line of text: `anchor` is "start", "middle" or "end" of `x`; `y` is its baseline."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    size: int = 12
    colour: str = Paper.TEXT
    bold: bool = False


@dataclass
class Drawing:
    """A page: shapes in the order they are drawn, then the words above them."""

    width: int = WIDTH
    height: int = HEIGHT
    shapes: list[Shape] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)


@dataclass(frozen=True)
class _Frame:
    """The plot on the page, and how values come onto it."""

    left: float
    top: float
    right: float
    bottom: float
    window: Limits
    limits: Limits

    def x(self, value: Floats | float) -> Floats:
        low, high = self.window
        return self.left + (np.asarray(value) - low) / (high - low) * (self.right - self.left)

    def y(self, value: Floats | float) -> Floats:
        low, high = self.limits
        share = (np.asarray(value) / 2 - low / 2) / (high / 2 - low / 2)
        return self.bottom - np.clip(share, -0.01, 1.01) * (self.bottom - self.top)


def drawing(
    shown: Sequence[Series],
    window: Limits,
    options: Options,
    title: str,
    *,
    marks: Sequence[Mark] = (),
    guides: Sequence[Guide] = (),
    band: Band | None = None,
) -> Drawing:
    """Return a chart as a page of 960×540 pixels on white.

    Args:
        shown: Its lines, those beneath first.
        window: Limits of the x axis.
        options: How it is drawn in the terminal: scale, smoothing, outliers, heat map.
        title: What stands above.
        marks: What is marked on the x axis.
        guides: Level lines.
        band: What is shaded, or None.
    """
    page = Drawing()
    shown = [series for series in shown if len(series)]
    rows = _legend(page, shown, band, options)
    limits = y_limits(shown, window, options, guides=guides, band=band)
    if options.heat:
        limits = (0.0, float(max(1, len(shown))))
    top = _TOP + rows * _LINE
    frame = _Frame(_LEFT, top, page.width - _RIGHT, page.height - _FOOT, window, limits)
    page.words.append(Words(_LEFT, 26, safe_text(title, 120), size=16, bold=True))
    _axes(page, frame, options, [series.label for series in shown])
    if options.heat:
        _heat(page, frame, shown, options)
        return page
    if band is not None and len(band):
        _shade(page, frame, band, options)
    for guide in guides:
        _guide(page, frame, guide, options)
    for smoothed in (False, True) if options.smoothing else (False,):
        for series in shown:
            _line(page, frame, series, options, smoothed)
    for mark in marks:
        if window[0] <= mark.x <= window[1]:
            x, y = float(frame.x(mark.x)), frame.bottom
            diamond = ((x, y - 4), (x + 3, y), (x, y + 4), (x - 3, y))
            page.shapes.append(Shape(diamond, Paper.MARK, 0))
    return page


def _colour(style: SeriesStyle) -> str:
    return series_colour(style, dark=False)


def _legend(page: Drawing, shown: Sequence[Series], band: Band | None, options: Options) -> int:
    """Write the names above the plot; returns the lines they take."""
    entries = [(series.label, series.style) for series in shown]
    if band is not None:
        entries.append((band.label, band.style.as_faint()))
    if options.heat:
        return 0
    x, row = float(_LEFT), 0
    for label, style in entries[:40]:
        name = shorten_middle(safe_text(label, 200), 28)
        width = 30 + 7.2 * len(name) + 14
        if x + width > page.width - _RIGHT and x > _LEFT:
            x, row = float(_LEFT), row + 1
        y = _TOP + row * _LINE
        dash = () if style.faint else DASHES[style.marker % len(DASHES)]
        line = ((x, y - 4), (x + 24, y - 4))
        shape = Shape(line, _colour(style), 8 if style.faint else 2, 0.25 if style.faint else 1.0)
        page.shapes.append(shape if style.faint else Shape(line, _colour(style), 2, 1.0, dash))
        page.words.append(Words(x + 30, y, name))
        x += width
    return row + 1 if entries else 0


def _axes(page: Drawing, frame: _Frame, options: Options, names: Sequence[str]) -> None:
    if options.heat:
        places = [len(names) - at - 0.5 for at in range(len(names))]
        labels = [shorten_middle(safe_text(name, 200), 11) for name in names]
        step = -(-len(names) // 24)
        places, labels = places[::step], labels[::step]
    elif options.log:
        places = axes.log_ticks(*frame.limits, 6)
        labels = axes.log_labels(places)
    else:
        places = axes.ticks(*frame.limits, 6)
        labels = axes.tick_labels(places)
    for place, label in zip(places, labels, strict=True):
        y = float(frame.y(place))
        if not options.heat:
            page.shapes.append(Shape(((frame.left, y), (frame.right, y)), Paper.GRID, 1))
        page.words.append(Words(frame.left - 8, y + 4, label, "end"))
    along, figures = axes.place_ticks(frame.window, 8, options.x_kind)
    for place, label in zip(along, figures, strict=True):
        x = float(frame.x(place))
        page.shapes.append(Shape(((x, frame.bottom), (x, frame.bottom + 5)), Paper.FRAME, 1))
        page.words.append(Words(x, frame.bottom + 20, label, "middle"))
    corner = (frame.left, frame.bottom)
    page.shapes.append(
        Shape(((frame.left, frame.top), corner, (frame.right, frame.bottom)), Paper.FRAME, 1)
    )
    name = safe_text(options.x_label, 60)
    page.words.append(Words(frame.right, page.height - 8, name, "end", colour=Paper.NOTE))


def points_of(x: Floats, column: Column, window: Limits, width: int) -> Iterator[list[Point]]:
    """Yield the unbroken stretches of a line within a window, at most some points a pixel.

    Where there are more than two points a pixel, each pixel gives its least and its greatest value,
    so no spike is lost.
    """
    start = max(0, int(np.searchsorted(x, window[0], "left")) - 1)
    end = int(np.searchsorted(x, window[1], "right")) + 1
    values = column.values
    if end - start > 2 * width:
        buckets = decimate(x, column, *window, width)
        at = np.flatnonzero(buckets.filled)
        edges = window[0] + (window[1] - window[0]) * ((at + 0.5) / width)
        xs = np.repeat(edges, 2)
        ys = np.stack([buckets.low[at], buckets.high[at]], axis=1).ravel()
    else:
        xs, ys = x[start:end], values[start:end]
    run: list[Point] = []
    for place, value in zip(xs.tolist(), ys.tolist(), strict=True):
        if np.isfinite(value):
            run.append((place, value))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _line(page: Drawing, frame: _Frame, series: Series, options: Options, smoothed: bool) -> None:
    column = series.track(options.log, options.smoothing if smoothed else 0.0)
    faint = series.style.faint or (options.smoothing > 0 and not smoothed)
    colour, dash = _colour(series.style), DASHES[series.style.marker % len(DASHES)]
    for run in points_of(series.x, column, frame.window, int(frame.right - frame.left)):
        at = np.array(run)
        points = tuple(zip(frame.x(at[:, 0]).tolist(), frame.y(at[:, 1]).tolist(), strict=True))
        if len(points) == 1:
            x, y = points[0]
            square = ((x - 3, y - 3), (x + 3, y - 3), (x + 3, y + 3), (x - 3, y + 3))
            page.shapes.append(Shape(square, colour, 0, 0.3 if faint else 1.0))
        else:
            page.shapes.append(
                Shape(points, colour, 1 if faint else 1.8, 0.3 if faint else 1.0, dash)
            )


def _shade(page: Drawing, frame: _Frame, band: Band, options: Options) -> None:
    width = int(frame.right - frame.left)
    lines = [
        [point for run in points_of(s.x, s.track(options.log, 0.0), frame.window, width)
         for point in run]
        for s in (band.low, band.high)
    ]  # fmt: skip
    if not lines[0] or not lines[1]:
        return
    at = np.array([*lines[0], *reversed(lines[1])])
    points = tuple(zip(frame.x(at[:, 0]).tolist(), frame.y(at[:, 1]).tolist(), strict=True))
    page.shapes.append(Shape(points, _colour(band.style), 0, 0.18))


def _guide(page: Drawing, frame: _Frame, guide: Guide, options: Options) -> None:
    place = scaled(guide.y, options.log)
    if frame.limits[0] <= place <= frame.limits[1]:
        y = float(frame.y(place))
        page.shapes.append(Shape(((frame.left, y), (frame.right, y)), Paper.NOTE, 1, 1.0, (4, 4)))
        name = f"{safe_text(guide.label, 60)} {axes.si_number(guide.y)}".strip()
        page.words.append(Words(frame.right - 4, y - 4, name, "end", colour=Paper.NOTE))


def _heat(page: Drawing, frame: _Frame, shown: Sequence[Series], options: Options) -> None:
    columns = 160
    rows = [cell_values(series, options.log, frame.window, columns)[0] for series in shown]
    values = np.array(rows)
    good = values[np.isfinite(values)]
    if not len(good):
        return
    low, high = float(good.min()), float(good.max())
    if options.clip:
        low, high = axes.fences(good, (low, high))
    wide = (frame.right - frame.left) / columns
    tall = (frame.bottom - frame.top) / len(shown)
    for at, row in enumerate(levels(values, low, high, HEAT_LEVELS)):
        y = frame.top + at * tall
        for column in np.flatnonzero(row >= 0):
            x = frame.left + int(column) * wide
            box = ((x, y), (x + wide + 0.3, y), (x + wide + 0.3, y + tall), (x, y + tall))
            page.shapes.append(Shape(box, heat_colour(int(row[column]), dark=False), 0))
    ends = (10**low, 10**high) if options.log and max(abs(low), abs(high)) < 300 else (low, high)
    words = f"light {axes.si_number(ends[0])} – dark {axes.si_number(ends[1])}"
    page.words.append(Words(frame.right, 26, words, "end", colour=Paper.NOTE))
