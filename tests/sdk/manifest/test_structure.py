"""That a reader finds any field: short modules, every field declared once and described."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import arena_sdk.manifest
from arena_sdk.manifest import algorithms
from arena_sdk.manifest.base import Section
from arena_sdk.manifest.schema import section_models

PACKAGE = Path(arena_sdk.manifest.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


def models() -> list[type[Section]]:
    """Return every class that a manifest may hold."""
    found = [algorithms.model_of(name) for name in algorithms.NAMES]
    for several in section_models().values():
        found += several
    return found


def declarations() -> dict[str, dict[str, str]]:
    """Return by class the fields that it declares itself, with their descriptions."""
    found: dict[str, dict[str, str]] = {}
    for module in MODULES:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                fields = {
                    item.target.id: ast.unparse(item.value.args[0])
                    for item in node.body
                    if isinstance(item, ast.AnnAssign)
                    and isinstance(item.target, ast.Name)
                    and isinstance(item.value, ast.Call)
                    and ast.unparse(item.value.func) == "about"
                }
                found[node.name] = fields
    return found


def test_no_module_is_longer_than_400_lines() -> None:
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > 400} == {}


def test_no_field_is_declared_twice() -> None:
    declared = declarations()
    for model in models():
        for name in model.model_fields:
            owners = [
                kind.__name__ for kind in model.__mro__ if name in declared.get(kind.__name__, {})
            ]
            assert len(owners) == 1, (model.__name__, name, owners)
    described = [(name, text) for fields in declared.values() for name, text in fields.items()]
    assert len(described) == len(set(described))


def test_every_field_has_one_line_about_it() -> None:
    for model in models():
        for name, field in model.model_fields.items():
            text = field.description or ""
            assert text.endswith("."), (model.__name__, name)
            assert "\n" not in text
            assert len(text) <= 100, (model.__name__, name)


def test_an_algorithm_is_one_short_class() -> None:
    for module in (PACKAGE / "algorithms").glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name in {*algorithms.NAMES, "RainbowDQN"}:
                assert node.end_lineno is not None
                assert node.end_lineno - node.lineno < 25, node.name


def modules_after(code: str) -> tuple[float, set[str]]:
    """Return the CPU seconds that code takes in a new interpreter, and what is imported then."""
    script = (
        f"import time, sys\nstart = time.process_time()\n{code}\n"
        "print(time.process_time() - start, *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    seconds, *names = done.stdout.split()
    return float(seconds), set(names)


def test_importing_it_is_quick_and_light() -> None:
    best, names = min(
        modules_after("from arena_sdk.manifest import TrainingManifest") for _ in range(3)
    )
    assert best < 0.15
    assert not names & {"httpx", "numpy", "torch", "arena_sdk.local", "click"}


def test_using_it_imports_no_heavy_library() -> None:
    code = (
        "from arena_sdk.manifest import TrainingManifest\n"
        "TrainingManifest.defaults_for('GRPO', 'gsm8k').payload()\nTrainingManifest.schema()"
    )
    assert not modules_after(code)[1] & {"httpx", "numpy", "torch", "arena_sdk.local"}
