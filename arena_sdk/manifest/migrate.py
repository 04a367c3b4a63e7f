"""Retired spellings replaced: in a document that is loaded, and in a file with its comments."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import yaml

from arena_sdk.manifest.problems import ManifestError, Problem, in_order
from arena_sdk.manifest.retired import Change, changes
from arena_sdk.manifest.source import Source, parse


def migrated(source: Source) -> tuple[Source, list[Problem]]:
    """Return a source whose document has no retired spellings, and a warning for each change.

    Positions still are those of the text as it is written.
    """
    found = changes(source.document)
    document = copy.deepcopy(source.document)
    for change in sorted(
        found, key=lambda one: ("set", "rename", "add", "remove").index(one.action)
    ):
        _apply(document, change)
    warnings = [_warning(source, change) for change in found]
    return replace(source, document=document), in_order(warnings)


def _warning(source: Source, change: Change) -> Problem:
    line, column = source.position(change.path)
    path = (*change.path, change.name) if change.action == "add" else change.path
    return Problem(".".join(path), change.message, "retired", line, column, severity="warning")


def _apply(document: dict[str, Any], change: Change) -> None:
    keys = change.path if change.action == "add" else change.path[:-1]
    target: Any = document
    for key in keys:
        target = target[key]
    if change.action == "add":
        target[change.name] = copy.deepcopy(change.value)
    elif change.action == "set":
        target[change.path[-1]] = change.value
    elif change.action == "remove":
        del target[change.path[-1]]
    else:
        items = list(target.items())
        target.clear()
        for key, value in items:
            target[change.name if key == change.path[-1] else key] = value


def migrate_text(text: str) -> tuple[str, list[Problem]]:
    """Return a manifest's text without retired spellings, and what was changed.

    Comments, order and layout stay as they are. JSON is written anew.

    Raises:
        ManifestUnreadable: It is no YAML.
        ManifestError: A retired spelling stands where it cannot be changed in place.
    """
    source = parse(text)
    found = changes(source.document)
    warnings = in_order([_warning(source, change) for change in found])
    if not found:
        return text, []
    if text.lstrip().startswith("{"):
        return json.dumps(
            migrated(source)[0].document, indent=2, ensure_ascii=False
        ) + "\n", warnings
    return _Editor(source).edited(found), warnings


class _Editor:
    """Changes the text of block-style YAML, and of flow-style mappings inside of it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._text = source.text
        starts = [0]
        for line in self._text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        self._starts = starts

    def edited(self, found: list[Change]) -> str:
        """Return the text with the changes made, from its end to its beginning.

        Where several keys are added at one place, those of inner mappings come first.
        """
        edits = [
            (*self._edit(change), len(change.path), index) for index, change in enumerate(found)
        ]
        text = self._text
        for start, end, new, _, _ in sorted(
            edits, key=lambda edit: (edit[0], edit[1], -edit[3], edit[4]), reverse=True
        ):
            text = text[:start] + new + text[end:]
        return text

    def _edit(self, change: Change) -> tuple[int, int, str]:
        if change.action == "add":
            return self._addition(change)
        key, value, flow = self._nodes(change.path)
        if change.action == "rename":
            return (self._index(key.start_mark), self._index(key.end_mark), change.name)
        if change.action == "set":
            return (
                self._index(value.start_mark),
                self._index(value.end_mark),
                _scalar(change.value),
            )
        return self._removal(key, value, flow)

    def _removal(self, key: yaml.Node, value: yaml.Node, flow: bool) -> tuple[int, int, str]:
        start, end = self._index(key.start_mark), self._index(value.end_mark)
        if flow:
            after = self._text[end:]
            if after.lstrip().startswith(","):
                end += after.index(",") + 1
                end += len(self._text[end:]) - len(self._text[end:].lstrip(" "))
            else:
                before = self._text[:start].rstrip()
                start = len(before) - 1 if before.endswith(",") else start
            return (start, end, "")
        last = (
            value.end_mark.line
            if value.end_mark.column
            else max(value.end_mark.line - 1, key.start_mark.line)
        )
        return (self._starts[key.start_mark.line], self._starts[last + 1], "")

    def _addition(self, change: Change) -> tuple[int, int, str]:
        mapping = self._mapping(change.path)
        last_key, last_value = mapping.value[-1]
        if mapping.flow_style:
            end = self._index(last_value.end_mark)
            return (end, end, f", {change.name}: {_scalar(change.value)}")
        indent = " " * last_key.start_mark.column
        mark = last_value.end_mark
        line = (
            mark.line if mark.column or mark.line == last_value.start_mark.line else mark.line - 1
        )
        while line > last_value.start_mark.line and self._is_bare(line):
            line -= 1
        end = min(self._starts[min(line + 1, len(self._starts) - 1)], len(self._text))
        gap = "" if self._text[:end].endswith("\n") else "\n"
        blank = "\n" if not change.path else ""
        return (end, end, f"{gap}{blank}{indent}{change.name}: {_scalar(change.value)}\n")

    def _is_bare(self, line: int) -> bool:
        """Tell whether a line is empty or holds only a comment."""
        text = self._text[self._starts[line] : self._starts[min(line + 1, len(self._starts) - 1)]]
        return not text.strip() or text.lstrip().startswith("#")

    def _mapping(self, path: tuple[str, ...]) -> yaml.MappingNode:
        node: Any = self._source.node
        for name in path:
            node = next((value for key, value in node.value if key.value == name), None)
            if not isinstance(node, yaml.MappingNode):
                raise self._merged(path)
        assert isinstance(node, yaml.MappingNode)
        return node

    def _nodes(self, path: tuple[str, ...]) -> tuple[yaml.Node, yaml.Node, bool]:
        mapping = self._mapping(path[:-1])
        for key, value in mapping.value:
            if key.value == path[-1]:
                return key, value, bool(mapping.flow_style)
        raise self._merged(path)

    def _merged(self, path: tuple[str, ...]) -> ManifestError:
        line, column = self._source.position(path)
        message = "It comes from an anchor through `<<`, so it cannot be changed here; do it there."
        return ManifestError([Problem(".".join(path), message, "retired", line, column)])

    def _index(self, mark: yaml.Mark) -> int:
        return self._starts[mark.line] + mark.column


def _scalar(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=10**6, allow_unicode=True)
    return str(text).removesuffix("\n").removesuffix("\n...").strip()
