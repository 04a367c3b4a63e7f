"""Which stretches of a YAML text are keys, values, comments and numbers: what an editor colours.

A tokenizer of lines of our own instead of a grammar: it colours a text that is not finished, or
wrong, as well as one that is right, and needs no compiled package.
"""

from __future__ import annotations

import re

Span = tuple[int, int, str]
"""Start and end of a stretch within its line, and "key", "text", "number", "word", "quoted",
"comment" or "mark"."""

_KEY = re.compile(
    r"""(?P<key>"[^"]*"|'[^']*'|[^\s#:,\[\]{}'"&*!|>%@`-][^#:,\[\]{}]*?)\s*:(?=\s|$)"""
)
_NUMBER = re.compile(r"[-+]?(\d[\d_]*(\.[\d_]*)?|\.\d[\d_]*)([eE][-+]?\d+)?|[-+]?\.(inf|nan)", re.I)
_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "~"))
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"?' + r"|'(?:''|[^'])*'?")
_PLAIN = re.compile(r"[^\s,\[\]{}#][^,\[\]{}#]*")
_BLOCK = re.compile(r"(?:^|[:\-\s])[|>][-+0-9]*\s*(#.*)?$")


def spans_of(text: str) -> list[list[Span]]:
    """Return the coloured stretches of every line of a text."""
    found: list[list[Span]] = []
    block_indent: int | None = None
    for line in text.split("\n"):
        stripped = line.lstrip()
        indent = len(line) - len(stripped)
        if block_indent is not None:
            if not stripped or indent > block_indent:
                found.append([(indent, len(line), "quoted")] if stripped else [])
                continue
            block_indent = None
        spans = _line(line)
        found.append(spans)
        if _BLOCK.search(line) and not any(
            kind == "comment" and start == indent for start, _, kind in spans
        ):
            block_indent = indent
    return found


def _line(line: str) -> list[Span]:
    spans: list[Span] = []
    at = 0
    while at < len(line):
        character = line[at]
        if character.isspace():
            at += 1
        elif character == "#" and (at == 0 or line[at - 1].isspace()):
            spans.append((at, len(line), "comment"))
            break
        elif (key := _KEY.match(line, at)) is not None:
            spans += [(*key.span("key"), "key"), (key.end() - 1, key.end(), "mark")]
            at = key.end()
        elif (
            character in "-?" and (at + 1 == len(line) or line[at + 1].isspace())
        ) or character in "[]{},:":
            spans.append((at, at + 1, "mark"))
            at += 1
        else:
            at = _scalar(line, at, spans)
    return spans


def _scalar(line: str, at: int, spans: list[Span]) -> int:
    """Add the scalar that begins at a place; returns where it ends."""
    quoted = _QUOTED.match(line, at)
    if quoted is not None:
        spans.append((*quoted.span(), "quoted"))
        return quoted.end()
    plain = _PLAIN.match(line, at)
    if plain is None:  # a "#" in the middle of a word
        return at + 1
    word = plain.group().rstrip()
    is_number = _NUMBER.fullmatch(word) is not None
    kind = "number" if is_number else "word" if word.lower() in _WORDS else "text"
    spans.append((at, at + len(word), kind))
    return max(at + len(word), at + 1)
