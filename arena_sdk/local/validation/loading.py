"""From a reference to a live environment, in a worker process.

A source folder is put first on `sys.path` (and its `src`, where it has that layout), so that
`module:Class` imports as it does for its author. Nothing is written beside the sources.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from arena_sdk.local.validation.layout import import_roots, is_root_package, module_file
from arena_sdk.local.validation.spaces import space_tree

__all__ = ["EntrypointError", "load_entrypoint", "make_env", "space_tree"]

ROOT_PACKAGE = "arena_environment_source"
"""Name given to a source folder that is itself a package, for its relative imports."""


class EntrypointError(Exception):
    """An entrypoint that does not lead to a class; one sentence."""


def make_env(reference: dict[str, Any], *, render_mode: str | None = None) -> Any:
    """Make the environment that a reference means.

    Args:
        reference: `{"kind": "gymnasium", "id", "kwargs"}`, `{"kind": "pettingzoo", "id", "kwargs"}`
            with a module of PettingZoo's or mpe2's for id, `{"kind": "bandit", "features",
            "targets", "episode_steps"}` with paths of tables, or `{"kind": "custom", "source_dir",
            "entrypoint", "env_config"}`.
        render_mode: Passed on where the environment takes one; an `env_config` that sets its
            own keeps it.

    Returns:
        A `gymnasium.Env`, or a `pettingzoo.ParallelEnv` where the entrypoint is one.

    Raises:
        EntrypointError: The entrypoint does not lead to a class.
        Exception: Whatever the environment's own import or constructor raises.
    """
    if reference["kind"] == "bandit":
        from arena_sdk.local.training.bandit_env import make_bandit

        return make_bandit(reference)
    if reference["kind"] == "pettingzoo":
        module = importlib.import_module(reference["id"])
        config = dict(reference.get("kwargs") or {})
        return construct(module.parallel_env, config, render_mode=render_mode)
    if reference["kind"] == "gymnasium":
        import gymnasium

        kwargs = dict(reference.get("kwargs") or {})
        kwargs.setdefault("render_mode", render_mode)
        return gymnasium.make(reference["id"], **kwargs)
    factory = load_entrypoint(Path(reference["source_dir"]), reference["entrypoint"])
    return construct(factory, reference.get("env_config") or {}, render_mode=render_mode)


def construct(
    factory: Callable[..., Any], env_config: dict[str, Any], *, render_mode: str | None = None
) -> Any:
    """Call an environment's class or factory with its configuration."""
    kwargs = dict(env_config)
    if render_mode is not None and accepts(factory, "render_mode"):
        kwargs.setdefault("render_mode", render_mode)
    return factory(**kwargs)


def accepts(function: Callable[..., Any], name: str) -> bool:
    """Tell whether a callable takes a keyword argument of that name."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # built in C, without a signature
        return False
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def load_entrypoint(source: Path, entrypoint: str) -> Any:
    """Import `module:Class` from a source folder.

    Raises:
        EntrypointError: It has no such module or class, or is misspelt.
        Exception: Whatever importing the module raises.
    """
    module_name, _, attribute = entrypoint.partition(":")
    if not module_name or not attribute:
        raise EntrypointError(f"The entrypoint {entrypoint!r} is not of the form module:Class.")
    module = import_module(source, module_name)
    target: Any = module
    for part in attribute.split("."):
        try:
            target = getattr(target, part)
        except AttributeError:
            raise EntrypointError(f"Module {module_name!r} has no {attribute!r}.") from None
    return target


def import_module(source: Path, name: str) -> ModuleType:
    """Import a module of a source folder by its dotted name."""
    sys.dont_write_bytecode = True
    for folder in reversed(import_roots(source)):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    if is_root_package(source) and module_file(source, name):
        _import_root_package(source)
        return importlib.import_module(f"{ROOT_PACKAGE}.{name}")
    return importlib.import_module(name)


def _import_root_package(source: Path) -> None:
    if ROOT_PACKAGE in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(
        ROOT_PACKAGE, source / "__init__.py", submodule_search_locations=[str(source)]
    )
    if spec is None or spec.loader is None:
        raise EntrypointError("The source folder's __init__.py cannot be imported.")
    package = importlib.util.module_from_spec(spec)
    sys.modules[ROOT_PACKAGE] = package
    try:
        spec.loader.exec_module(package)
    except BaseException:
        del sys.modules[ROOT_PACKAGE]
        raise
