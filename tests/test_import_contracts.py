"""Dependencies point one way; every import of both packages is read, those in functions too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena_tui.registry import SCREENS

ROOT = Path(__file__).parents[1]
CONTRACTS = [
    ("arena_sdk", "arena_tui|textual", "the SDK knows no dashboard"),
    (
        "arena_tui/widgets",
        r"arena_tui\.(stores|screens|app|registry|signing_in|palette|settings)|arena_sdk",
        "widgets know neither what is shown nor where from",
    ),
    (
        "arena_tui/stores",
        r"arena_tui\.(screens|widgets|app|registry|palette)|textual",
        "stores know no screen, no widget, no toolkit",
    ),
    ("arena_tui/screens", r"arena_sdk\.(_async|_sync|local|cli)|httpx", "screens ask stores"),
    ("arena_tui", r"arena_sdk\.(_async|_sync|cli)|httpx", "the dashboard uses the public client"),
]


def modules(package: str) -> Iterator[Path]:
    yield from sorted((ROOT / package).rglob("*.py"))


def is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and module of what is imported when the program runs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)
        elif is_for_types_only(node):
            for other in node.orelse:  # type: ignore[attr-defined]
                yield from imports(other)
        else:
            yield from imports(node)


@pytest.mark.parametrize(("package", "forbidden", "why"), CONTRACTS, ids=lambda each: each[:30])
def test_no_import_goes_the_wrong_way(package, forbidden, why):
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in modules(package)
        for line, module in imports(ast.parse(path.read_text(encoding="utf-8")))
        if re.match(rf"(?:{forbidden})(?:\.|$)", module)
    ]
    assert not wrong, why


def test_the_reader_of_imports_sees_those_in_functions_and_not_those_for_types():
    source = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\n"
        "def f():\n    from b.c import d\n"
    )
    assert [module for _, module in imports(ast.parse(source))][1:] == ["b.c.d"]


def test_every_screen_has_a_style_file_of_its_own():
    modules_of_screens = {spec.where.partition(":")[0] for spec in SCREENS}
    styled = {path.stem for path in (ROOT / "arena_tui/styles").glob("*.tcss")}
    assert styled == modules_of_screens | {"frame"}


def test_colours_are_written_in_one_place():
    """All else uses the theme's names, so that a colour is changed once."""
    coloured = re.compile(r"#[0-9a-fA-F]{6}\b|\brgb\(")
    files = [*(ROOT / "arena_tui/styles").glob("*.tcss"), *modules("arena_tui")]
    found = [path.name for path in files if coloured.search(path.read_text(encoding="utf-8"))]
    assert found == ["theme.py"]
