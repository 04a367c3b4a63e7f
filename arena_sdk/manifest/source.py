"""A manifest's text: YAML or JSON, read in one pass that notes what is wrong with it.

Positions are looked up only when something is said of a key, so that reading stays quick.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from arena_sdk.manifest.problems import ManifestUnreadable, Problem

SIZE_LIMIT = 1 << 20
"""Bytes of a manifest; a real one has a few thousand."""

VALUE_LIMIT = 50_000
"""Values of a manifest after aliases are followed: a text of a few lines can stand for billions."""

DEPTH_LIMIT = 100

Keys = tuple[str, ...]
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_STRING, _INTEGER, _FLOAT = (f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float"))
_MAPPING, _SEQUENCE = "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"
_MERGE = "tag:yaml.org,2002:merge"


@dataclass
class Source:
    """What was read.

    Attributes:
        document: The mapping; empty when the text holds something else.
        text: The text, empty when a mapping was given.
        node: The root of the YAML, for positions.
        problems: What is wrong with the text itself, such as a key given twice.
    """

    document: dict[str, Any]
    text: str = ""
    node: yaml.Node | None = None
    problems: list[Problem] = field(default_factory=list)

    def position(self, path: Keys, *, of_value: bool = False) -> tuple[int | None, int | None]:
        """Return the 1-based line and column of a path, or of what is nearest above it.

        Args:
            path: Keys and indices from the root.
            of_value: Point at a simple value rather than at its key.
        """
        span = self.span(path, of_value=of_value)
        return (span[0], span[1]) if span else (None, None)

    def span(self, path: Keys, *, of_value: bool = False) -> tuple[int, int, int, int] | None:
        """Return line and column of the beginning and the end, or None where there is no text."""
        if self.node is None:
            return None
        here, value = self.node, self.node
        for name in path:
            found = _inside(value, name)
            if found is None:
                of_value = False
                break
            here, value = found
        if of_value and isinstance(value, yaml.ScalarNode):
            here = value
        start, end = here.start_mark, here.end_mark
        if here is self.node:
            return (1, 1, 1, 1)
        return (start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def _inside(node: yaml.Node, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    """Return the node of a key and of its value inside of a node."""
    if isinstance(node, yaml.MappingNode):
        merged: list[yaml.Node] = []
        for key, value in reversed(node.value):
            if key.tag == _MERGE:
                merged += value.value if isinstance(value, yaml.SequenceNode) else [value]
            elif isinstance(key, yaml.ScalarNode) and key.value == name:
                return key, value
        return next(filter(None, (_inside(other, name) for other in merged)), None)
    if isinstance(node, yaml.SequenceNode) and name.isdecimal() and int(name) < len(node.value):
        item = node.value[int(name)]
        return item, item
    return None


def read(given: str | os.PathLike[str] | dict[str, Any]) -> Source:
    """Read a manifest.

    Args:
        given: A mapping, a path, `-` for standard input, or text (of several lines, or a JSON
            object).

    Raises:
        ManifestUnreadable: It is not there, is too large, or is no YAML.
    """
    if isinstance(given, str | os.PathLike):
        return parse(text_of(given))
    return _whole(Source({}), given)


def _whole(source: Source, document: Any) -> Source:
    if isinstance(document, dict):
        source.document = document
        return source
    if document is None:
        message = "The manifest is empty. `arena manifest init` writes one to begin with."
    else:
        message = "A manifest is a mapping of sections: `algorithm:`, `environment:` and so on."
    where = (1, 1) if source.node is not None or source.text else (None, None)
    source.problems.append(Problem("", message, "not_a_mapping", *where))
    return source


def text_of(given: str | os.PathLike[str]) -> str:
    """Return the text of a file, of standard input (`-`), or the text that is given itself.

    Raises:
        ManifestUnreadable: It is not there, is too large, or is no text.
    """
    if given == "-":
        return _decoded(sys.stdin.buffer.read(SIZE_LIMIT + 1), "Standard input")
    if isinstance(given, str) and ("\n" in given or given.lstrip().startswith("{")):
        return given
    path = Path(given).expanduser()
    try:
        with path.open("rb") as file:
            return _decoded(file.read(SIZE_LIMIT + 1), str(path))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "that is no file name"
        raise _unreadable(f"The manifest {str(path)[:200]!r} cannot be read: {why}.") from None


def _decoded(data: bytes, name: str) -> str:
    if len(data) > SIZE_LIMIT:
        raise _unreadable(f"{name} holds more than {SIZE_LIMIT >> 20} MB; that is no manifest.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _unreadable(f"{name} is not UTF-8 text.", line, 1) from None


def parse(text: str) -> Source:
    """Read the text of a manifest.

    Raises:
        ManifestUnreadable: It is too large, or no YAML.
    """
    if len(text) > SIZE_LIMIT:
        raise _unreadable(f"A manifest is at most {SIZE_LIMIT >> 20} MB of text.")
    try:
        loader = Loader(text)
        try:
            node = loader.get_single_node()
            source = Source({}, text, node)
            document = None if node is None else _Reader(loader, source).value(node, ())
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        raise _syntax(text, error) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _unreadable(
            f"The character {error.character!r} is not allowed in YAML.", line, 1
        ) from None
    except RecursionError:
        raise _unreadable("This YAML is nested too deeply.", 1, 1) from None
    return _whole(source, document)


class _Reader:
    """Makes Python values of nodes; notes keys that are given twice."""

    def __init__(self, loader: Any, source: Source) -> None:
        self._loader = loader
        self._source = source
        self._count = 0

    def value(self, node: yaml.Node, path: Keys) -> Any:
        """Return the value of a node."""
        self._count += 1
        if self._count > VALUE_LIMIT or len(path) > DEPTH_LIMIT:
            mark = node.start_mark
            raise _unreadable(
                "This YAML grows without end: an anchor refers to itself, or aliases multiply.",
                mark.line + 1,
                mark.column + 1,
            )
        if isinstance(node, yaml.CollectionNode) and node.tag not in (_MAPPING, _SEQUENCE):
            raise yaml.MarkedYAMLError(problem=TAGGED, problem_mark=node.start_mark)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, str(i))) for i, item in enumerate(node.value)]
        return self._scalar(node)

    def _scalar(self, node: yaml.Node) -> Any:
        if node.tag == _STRING:
            return node.value
        try:
            if node.tag == _INTEGER:
                return self._loader.construct_yaml_int(node)
            if node.tag == _FLOAT:
                return self._loader.construct_yaml_float(node)
            return self._loader.construct_object(node, deep=True)
        except ValueError:
            raise yaml.MarkedYAMLError(
                problem=f"{node.value!r} is not what it is marked as",
                problem_mark=node.start_mark,
            ) from None

    def _mapping(self, node: yaml.MappingNode, path: Keys) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        merged: list[yaml.Node] = []
        lines: dict[Any, int] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                merged += self._mergeable(value_node)
                continue
            key = self._key(key_node)
            mark = key_node.start_mark
            here = (*path, str(key))
            if key in lines:
                self._source.problems.append(
                    Problem(
                        ".".join(here),
                        f"This key is given twice, first in line {lines[key]}; keep one of them.",
                        "duplicate_key",
                        mark.line + 1,
                        mark.column + 1,
                    )
                )
            lines.setdefault(key, mark.line + 1)
            found[key] = self.value(value_node, here)
        for other in merged:
            for key, value in self.value(other, path).items():
                found.setdefault(key, value)
        return found

    def _key(self, node: yaml.Node) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            raise yaml.MarkedYAMLError(
                problem="a key must be a word, not a list or mapping",
                problem_mark=node.start_mark,
            )
        return self._scalar(node)

    def _mergeable(self, node: yaml.Node) -> list[yaml.Node]:
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for item in nodes:
            if not isinstance(item, yaml.MappingNode):
                raise yaml.MarkedYAMLError(
                    problem="`<<` merges mappings, and this is none",
                    problem_mark=item.start_mark,
                )
        return list(nodes)


def _syntax(text: str, error: yaml.MarkedYAMLError) -> ManifestUnreadable:
    """Return what is wrong with YAML that cannot be parsed, in words of ours where they fit."""
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    lines = text.splitlines() or [""]
    tab = next(_tabs(lines, line), None)
    if tab is not None:
        return _unreadable("YAML does not allow tabs for indentation; use spaces.", tab + 1, 1)
    words = _plainly(error.problem or "it cannot be parsed")
    if words.startswith(UNCLOSED) and error.context_mark is not None:
        line, column = error.context_mark.line, error.context_mark.column
    elif words == SECOND_COLON and _is_deeper(lines, line):
        words, column = MISALIGNED, 0
    return _unreadable(f"This is no YAML: {words}.", line + 1, column + 1)


def _is_deeper(lines: list[str], number: int) -> bool:
    """Tell whether a line is indented more than the line above it."""
    above = [line for line in lines[:number] if line.strip()]
    if not above or number >= len(lines):
        return False
    return _depth(lines[number]) > _depth(above[-1])


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _tabs(lines: list[str], near: int) -> Iterator[int]:
    for number in range(max(0, near - 1), min(near + 1, len(lines))):
        line = lines[number]
        if "\t" in line[: len(line) - len(line.lstrip())]:
            yield number


TAGGED = "tags (`!name`) are not allowed"
SECOND_COLON = "there is a second `:`, or the line before lacks one"
MISALIGNED = "the indentation does not fit the lines above"
UNCLOSED = ("a list is not closed", "a mapping is not closed", "the text ends inside of quotes")

_PLAINLY = (
    ("mapping values are not allowed", SECOND_COLON),
    ("did not find expected ',' or ']'", "a list is not closed; `]` or `,` is missing"),
    ("expected ',' or ']'", "a list is not closed; `]` or `,` is missing"),
    (
        "did not find expected ',' or '}'",
        "a mapping is not closed; `}` or `,` is missing",
    ),
    ("expected ',' or '}'", "a mapping is not closed; `}` or `,` is missing"),
    ("did not find expected key", MISALIGNED),
    ("expected <block end>", MISALIGNED),
    ("could not find expected ':'", "a key lacks its `:`"),
    ("end of stream", "the text ends inside of quotes"),
    ("undefined alias", "an alias (`*name`) refers to an anchor that is not there"),
    ("could not determine a constructor", TAGGED),
    ("found another document", "there are several documents; a manifest is one"),
    ("but found another document", "there are several documents; a manifest is one"),
    ("nesting depth", "it is nested too deeply"),
    ("did not find expected node content", "a list or mapping is not closed"),
    ("expected the node content", "a list or mapping is not closed"),
    (
        "cannot start any token",
        "a value begins with a reserved character; put it into quotes",
    ),
)


def _plainly(problem: str) -> str:
    return next((words for sign, words in _PLAINLY if sign in problem), problem)


def _unreadable(
    message: str, line: int | None = None, column: int | None = None
) -> ManifestUnreadable:
    return ManifestUnreadable([Problem("", message, "unreadable", line, column)])
