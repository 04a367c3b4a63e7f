"""The shape of a manifest that is being written, read from its lines and indentation alone.

It serves where YAML cannot be parsed, which is most of the time while someone types.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from arena_sdk.manifest.problems import ManifestError
from arena_sdk.manifest.source import parse

KEY = re.compile(r"""(?P<indent>\s*)(?P<dash>(?:-\s+)*)(?P<key>["']?[\w .-]+?["']?)\s*:(?=\s|$)""")
WORD = re.compile(r"[\w.-]*$")


@dataclass(frozen=True)
class Place:
    """Where the cursor is.

    Attributes:
        path: Keys of the mapping that it is in, or of the field whose value it is in.
        key: The key of its line, empty when there is none.
        in_value: Whether it is behind the key's colon.
        word: What is written of the word that it is at the end of.
        siblings: The other keys of its mapping.
    """

    path: tuple[str, ...]
    key: str
    in_value: bool
    word: str
    siblings: frozenset[str]


@dataclass(frozen=True)
class Line:
    """A line with a key."""

    number: int
    indent: int
    key: str
    key_end: int
    rest: str


def lines_of(text: str) -> list[Line]:
    """Return the lines that have a key, in order."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        match = KEY.match(line)
        if match and not line.lstrip().startswith("#"):
            indent = len(match["indent"]) + len(match["dash"])
            rest = line[match.end() :].split(" #")[0].strip()
            found.append(Line(number, indent, match["key"].strip("\"'"), match.end(), rest))
    return found


def document_of(text: str) -> dict[str, Any]:
    """Return what a text says as far as it can be understood."""
    try:
        return parse(text).document
    except ManifestError:
        return _guessed(lines_of(text))


def _guessed(lines: list[Line]) -> dict[str, Any]:
    """Return nested mappings of block-style lines; a value is its text."""
    root: dict[str, Any] = {}
    open_: list[tuple[int, dict[str, Any]]] = [(-1, root)]
    for line in lines:
        while open_[-1][0] >= line.indent:
            open_.pop()
        parent = open_[-1][1]
        if line.rest and not line.rest.startswith(("{", "[", "&", "*")):
            parent[line.key] = line.rest.strip("\"'")
            continue
        inner: dict[str, Any] = {}
        for name, value in re.findall(r"([\w-]+):\s*([^,{}\[\]]+)", line.rest):
            inner[name] = value.strip().strip("\"'")
        parent[line.key] = inner
        open_.append((line.indent, inner))
    return root


def place_at(text: str, line: int, column: int) -> Place | None:
    """Return where a position is, or None when it is in a comment or outside of the text."""
    rows = text.split("\n")
    if not 1 <= line <= len(rows):
        return None
    row = rows[line - 1].rstrip("\r")
    before = row[: max(0, column - 1)]
    if re.search(r"(^|\s)#", before):
        return None
    lines = lines_of(text)
    own = next((one for one in lines if one.number == line), None)
    word = WORD.search(before)
    begun = word[0] if word else ""
    indent = own.indent if own else len(before) - len(before.lstrip(" -"))
    parents = _parents(lines, line, indent)
    siblings = _siblings(lines, line, indent, parents)
    if own is None or column <= own.key_end - 1:
        return Place(parents, own.key if own else "", False, begun, siblings)
    if own.rest.startswith("{") and "{" in before:
        return _in_flow(before, (*parents, own.key), own.rest, begun)
    return Place((*parents, own.key), own.key, True, begun, siblings)


def _parents(lines: list[Line], number: int, indent: int) -> tuple[str, ...]:
    found: list[str] = []
    for line in reversed([one for one in lines if one.number < number]):
        if line.indent < indent:
            found.append(line.key)
            indent = line.indent
    return tuple(reversed(found))


def _siblings(
    lines: list[Line], number: int, indent: int, parents: tuple[str, ...]
) -> frozenset[str]:
    return frozenset(
        one.key
        for one in lines
        if one.number != number
        and one.indent == indent
        and _parents(lines, one.number, one.indent) == parents
    )


def _in_flow(before: str, path: tuple[str, ...], rest: str, begun: str) -> Place:
    """Return the place inside of `{…}` on one line."""
    inside = before[before.index("{") + 1 :]
    depth: list[str] = []
    key = ""
    for token in re.findall(r"[{}\[\],]|[\w.-]+\s*:(?=\s|$)", inside):
        if token == "{":
            depth.append(key)
            key = ""
        elif token == "}":
            key = depth.pop() if depth else ""
        elif token == ",":
            key = ""
        elif token.endswith(":"):
            key = token.rstrip(": ")
    path = (*path, *(name for name in depth if name))
    siblings = frozenset(re.findall(r"([\w-]+)\s*:", rest))
    if key:
        return Place((*path, key), key, True, begun, siblings)
    return Place(path, begun, False, begun, siblings)
