"""How a source tree is laid out for Python; standard library only, the server uses it too."""

from __future__ import annotations

import ast
from pathlib import Path


def import_roots(source: Path) -> list[Path]:
    """Return the folders of a source tree that modules are imported from, first one first."""
    src = source / "src"
    layered = src.is_dir() and not (src / "__init__.py").exists()
    return [src, source] if layered else [source]


def is_root_package(source: Path) -> bool:
    """Tell whether the source folder is itself a package whose modules import each other so."""
    if not (source / "__init__.py").exists():
        return False
    return any(_imports_relatively(path) for path in source.glob("*.py"))


def _imports_relatively(path: Path) -> bool:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree))


def module_file(source: Path, name: str) -> Path | None:
    """Return the file of a dotted module name within the tree, or None."""
    for root in import_roots(source):
        base = root.joinpath(*name.split("."))
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file():
                return path
    return None
