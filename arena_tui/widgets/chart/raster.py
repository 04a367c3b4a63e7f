"""Columns of extrema to dots, dots to characters, without a loop over points or cells."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arena_tui.plotstyle import PlotStyle
from arena_tui.widgets.chart.columns import Floats, Ints
from arena_tui.widgets.chart.decimate import Bools, Buckets, links

Bits = NDArray[np.uint8]
Codes = NDArray[np.uint32]
Inks = NDArray[np.int16]

NO_INK = -1
_FAR = 1e9


def to_rows(values: Floats, low: float, high: float, rows: int) -> Floats:
    """Return rows of dots of values, from 0 at the top, as floats, NaN for NaN; may be outside."""
    # Halved first, so that the span of the greatest floats does not overflow.
    share = (high / 2 - values / 2) / (high / 2 - low / 2)
    return np.clip(share * (rows - 1), -_FAR, _FAR)


def spans(buckets: Buckets, low: float, high: float, rows: int) -> tuple[Floats, Floats]:
    """Return the uppermost and lowest row that each column of dots fills, NaN where none.

    Args:
        buckets: What falls into each column.
        low: Value at the lowest row.
        high: Value at the uppermost.
        rows: How many rows of dots there are.
    """
    top = to_rows(buckets.high, low, high, rows)
    bottom = to_rows(buckets.low, low, high, rows)
    from_x, from_y, to_x, to_y = links(buckets)
    if len(from_x):
        columns = len(top)
        begin = np.clip(np.ceil(from_x - 0.5), 0, columns - 1).astype(np.int64)
        finish = np.clip(np.floor(to_x + 0.5), 0, columns - 1).astype(np.int64)
        counts = np.maximum(finish - begin + 1, 0)
        line = np.repeat(np.arange(len(from_x)), counts)
        offset = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        column = begin[line] + offset
        row_from = to_rows(from_y, low, high, rows)
        row_to = to_rows(to_y, low, high, rows)
        slope = (row_to - row_from) / (to_x - from_x)
        for side in (-0.5, 0.5):
            place = np.clip(column + side, from_x[line], to_x[line])
            row = row_from[line] + slope[line] * (place - from_x[line])
            np.fmin.at(top, column, row)
            np.fmax.at(bottom, column, row)
    return top, bottom


def fill(top: Floats, bottom: Floats, rows: int) -> Bools:
    """Return dots, shape (rows, columns), True from top to bottom in every column.

    What is wholly outside draws nothing; what is partly outside is cut at the edge.
    """
    # Rounding to even would draw level lines of uneven width; floor(x + 0.5) does not.
    upper = np.floor(top + 0.5)
    lower = np.floor(bottom + 0.5)
    row = np.arange(rows, dtype=np.float64)[:, None]
    result: Bools = (row >= upper) & (row <= lower)
    return result


def dithered(dots: Bools, style: PlotStyle) -> Bools:
    """Return every few dots of a filled shape, so that it shows as a shade behind lines."""
    row, column = np.indices(dots.shape, sparse=True)
    if style.rows < 4:
        return dots & ((row % 2 == 1) & (column % 2 == 0))
    return dots & ((row + 2 * column) % 4 == 0)


def pack(dots: Bools, style: PlotStyle) -> Bits:
    """Return the bits of each cell, shape (rows / style.rows, columns / style.columns)."""
    height, width = dots.shape[0] // style.rows, dots.shape[1] // style.columns
    blocks = dots.reshape(height, style.rows, width, style.columns)
    bits = np.zeros((height, width), np.uint8)
    for row in range(style.rows):
        for column in range(style.columns):
            bits |= blocks[:, row, :, column].astype(np.uint8) << (row * style.columns + column)
    return bits


class Canvas:
    """Characters and their inks, cell by cell.

    Attributes:
        codes: Code points, shape (height, width).
        inks: Number of the ink of each cell, NO_INK where it has none.
    """

    def __init__(self, height: int, width: int) -> None:
        self.codes: Codes = np.full((height, width), ord(" "), np.uint32)
        self.inks: Inks = np.full((height, width), NO_INK, np.int16)

    def put(self, row: int, column: int, text: str, ink: int) -> None:
        """Write text of one-cell characters; what does not fit is cut off."""
        height, width = self.codes.shape
        if not 0 <= row < height or column >= width:
            return
        if column < 0:
            text, column = text[-column:], 0
        text = text[: width - column]
        if text:
            codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
            self.codes[row, column : column + len(text)] = codes
            self.inks[row, column : column + len(text)] = ink

    def put_layers(
        self, row: int, column: int, layers: Sequence[tuple[Bits, int, bool]], style: PlotStyle
    ) -> None:
        """Draw layers of (bits, ink, faint) with their upper left corner at a cell.

        The last layer gives the colour of a cell; dots of other layers stay in it. Faint ones lie
        beneath: they do not show where anything else is.
        """
        if not layers:
            return
        height, width = layers[0][0].shape
        bits = np.zeros((height, width), np.uint8)
        ink = np.full((height, width), NO_INK, np.int16)
        strong = np.zeros((height, width), bool)
        for layer, _, faint in layers:
            if not faint:
                strong |= layer > 0
        for layer, layer_ink, faint in layers:
            drawn = (layer > 0) & ~strong if faint else layer > 0
            bits |= np.where(drawn, layer, 0).astype(np.uint8)
            ink[drawn] = layer_ink
        window = (slice(row, row + height), slice(column, column + width))
        drawn = bits > 0
        self.codes[window][drawn] = style.glyphs[bits[drawn]]
        self.inks[window][drawn] = ink[drawn]

    def put_cells(self, rows: Ints, columns: Ints, glyph: str, ink: int) -> None:
        """Draw one character in several cells, those outside left out."""
        height, width = self.codes.shape
        good = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        self.codes[rows[good], columns[good]] = ord(glyph)
        self.inks[rows[good], columns[good]] = ink

    def runs(self, row: int) -> list[tuple[str, int]]:
        """Return a row as runs of (text, ink), blanks joined to what stands before them."""
        codes, inks = self.codes[row], self.inks[row]
        blank = codes == ord(" ")
        # A blank has no ink of its own to show, so it need not end a run.
        place = np.where(blank, 0, np.arange(len(codes)))
        np.maximum.accumulate(place, out=place)
        inks = inks[place]
        text = codes.tobytes().decode("utf-32-le")
        cuts = np.flatnonzero(inks[1:] != inks[:-1]) + 1
        bounds = [0, *cuts.tolist(), len(codes)]
        return [(text[a:b], int(inks[a])) for a, b in itertools.pairwise(bounds) if b > a]
