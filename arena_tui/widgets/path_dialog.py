"""A dialog that asks for a folder or a file, by typing or in a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Button, DirectoryTree, Input

from arena_tui.safetext import safe_text
from arena_tui.widgets.dialogs import Dialog

_HIDDEN = frozenset({"__pycache__", "node_modules"})


class PathTree(DirectoryTree):
    """A tree of folders, and of files where they are wanted; hidden ones are left out."""

    # Of one cell each, and in every font, unlike the emoji of the original.
    ICON_NODE = "▸ "
    ICON_NODE_EXPANDED = "▾ "
    ICON_FILE = "  "

    def __init__(self, root: Path, files: bool, suffixes: Sequence[str]) -> None:
        super().__init__(root, id="tree")
        self._files = files
        self._suffixes = tuple(suffixes)

    def process_label(self, label: str | Text) -> Text:
        """Take a name as it is: no markup, nothing that a terminal obeys."""
        return Text(safe_text(label.plain if isinstance(label, Text) else label, 300))

    def filter_paths(self, paths: Iterable[Path]) -> Iterable[Path]:
        """Leave out what cannot be picked, nor holds what can."""
        for path in paths:
            if path.name.startswith(".") or path.name in _HIDDEN:
                continue
            try:
                is_folder = path.is_dir()
            except OSError:
                continue
            if is_folder or (not self._suffixes or path.suffix in self._suffixes):
                yield path


class PathDialog(Dialog[Path | None]):
    """Asks for a folder or a file; the answer is an absolute path that exists, or None."""

    DEFAULT_CSS = """
    PathDialog > #dialog { width: 84; height: 90%; }
    PathDialog #tree { margin-top: 1; }
    PathDialog #tree { height: 1fr; min-height: 5; margin-bottom: 1; background: transparent; }
    """

    def __init__(
        self,
        title: str,
        start: Path | str | None = None,
        *,
        pick: str = "folder",
        suffixes: Sequence[str] = (),
        text: str = "",
        check: Callable[[Path], str | None] | None = None,
    ) -> None:
        """Make a picker.

        Args:
            title: What the path is for.
            start: Folder to start in; the working folder when left out.
            pick: "folder" or "file".
            suffixes: Of a file, such as ".yaml"; any when empty.
            text: A sentence above.
            check: Returns what is wrong with a path, in a sentence, or None.
        """
        super().__init__(title, text)
        folder = Path(start or Path.cwd()).expanduser()
        self._root = folder if folder.is_dir() else folder.parent
        if not self._root.is_dir():
            self._root = Path.cwd()
        self._start = folder.absolute() if folder.exists() else self._root.absolute()
        self._pick = pick
        self._suffixes = tuple(suffixes)
        self._check = check

    def body(self) -> ComposeResult:
        """Make the line to type in and the tree."""
        yield Input(str(self._start), id="path", select_on_focus=False)
        yield PathTree(self._root.absolute(), self._pick == "file", self._suffixes)

    def buttons(self) -> Sequence[Widget]:
        """Return the way up, cancel and choose."""
        return [
            Button("Up", id="up", flat=True),
            Button("Cancel", id="cancel", flat=True),
            Button("Choose", variant="primary", id="ok", flat=True),
        ]

    def on_mount(self) -> None:
        """Start on the typed path, its end."""
        line = self.query_one("#path", Input)
        line.focus()
        line.cursor_position = len(line.value)

    @on(DirectoryTree.NodeHighlighted)
    def _highlighted(self, event: DirectoryTree.NodeHighlighted[object]) -> None:
        data = event.node.data
        tree = self.query_one(PathTree)
        if data is not None and tree.has_focus:
            self.query_one("#path", Input).value = str(getattr(data, "path", ""))

    @on(DirectoryTree.FileSelected)
    def _file(self, event: DirectoryTree.FileSelected) -> None:
        event.stop()
        if self._pick == "file":
            self._choose(event.path)

    @on(Button.Pressed, "#up")
    def _up(self) -> None:
        tree = self.query_one(PathTree)
        root = Path(tree.path).absolute().parent
        tree.path = root
        self.query_one("#path", Input).value = str(root)

    @on(Input.Submitted, "#path")
    @on(Button.Pressed, "#ok")
    def _typed(self) -> None:
        text = self.query_one("#path", Input).value.strip()
        try:
            self._choose(Path(text).expanduser())
        except (OSError, RuntimeError, ValueError):
            self.complain(f"{safe_text(text, 200)!r} is no path.")

    def _choose(self, path: Path) -> None:
        problem = self._problem(path)
        if problem:
            self.complain(problem)
        else:
            self.dismiss(path.absolute())

    def _problem(self, path: Path) -> str | None:
        shown = safe_text(path, 300)
        if not str(path) or not path.exists():
            return f"{shown} does not exist."
        if self._pick == "folder" and not path.is_dir():
            return f"{shown} is a file; choose a folder."
        if self._pick == "file":
            if not path.is_file():
                return f"{shown} is a folder; choose a file."
            if self._suffixes and path.suffix not in self._suffixes:
                return f"{shown} must end in {' or '.join(self._suffixes)}."
        return self._check(path) if self._check else None
