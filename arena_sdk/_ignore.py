"""Which files stay at home: patterns of gitignore(5), the last one that matches decides.

Order of the rules: what is never sent, then those of `.arenaignore`, else those of `.gitignore`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path, PurePosixPath

ALWAYS_IGNORED = (
    ".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".mypy_cache",
    ".pytest_cache", ".ruff_cache", ".hypothesis", ".tox", ".idea", ".vscode", ".DS_Store",
    "*.pyc", "*.pyo", ".env", ".env.*", "*.egg-info",
)  # fmt: skip
"""Version control, caches, virtual environments and secrets; no `!` takes these back."""

IGNORE_FILES = (".arenaignore", ".gitignore")


def read_patterns(root: Path) -> tuple[str, ...]:
    """Return the patterns of the first ignore file that a folder has."""
    for name in IGNORE_FILES:
        path = root / name
        if path.is_file():
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            return tuple(line.strip() for line in lines if line.strip() and line[0] != "#")
    return ()


def is_ignored(name: str, patterns: tuple[str, ...], *, is_folder: bool) -> bool:
    """Tell whether a path stays at home; its folders have been asked about before.

    Args:
        name: Path from the root, with `/`.
        patterns: Those of the ignore file.
        is_folder: Whether the path is a folder.
    """
    if _matched(name, ALWAYS_IGNORED, is_folder):
        return True
    return _matched(name, patterns, is_folder)


def has_ignored_part(name: str) -> bool:
    """Tell whether a path or one of its folders is never sent."""
    parts = PurePosixPath(name).parts
    return any(_matched(part, ALWAYS_IGNORED, True) for part in parts)


def _matched(name: str, patterns: tuple[str, ...], is_folder: bool) -> bool:
    ignored = False
    for pattern in patterns:
        expression, takes_back, folders_only = _compiled(pattern)
        if (is_folder or not folders_only) and expression.fullmatch(name):
            ignored = not takes_back
    return ignored


@cache
def _compiled(pattern: str) -> tuple[re.Pattern[str], bool, bool]:
    takes_back = pattern.startswith("!")
    body = pattern.removeprefix("!")
    folders_only = body.endswith("/")
    body = body.rstrip("/")
    anchored = "/" in body
    prefix = "" if anchored else "(?:.*/)?"
    return re.compile(prefix + _expression(body.lstrip("/")), re.DOTALL), takes_back, folders_only


_TOKEN = re.compile(r"\*\*/|/\*\*$|\*+|\?|\[[!^]?\]?[^\]]*\]|\\.|.", re.DOTALL)


def _expression(glob: str) -> str:
    """Return the regular expression of a pattern without its slashes at the ends."""
    return "".join(_part(token) for token in _TOKEN.findall(glob))


def _part(token: str) -> str:
    simple = {"**/": "(?:.*/)?", "/**": "/.*", "?": "[^/]"}
    if token in simple:
        return simple[token]
    if token.startswith("*"):
        return "[^/]*"
    if token.startswith("[") and len(token) > 2:
        inner = token[1:-1].replace("\\", r"\\").replace("[", r"\[")
        inner = "^" + inner[1:] if inner[0] in "!^" else inner
        try:
            re.compile(f"[{inner}]")
        except re.error:
            return re.escape(token)  # as in [z-a]
        return f"[{inner}]"
    return re.escape(token[1:] if len(token) == 2 and token[0] == "\\" else token)
