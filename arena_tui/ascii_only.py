"""The last filters before a terminal that can show little: signs become ASCII, colours go.

One place instead of a second set of signs and colours all over: what is drawn stays as wide as it
was, and what stands out by its ground is shown in reverse.
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

_LINES = {
    **dict.fromkeys("─━═╌╍┄┅┈┉╴╶╸╺▁▔", "-"),
    **dict.fromkeys("│┃║╎╏┆┇┊┋╵╷╹╻▏▕▎▍▌▐", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯┏┓┗┛╔╗╚╝╠╣╦╩╬", "+"),
    **dict.fromkeys("█▉▊▋▇▆▓■▬", "#"),
    **dict.fromkeys("▅▄▀▒", "="),
    **dict.fromkeys("▃▂░", "_"),
}
_SIGNS = {
    "●": "*", "◐": "o", "○": "o", "◌": "o", "▶": ">", "‖": "=", "✓": "v", "✗": "x", "‼": "!",
    "★": "*", "•": "*", "·": ".", "…": "~", "–": "-", "—": "-", "›": ">", "‹": "<", "«": '"',
    "»": '"', "→": ">", "←": "<", "↑": "^", "↓": "v", "⇧": "^", "×": "x", "±": "~", "∞": "8",
    "“": '"', "”": '"', "‘": "'", "’": "'", "\u00a0": " ", "▲": "^", "▼": "v", "◀": "<",
    "⭘": "o", "▸": ">", "▾": "v",
}  # fmt: skip
_TABLE = {ord(sign): plain for sign, plain in {**_LINES, **_SIGNS}.items()}


def to_ascii(text: str) -> str:
    """Return a text in ASCII that takes as many cells."""
    if text.isascii():
        return text
    text = text.translate(_TABLE)
    if text.isascii():
        return text
    return "".join(sign if sign.isascii() else "?" * cell_len(sign) for sign in text)


class AsciiFilter(LineFilter):
    """Turns every line into ASCII."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments of a line in ASCII."""
        return [Segment(to_ascii(text), style, control) for text, style, control in segments]


class Colourless(LineFilter):
    """Takes all colours away, as `NO_COLOR` asks; a ground that stands out becomes reverse."""

    def __init__(self, enabled: bool = True, *, dark: bool = True) -> None:
        super().__init__(enabled)
        self.dark = dark

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments of a line without colour."""
        return [
            Segment(text, None if style is None else self._plain(style), control)
            for text, style, control in segments
        ]

    def _plain(self, style: Style) -> Style:
        stands_out = self._stands_out(style.bgcolor) != bool(style.reverse)
        return Style(
            bold=style.bold,
            dim=style.dim,
            italic=style.italic,
            underline=style.underline,
            strike=style.strike,
            reverse=stands_out or None,
            meta=style.meta or None,
        )

    def _stands_out(self, ground: RichColor | None) -> bool:
        if ground is None or ground.is_default or ground.triplet is None:
            return False
        red, green, blue = ground.triplet.normalized
        light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
        return light > 0.3 if self.dark else light < 0.6
