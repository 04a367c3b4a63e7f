"""Observation and action spaces, drawn as a tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text
from textual.geometry import Size
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from arena_tui.safetext import safe_text

_TYPE_KEYS = ("type", "space", "kind", "class")
_CHILD_KEYS = ("spaces", "children", "items")
_DETAIL_LIMIT = 48
MOST_NODES = 2_000
"""Nodes drawn of one space at most; the last one says how many are left out."""


def _kind(space: Mapping[str, Any]) -> str:
    return next((str(space[key]) for key in _TYPE_KEYS if space.get(key)), "Space")


def _parts(space: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the named parts of a Dict, Tuple or other space made of spaces."""
    for key in _CHILD_KEYS:
        inner = space.get(key)
        if isinstance(inner, Mapping):
            return [(str(name), part) for name, part in inner.items()]
        if isinstance(inner, list | tuple):
            return [
                (str(part.get("name", at)) if isinstance(part, Mapping) else str(at), part)
                for at, part in enumerate(inner)
            ]
    return [
        (key, value)
        for key, value in space.items()
        if isinstance(value, Mapping) and any(name in value for name in _TYPE_KEYS)
    ]


def describe_space(space: Any) -> str:
    """Return one space in a line: `Box (8,) float32  low=-1 high=1`."""
    if not isinstance(space, Mapping):
        return safe_text(space, 200)
    words = [_kind(space)]
    shape = space.get("shape")
    if isinstance(shape, list | tuple):
        words.append("(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")")
    if space.get("dtype"):
        words.append(str(space["dtype"]))
    parts = {name for name, _ in _parts(space)}
    skipped = {*_TYPE_KEYS, *_CHILD_KEYS, *parts, "shape", "dtype", "name"}
    for key, value in space.items():
        if key not in skipped and value is not None:
            shown = str(value)
            if len(shown) > _DETAIL_LIMIT:
                shown = shown[: _DETAIL_LIMIT - 1] + "…"
            words.append(f"{key}={shown}")
    return safe_text("  ".join(words), 400)


class SpaceTree(Tree[None]):
    """The parts of spaces, opened, each with its shape, dtype and bounds."""

    DEFAULT_CSS = "SpaceTree { height: auto; background: transparent; padding: 0; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__("spaces", id=id, classes=classes)
        self.show_root = False
        self._spaces: Mapping[str, Any] | None = None

    def render_label(self, node: TreeNode[None], base_style: Any, style: Any) -> Text:
        """Draw the label as it is, with no arrow for what always has parts shown."""
        label = node._label.copy()
        label.stylize(style)
        return label

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Count the lines as they are now; Textual's own count is that of the last idle moment."""
        return len(self._tree_lines)

    def set_space(self, space: Mapping[str, Any] | None) -> None:
        """Show one space."""
        self.set_spaces(None if space is None else {"space": space})

    def set_spaces(self, spaces: Mapping[str, Any] | None) -> None:
        """Show spaces by name, as in `{"observation": {...}, "action": {...}}`."""
        if spaces == self._spaces:
            return
        self._spaces = spaces
        self.clear()
        left = MOST_NODES
        for name, space in (spaces or {}).items():
            left = self._put(self.root, str(name), space, left)
        self.root.expand()
        self.call_after_refresh(self.refresh, layout=True)

    def _put(self, parent: TreeNode[None], name: str, space: Any, left: int) -> int:
        if left <= 0:
            return 0
        label = Text(safe_text(name, 80), style="bold")
        label.append("  " + describe_space(space), style="not bold")
        parts = _parts(space) if isinstance(space, Mapping) else []
        left -= 1
        if not parts:
            parent.add_leaf(label)
            return left
        node = parent.add(label, expand=True)
        for at, (part, inner) in enumerate(parts):
            if left <= 0:
                node.add_leaf(Text(f"… {len(parts) - at} more"))
                break
            left = self._put(node, part, inner, left)
        return left
