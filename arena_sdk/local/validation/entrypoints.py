"""Entrypoints found by reading sources, without running them.

A class is a candidate when one of its bases, directly or through other classes of the tree, is an
environment class of a known library. A base that is imported from elsewhere and is called `…Env`
makes a class likely; such candidates count only where there is no certain one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from arena_sdk.local.validation.layout import import_roots

MAX_FILE_BYTES = 2 << 20
SINGLE_AGENT = ("gymnasium.Env", "gym.Env", "alpyne.sim.AnylogicSim")
MULTI_AGENT = ("pettingzoo.ParallelEnv", "pettingzoo.AECEnv")
LANGUAGE = ("gem.env.GemEnv", "gem.Env", "gem.core.Env")
IGNORED_FOLDERS = frozenset({"tests", "test", "docs", "build", "dist", "site-packages"})

ALIASES = {
    "gymnasium.core.Env": "gymnasium.Env",
    "gym.core.Env": "gym.Env",
    "pettingzoo.utils.env.ParallelEnv": "pettingzoo.ParallelEnv",
    "pettingzoo.utils.ParallelEnv": "pettingzoo.ParallelEnv",
    "pettingzoo.utils.env.AECEnv": "pettingzoo.AECEnv",
    "pettingzoo.utils.AECEnv": "pettingzoo.AECEnv",
}


@dataclass(frozen=True)
class Candidate:
    """A class or function that an environment could be made with.

    Attributes:
        entrypoint: `module:Class`.
        base: The library's class that it derives from; empty for one that is only likely.
        path: Its file, below the source folder.
        line: Where it is defined.
    """

    entrypoint: str
    base: str
    path: str
    line: int


@dataclass
class _Module:
    name: str
    path: str
    package: str
    imports: dict[str, str] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    factories: list[Candidate] = field(default_factory=list)


def find_candidates(source: Path) -> list[Candidate]:
    """Return the candidates of a source tree, in the order of their files and lines.

    Args:
        source: The root of the tree; files that cannot be parsed are passed over.
    """
    modules = {module.name: module for module in _modules(source)}
    certain: list[Candidate] = []
    likely: list[Candidate] = []
    for module in modules.values():
        for name, node in module.classes.items():
            base = _library_base(modules, module, name, set())
            if base is None:
                continue
            candidate = Candidate(f"{module.name}:{name}", base, module.path, node.lineno)
            if base and not _defines(modules, module, name, "step", set()):
                continue  # a base without behaviour of its own
            if not _is_abstract(node) and (name[0] != "_" or len(module.classes) == 1):
                (certain if base else likely).append(candidate)
    found = certain or likely or [f for module in modules.values() for f in module.factories]
    return sorted(found, key=lambda candidate: (candidate.path, candidate.line))


def _modules(source: Path) -> Iterator[_Module]:
    roots = import_roots(source)
    for path in sorted(source.rglob("*.py")):
        relative = path.relative_to(source)
        if not IGNORED_FOLDERS.isdisjoint(relative.parts[:-1]) or _is_test(path):
            continue
        root = next(root for root in roots if path.is_relative_to(root))
        parts = path.relative_to(root).with_suffix("").parts
        package = parts[:-1]
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if not parts or not all(part.isidentifier() for part in parts):
            continue
        module = _parse(path, ".".join(parts), ".".join(package), relative.as_posix())
        if module is not None:
            yield module


def _is_test(path: Path) -> bool:
    return path.name.startswith("test_") or path.name in ("conftest.py", "setup.py")


def _parse(path: Path, name: str, package: str, shown: str) -> _Module | None:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            return None
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError):
        return None
    module = _Module(name, shown, package)
    for node in _top_level(tree.body):
        if isinstance(node, ast.Import):
            for alias in node.names:
                target = alias.name if alias.asname else alias.name.split(".")[0]
                module.imports[alias.asname or target] = target
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(node, package)
            for alias in node.names:
                module.imports[alias.asname or alias.name] = f"{origin}.{alias.name}".lstrip(".")
        elif isinstance(node, ast.ClassDef):
            module.classes[node.name] = node
        elif isinstance(node, ast.FunctionDef) and _makes_environment(node):
            module.factories.append(Candidate(f"{name}:{node.name}", "", shown, node.lineno))
    return module


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield what a module defines, also below `if` and `try`."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from _top_level(node.body + node.orelse)
        elif isinstance(node, ast.Try):
            handlers = [part for handler in node.handlers for part in handler.body]
            yield from _top_level(node.body + handlers + node.orelse)


def _origin(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".") if package else []
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _makes_environment(node: ast.FunctionDef) -> bool:
    if node.name in ("make_env", "env", "parallel_env", "create_env"):
        return True
    returns = _dotted(node.returns) or ""
    return returns.rsplit(".", 1)[-1] in ("Env", "ParallelEnv")


def _is_abstract(node: ast.ClassDef) -> bool:
    if any((_dotted(base) or "").split(".")[-1] == "ABC" for base in node.bases):
        return True
    decorators = (
        _dotted(decorator)
        for part in node.body
        if isinstance(part, ast.FunctionDef)
        for decorator in part.decorator_list
    )
    return any((name or "").split(".")[-1] == "abstractmethod" for name in decorators)


def _dotted(node: ast.expr | None) -> str | None:
    if isinstance(node, ast.Subscript):  # Env[ObsType, ActType]
        return _dotted(node.value)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = _dotted(node.value)
        return None if inner is None else f"{inner}.{node.attr}"
    return None


def _resolve(module: _Module, name: str) -> str:
    """Return a dotted name as the module means it: imports replaced by what they stand for."""
    head, _, rest = name.partition(".")
    origin = module.imports.get(head)
    if origin is None:
        return name
    return f"{origin}.{rest}" if rest else origin


def _local_class(modules: dict[str, _Module], module: _Module, node: ast.expr) -> str | None:
    """Return `module:Class` of a base that is defined in the tree."""
    name = _dotted(node)
    if name is None:
        return None
    if name in module.classes:
        return f"{module.name}:{name}"
    owner, _, attribute = _resolve(module, name).rpartition(".")
    for _ in range(8):  # a package may pass on what one of its modules defines
        found = modules.get(owner)
        if found is None:
            return None
        if attribute in found.classes:
            return f"{found.name}:{attribute}"
        if attribute not in found.imports:
            return None
        owner, _, attribute = found.imports[attribute].rpartition(".")
    return None


def _defines(
    modules: dict[str, _Module], module: _Module, name: str, method: str, seen: set[str]
) -> bool:
    """Tell whether a class, or a base of it in the tree or unknown, has a method."""
    key = f"{module.name}:{name}"
    if key in seen:
        return False
    seen.add(key)
    node = module.classes[name]
    defined = (ast.FunctionDef, ast.AsyncFunctionDef)
    if any(isinstance(part, defined) and part.name == method for part in node.body):
        return True
    for base in node.bases:
        local = _local_class(modules, module, base)
        if local is None:
            resolved = _resolve(module, _dotted(base) or "")
            if ALIASES.get(resolved, resolved) not in (*SINGLE_AGENT, *MULTI_AGENT, *LANGUAGE):
                return True  # it may well come from there
            continue
        owner, _, attribute = local.partition(":")
        if _defines(modules, modules[owner], attribute, method, seen):
            return True
    return False


def _library_base(
    modules: dict[str, _Module], module: _Module, name: str, seen: set[str]
) -> str | None:
    """Return the library's class below a class; "" when it only looks like one; else None."""
    key = f"{module.name}:{name}"
    if key in seen:
        return None
    seen.add(key)
    likely = None
    for node in module.classes[name].bases:
        local = _local_class(modules, module, node)
        if local is not None:
            owner, _, attribute = local.partition(":")
            base = _library_base(modules, modules[owner], attribute, seen)
            if base:
                return base
            likely = base if base is not None else likely
            continue
        resolved = _resolve(module, _dotted(node) or "")
        resolved = ALIASES.get(resolved, resolved)
        if resolved in (*SINGLE_AGENT, *MULTI_AGENT, *LANGUAGE):
            return resolved
        last = resolved.rsplit(".", 1)[-1]
        if last.endswith(("Env", "Environment")) or resolved.startswith(
            ("gymnasium.envs.", "gem.")
        ):
            likely = ""
    return likely
