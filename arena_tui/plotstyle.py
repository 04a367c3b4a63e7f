"""What charts and frames draw with: braille dots, blocks, or plain ASCII."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class PlotStyle:
    """A way to draw dots with characters.

    Attributes:
        name: "braille", "block" or "ascii".
        columns: Dots a cell is wide.
        rows: Dots a cell is high.
        characters: What draws a cell by the bits of its dots, 2 ** (columns * rows) of them; bit
            `row * columns + column` is the dot in that row from the top.
        markers: What tells series apart besides colour, one character each.
        vertical, horizontal, corner, tick_x, tick_y: Lines of the axes.
        gap: Marks where a value was not a number.
        up, down: Mark points beyond the upper and the lower edge.
        guide: Line of the crosshair.
        change: Marks a mutation on the x axis.
        levels: Sparkline characters, low to high.
        ellipsis: Stands for what is left out.
    """

    name: str
    columns: int
    rows: int
    characters: str
    markers: str = "●▲■◆▼★✚○"
    vertical: str = "│"
    horizontal: str = "─"
    corner: str = "└"
    tick_x: str = "┬"
    tick_y: str = "┤"
    gap: str = "×"
    up: str = "▲"
    down: str = "▼"
    guide: str = "│"
    change: str = "◊"
    levels: str = "▁▂▃▄▅▆▇█"
    ellipsis: str = "…"

    @cached_property
    def glyphs(self) -> NDArray[np.uint32]:
        """The characters as code points, uint32, shape (2 ** (columns * rows),)."""
        # Imported here: most screens draw no chart, and the first is to be there at once.
        import numpy as np

        return np.array([ord(character) for character in self.characters], np.uint32)

    def text(self, value: str) -> str:
        """Return a text of our own with only what this style's terminals have."""
        if self.name != "ascii":
            return value
        value = value.replace("…", "~").replace("–", "-").replace("×", "x").replace("·", ".")
        return value.encode("ascii", "replace").decode("ascii")


def _braille() -> str:
    # Unicode numbers the dots down the left column, then the right, and the lowest row last.
    dots = (0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80)
    codes = (sum(dot for at, dot in enumerate(dots) if bits >> at & 1) for bits in range(1, 256))
    return " " + "".join(chr(0x2800 + code) for code in codes)


BRAILLE = PlotStyle("braille", 2, 4, _braille())
# Bits: top left 1, top right 2, bottom left 4, bottom right 8.
BLOCK = PlotStyle("block", 2, 2, " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█")
# One dot a column and two a row, so that a slope is seen in characters as well.
ASCII = PlotStyle(
    "ascii",
    1,
    2,
    " '.:",
    markers="*o+x#@%&",
    vertical="|",
    horizontal="-",
    corner="+",
    tick_x="+",
    tick_y="+",
    gap="x",
    up="^",
    down="v",
    guide="|",
    change="!",
    levels="_.-=+*#@",
    ellipsis="~",
)

STYLES: dict[str, PlotStyle] = {style.name: style for style in (BRAILLE, BLOCK, ASCII)}


def style_named(name: str) -> PlotStyle:
    """Return a plot style by its name; an unknown name gives braille."""
    return STYLES.get(name, BRAILLE)


def detect(environ: Mapping[str, str] | None = None, encoding: str | None = None) -> PlotStyle:
    """Return the best plot style that this terminal is likely to show.

    Args:
        environ: Environment variables; the process's own when left out.
        encoding: Encoding of the terminal; of standard output when left out.
    """
    environ = os.environ if environ is None else environ
    if encoding is None:
        encoding = getattr(sys.__stdout__, "encoding", None) or "ascii"
    if "utf" not in encoding.lower().replace("-", "") or _locale(environ) in ("C", "POSIX"):
        return ASCII
    # The kernel's own console has blocks in its font and no braille.
    return BLOCK if environ.get("TERM") == "linux" else BRAILLE


def _locale(environ: Mapping[str, str]) -> str:
    """Return the locale that was asked for; Python itself writes in UTF-8 under `LANG=C` too."""
    return environ.get("LC_ALL") or environ.get("LANG") or ""


def sparkline(values: object, width: int, style: PlotStyle = BRAILLE) -> str:
    """Return the last `width` values as one character each, low to high; gaps are blank.

    Args:
        values: Numbers, or None, NaN and infinity for gaps.
        width: Characters at most.
        style: What to draw with.
    """
    if width <= 0:
        return ""
    items = list(values)[-width:] if values is not None else []  # type: ignore[call-overload]
    numbers = [_finite(value) for value in items]
    good = [number for number in numbers if number is not None]
    if not good:
        return ""
    # Halved, so that the difference of two floats is one, of whatever size they are.
    low, reach = min(good) / 2, max(good) / 2 - min(good) / 2
    top = len(style.levels) - 1

    def level(number: float) -> int:
        return round((number / 2 - low) / reach * top) if reach > 0 else top // 2

    return "".join(" " if number is None else style.levels[level(number)] for number in numbers)


def _finite(value: object) -> float | None:
    """Return a value as a number, or None for what is none that can be drawn."""
    if value is None or isinstance(value, str):
        return None
    number = float(value)  # type: ignore[arg-type]
    return number if math.isfinite(number) else None
