"""An animated SVG of a terminal: what changes from frame to frame is in it once for each look."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from rich.cells import cell_len
from rich.color import Color, blend_rgb
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style

from arena_tui.theme import Film

CELL_WIDTH, CELL_HEIGHT, FONT = 8.4, 17, 14
_MARGIN, _BAR = 10, 30
_FACES = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"


@dataclass(frozen=True)
class Piece:
    """A stretch of one line in one style.

    Attributes:
        column: Where it begins, in cells.
        width: Cells wide.
        text: What it says.
        ink, ground: `#rrggbb`, or empty for what the terminal has by itself.
        bold, underline: How it is set.
    """

    column: int
    width: int
    text: str
    ink: str
    ground: str
    bold: bool
    underline: bool


Line = tuple[Piece, ...]
Frame = tuple[Line, ...]


def frame_of(app: Any) -> Frame:
    """Return what is on the screen of an app."""
    return tuple(line_of(strip) for strip in app.screen._compositor.render_strips())


def line_of(segments: Iterable[Segment]) -> Line:
    """Return the pieces of one line of a screen."""
    return tuple(_pieces(segments))


def _pieces(segments: Iterable[Segment]) -> Iterator[Piece]:
    column = 0
    for segment in segments:
        width = cell_len(segment.text)
        if width:
            yield _piece(column, width, segment.text, segment.style or Style())
        column += width


def _piece(column: int, width: int, text: str, style: Style) -> Piece:
    ink, ground = _triplet(style.color), _triplet(style.bgcolor)
    if style.reverse:
        ink, ground = ground, ink
    if style.dim and ink is not None and ground is not None:
        ink = blend_rgb(ink, ground, 0.4)
    return Piece(
        column,
        width,
        text,
        ink.hex if ink else "",
        ground.hex if ground else "",
        bool(style.bold),
        bool(style.underline),
    )


def _triplet(color: Color | None) -> ColorTriplet | None:
    return None if color is None or color.is_default else color.get_truecolor()


def animated(frames: Sequence[Frame], seconds: Sequence[float], title: str) -> str:
    """Return an SVG that shows frames one after the other, again and again.

    Where nothing is animated, the last frame is seen.

    Args:
        frames: What was on the screen, all of one size.
        seconds: How long each is shown.
        title: What stands above.

    Raises:
        ValueError: There is no frame, or not a time for each.
    """
    if not frames or len(frames) != len(seconds):
        raise ValueError("Frames and as many times are needed.")
    height = max(map(len, frames))
    width = max((piece.column + piece.width for line in frames[0] for piece in line), default=1)
    starts = [0.0, *itertools.accumulate(seconds)]
    ground = next((p.ground for line in frames[-1] for p in line if p.ground), Film.GROUND)
    parts = [_head(width, height, ground, title)]
    for row in range(height):
        looks: dict[Line, list[int]] = {}
        for at, frame in enumerate(frames):
            looks.setdefault(frame[row] if row < len(frame) else (), []).append(at)
        for line, shown in looks.items():
            parts.append(_line(line, row, shown, starts, ground))
    return "\n".join([*parts, "</g></svg>\n"])


def _head(width: int, height: int, ground: str, title: str) -> str:
    whole_width = width * CELL_WIDTH + 2 * _MARGIN
    whole_height = height * CELL_HEIGHT + _BAR + _MARGIN
    dots = "".join(
        f'<circle cx="{18 + 18 * at}" cy="15" r="5.5" fill="{colour}"/>'
        for at, colour in enumerate(Film.BUTTONS)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole_width:.0f} {whole_height}"'
        f' font-family="{_FACES}" font-size="{FONT}">'
        "<style>text{white-space:pre}.b{font-weight:bold}.u{text-decoration:underline}</style>"
        f'<rect width="100%" height="100%" rx="8" fill="{ground}" stroke="{Film.EDGE}"/>{dots}'
        f'<text x="{whole_width / 2:.0f}" y="20" text-anchor="middle" fill="{Film.TITLE}">'
        f"{escape(title)}</text>"
        f'<g transform="translate({_MARGIN},{_BAR})" fill="{Film.TEXT}">'
    )


def _line(line: Line, row: int, shown: list[int], starts: Sequence[float], ground: str) -> str:
    """Return one look of a line, seen in the frames of these numbers."""
    body = "".join(_drawn(piece, row, ground) for piece in line)
    frames = len(starts) - 1
    if not body or len(shown) == frames:
        return body
    by_itself = "visible" if frames - 1 in shown else "hidden"
    return f'<g visibility="{by_itself}">{_visibility(shown, starts)}{body}</g>'


def _visibility(shown: list[int], starts: Sequence[float]) -> str:
    """Return when a look is seen, as an animation that steps."""
    seen = set(shown)
    changes = [
        (starts[at], at in seen)
        for at in range(len(starts) - 1)
        if at == 0 or (at in seen) != (at - 1 in seen)
    ]
    times = ";".join(f"{start / starts[-1]:.4f}" for start, _ in changes)
    values = ";".join("visible" if is_seen else "hidden" for _, is_seen in changes)
    return (
        f'<animate attributeName="visibility" calcMode="discrete" repeatCount="indefinite"'
        f' dur="{starts[-1]:.2f}s" keyTimes="{times}" values="{values}"/>'
    )


def _drawn(piece: Piece, row: int, ground: str) -> str:
    x, y = piece.column * CELL_WIDTH, row * CELL_HEIGHT
    wide = piece.width * CELL_WIDTH
    drawn = ""
    if piece.ground and piece.ground != ground:
        drawn = (
            f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{CELL_HEIGHT}"'
            f' fill="{piece.ground}"/>'
        )
    text = piece.text.rstrip()
    if not text.strip():
        return drawn
    # Leading blanks are left out, as not every viewer keeps them.
    blanks = len(text) - len(text.lstrip())
    text = text.lstrip()
    x += blanks * CELL_WIDTH
    names = " ".join(n for n, on in (("b", piece.bold), ("u", piece.underline)) if on)
    attributes = f" class={quoteattr(names)}" if names else ""
    if piece.ink:
        attributes += f' fill="{piece.ink}"'
    length = cell_len(text) * CELL_WIDTH
    # Blanks that may not be joined: there are viewers that keep no others.
    text = text.replace(" ", "\u00a0")
    return drawn + (
        f'<text x="{x:.1f}" y="{y + 13}" textLength="{length:.1f}"'
        f' lengthAdjust="spacingAndGlyphs"{attributes}>{escape(text)}</text>'
    )
