"""Text from outside, made harmless: what a terminal would act on is shown instead of obeyed."""

from __future__ import annotations

import unicodedata
from typing import Any

from rich.cells import cell_len, chop_cells

CELL_LIMIT = 2_000
"""Characters that one cell of a table shows at most; the rest is counted, not shown."""

ELLIPSIS = "…"

# Zero-width joiners make emoji of several parts; alone or apart they are shown as nothing at all,
# because terminals disagree on their width.
_DROPPED = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u180e\ufe0e\ufe0f")
_TABLE: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x09: " ",
    0x7F: "␡",
    **{code: f"<{code:02x}>" for code in range(0x80, 0xA0)},
    0x2028: "␤",
    0x2029: "␤",
}


def _shown(character: str) -> str:
    code = ord(character)
    if code in _TABLE:
        return _TABLE[code]
    if character in _DROPPED:
        return ""
    category = unicodedata.category(character)
    if category in ("Cf", "Cs", "Co", "Cn"):
        return f"<{code:x}>"
    if category in ("Mn", "Me") or cell_len(character) == 0:
        # Combining marks add nothing to the width of what they follow, and in piles make a mess.
        return ""
    return character


def safe_text(value: Any, limit: int = CELL_LIMIT) -> str:
    """Return one line of text that a terminal shows and does not obey.

    Escape codes and other control characters become their pictures (`␛`, `␊`), bidirectional and
    other invisible formatting its code in angle brackets, zero-width characters and piles of
    combining marks vanish; a precomposed letter (é) stays. Idempotent.

    Args:
        value: Anything; `str` is taken of what is not text.
        limit: Characters taken at most; what is longer ends in `… (+N)`, N being what is left out.
    """
    text = value if isinstance(value, str) else str(value)
    left_out = len(text) - limit
    if left_out > 0:
        text = text[:limit]
    if not (text.isascii() and text.isprintable()):
        text = "".join(map(_shown, unicodedata.normalize("NFC", text)))
    return f"{text}{ELLIPSIS} (+{left_out})" if left_out > 0 else text


def safe_lines(value: Any, limit: int = 200_000) -> str:
    """Return text of several lines, each made safe; line ends stay."""
    text = value if isinstance(value, str) else str(value)
    return "\n".join(safe_text(line, limit) for line in text[:limit].splitlines())


def shorten_middle(text: str, width: int) -> str:
    """Return text of at most `width` cells, its middle left out: names differ at their ends."""
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return ELLIPSIS[: max(0, width)]
    tail = (width - 1) // 2
    head = width - 1 - tail
    return fit_cells(text, head) + ELLIPSIS + fit_cells(text[::-1], tail)[::-1]


def fit_cells(text: str, width: int) -> str:
    """Return the longest start of a text that takes at most `width` cells."""
    if width <= 0:
        return ""
    return text if cell_len(text) <= width else chop_cells(text, width)[0]


def pad_cells(text: str, width: int, align: str = "left") -> str:
    """Return text of exactly `width` cells, shortened in its middle or filled with spaces."""
    text = shorten_middle(text, width)
    space = " " * max(0, width - cell_len(text))
    return space + text if align == "right" else text + space
