"""A page of a chart as a file: SVG always, PNG where Pillow is installed."""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Iterator
from html import escape
from importlib.util import find_spec
from pathlib import Path

from arena_tui.theme import Paper
from arena_tui.widgets.chart.drawing import Drawing, Point, Shape, Words

_FONT = "ui-sans-serif, system-ui, 'DejaVu Sans', sans-serif"
_SCALE = 2


def can_png() -> bool:
    """Tell whether PNG can be written: Pillow is installed."""
    return find_spec("PIL") is not None


def to_svg(page: Drawing) -> str:
    """Return a page as an SVG document."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {page.width} {page.height}" '
        f'width="{page.width}" height="{page.height}">',
        f'<rect width="100%" height="100%" fill="{Paper.GROUND}"/>',
        *map(_shape, page.shapes),
        *map(_words, page.words),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _shape(shape: Shape) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
    if not shape.width:
        look = f'fill="{shape.colour}" fill-opacity="{shape.opacity:g}"'
        return f'<polygon points="{points}" {look}/>'
    dash = f' stroke-dasharray="{" ".join(map(str, shape.dash))}"' if shape.dash else ""
    look = f'stroke="{shape.colour}" stroke-width="{shape.width:g}" opacity="{shape.opacity:g}"'
    return f'<polyline points="{points}" fill="none" stroke-linejoin="round" {look}{dash}/>'


def _words(words: Words) -> str:
    weight = ' font-weight="bold"' if words.bold else ""
    return (
        f'<text x="{words.x:.1f}" y="{words.y:.1f}" text-anchor="{words.anchor}" '
        f'font-family="{_FONT}" font-size="{words.size}"{weight} fill="{words.colour}">'
        f"{escape(words.text)}</text>"
    )


def to_png(page: Drawing) -> bytes:
    """Return a page as a PNG of twice its size in pixels; needs Pillow."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (page.width * _SCALE, page.height * _SCALE), Paper.GROUND)
    draw = ImageDraw.Draw(image, "RGBA")
    for shape in page.shapes:
        points = [(x * _SCALE, y * _SCALE) for x, y in shape.points]
        colour = f"{shape.colour}{round(shape.opacity * 255):02x}"
        if not shape.width:
            draw.polygon(points, fill=colour)
        else:
            width = max(1, round(shape.width * _SCALE))
            for piece in dashed(points, [size * _SCALE for size in shape.dash]):
                draw.line(piece, fill=colour, width=width, joint="curve")
    for words in page.words:
        font = ImageFont.load_default(words.size * _SCALE)
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[words.anchor]
        place = (words.x * _SCALE, words.y * _SCALE)
        draw.text(place, words.text, fill=words.colour, font=font, anchor=anchor)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def dashed(points: list[Point], dash: list[int]) -> Iterator[list[Point]]:
    """Yield the pieces of a line that are drawn under a pattern of dashes and gaps.

    Args:
        points: The line.
        dash: Lengths of dashes and gaps by turns; nothing for a solid line.
    """
    if not dash:
        yield points
        return
    turn, left, piece = 0, float(dash[0]), [points[0]]
    for begin, end in itertools.pairwise(points):
        length = math.dist(begin, end)
        done = 0.0
        while length - done > left:
            done += left
            share = done / length
            at = (begin[0] + (end[0] - begin[0]) * share, begin[1] + (end[1] - begin[1]) * share)
            if turn % 2 == 0:
                yield [*piece, at]
            turn += 1
            left, piece = float(dash[turn % len(dash)]), [at]
        left -= length - done
        piece.append(end)
    if turn % 2 == 0 and len(piece) > 1:
        yield piece


def write_chart(page: Drawing, path: Path) -> Path:
    """Write a page as PNG or SVG, by the path's ending; without Pillow PNG becomes SVG.

    Returns:
        The path that was written.

    Raises:
        OSError: It cannot be written, or exists.
    """
    if path.suffix.casefold() == ".png" and not can_png():
        path = path.with_suffix(".svg")
    content = to_png(page) if path.suffix.casefold() == ".png" else to_svg(page).encode()
    with path.open("xb") as file:
        file.write(content)
    return path
