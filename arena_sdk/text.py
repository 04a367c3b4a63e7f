"""Text from outside is data: one function makes it harmless wherever it is shown."""

from __future__ import annotations

import re
import unicodedata

# Format characters reorder or hide their neighbours (bidirectional marks, zero-width joiners, the
# byte-order mark); separators break a line where the layout does not expect it.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def _is_plain(character: str) -> bool:
    return " " <= character <= "~" or unicodedata.category(character) not in _HIDDEN_CATEGORIES


def safe_text(value: object, *, newlines: bool = False) -> str:
    r"""Return text that cannot move the cursor, change colours or reorder what stands beside it.

    Control, format, surrogate and unassigned characters are shown as escapes (`\x1b`, `\u202e`).

    Args:
        value: Anything; what is not text is converted with `str`.
        newlines: Keep line feeds and tabs, for text that is shown as several lines.
    """
    text = value if isinstance(value, str) else str(value)
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if _is_plain(character) or (newlines and character in "\n\t")
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def shorten_words(text: str, width: int = 120) -> str:
    """Cut every word that is longer than any name can be; what is shorter stays as it is.

    Args:
        text: A sentence that quotes what somebody sent, such as a name of 10,000 characters.
        width: The most characters that a word keeps.
    """
    return re.sub(rf"\S{{{width + 1},}}", lambda word: shorten_middle(word[0], width), text)


def shorten_middle(text: str, width: int) -> str:
    """Cut text to `width` characters in its middle, where names differ least.

    Args:
        text: One line.
        width: At least 1 character.
    """
    if len(text) <= width:
        return text
    if width < 3:
        return text[:width]
    head = (width - 1) // 2
    tail = width - 1 - head
    return f"{text[:head]}…{text[-tail:]}"
