"""RGB frames to characters: half blocks in full colour, or shades where there is no colour."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.segment import Segment
from rich.style import Style

Frame = NDArray[np.uint8]

HALF = "▀"
SHADES = " ░▒▓█"
ASCII_SHADES = " .:-=+*#%@"
# Colours are rounded to this many levels a channel, so that few styles have to be made.
_ROUNDED = np.uint8(0xF8)


def as_frame(pixels: object) -> Frame:
    """Return pixels as uint8 of shape (height, width, 3).

    Takes grey (height, width) or (height, width, 1), RGB and RGBA; floats from 0 to 1 as well.
    Raises ValueError, with a sentence, for what is no frame.
    """
    array = np.asarray(pixels)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[2] not in (1, 3, 4) or 0 in array.shape:
        raise ValueError(f"A frame has the shape (height, width, 3), not {array.shape}.")
    if array.dtype != np.uint8:
        if np.issubdtype(array.dtype, np.floating):
            array = np.nan_to_num(array.astype(np.float64)) * (255 if array.max() <= 1 else 1)
        array = np.clip(array, 0, 255).astype(np.uint8)
    array = array[:, :, :3]
    return np.ascontiguousarray(np.repeat(array, 3, axis=2) if array.shape[2] == 1 else array)


def fitted(height: int, width: int, rows: int, columns: int) -> tuple[int, int]:
    """Return the greatest size, in square pixels, of the same proportions within a size."""
    scale = min(rows / height, columns / width)
    return max(1, min(rows, round(height * scale))), max(1, min(columns, round(width * scale)))


def resized(frame: Frame, rows: int, columns: int) -> Frame:
    """Return a frame of another size: the mean of what falls into a pixel, or the nearest one."""
    return _along(_along(frame, rows, 0), columns, 1)


def _along(frame: Frame, size: int, axis: int) -> Frame:
    length = frame.shape[axis]
    if size == length:
        return frame
    edges = np.arange(size + 1) * length // size
    if size > length:
        larger: Frame = np.take(frame, np.minimum(edges[:-1], length - 1), axis=axis)
        return larger
    sums = np.add.reduceat(frame.astype(np.uint32), edges[:-1], axis=axis)
    counts = np.diff(edges).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
    smaller: Frame = ((sums + counts // 2) // counts).astype(np.uint8)
    return smaller


@lru_cache(maxsize=16_384)
def _style(upper: int, lower: int) -> Style:
    return Style(
        color=Color.from_rgb(upper >> 16, upper >> 8 & 255, upper & 255),
        bgcolor=Color.from_rgb(lower >> 16, lower >> 8 & 255, lower & 255),
    )


def half_blocks(frame: Frame, rows: int, columns: int) -> list[list[Segment]]:
    """Return a frame as lines of half blocks, two pixels a cell.

    Args:
        frame: Shape (height, width, 3), uint8.
        rows: Lines at most.
        columns: Cells a line at most.
    """
    high, wide = fitted(frame.shape[0], frame.shape[1], rows * 2, columns)
    high += high % 2
    small = (resized(frame, high, wide) & _ROUNDED).astype(np.int64)
    packed = small[:, :, 0] << 16 | small[:, :, 1] << 8 | small[:, :, 2]
    lines = []
    for upper, lower in zip(packed[::2], packed[1::2], strict=True):
        changes = np.flatnonzero((upper[1:] != upper[:-1]) | (lower[1:] != lower[:-1])) + 1
        starts = [0, *changes.tolist()]
        ends = [*starts[1:], wide]
        lines.append(
            [
                Segment(HALF * (end - start), _style(int(upper[start]), int(lower[start])))
                for start, end in zip(starts, ends, strict=True)
            ]
        )
    return lines


def shaded(frame: Frame, rows: int, columns: int, shades: str) -> list[list[Segment]]:
    """Return a frame as lines of shades, for terminals without colour.

    Args:
        frame: Shape (height, width, 3), uint8.
        rows: Lines at most.
        columns: Cells a line at most.
        shades: Characters from dark to light.
    """
    high, wide = fitted(frame.shape[0], frame.shape[1], rows * 2, columns)
    small = resized(frame, max(1, high // 2), wide).astype(np.float64)
    # Luma of Rec. 601, as for any grey picture.
    light = small @ np.array([0.299, 0.587, 0.114])
    level = np.minimum((light / 256 * len(shades)).astype(int), len(shades) - 1)
    return [[Segment("".join(shades[at] for at in row))] for row in level]
