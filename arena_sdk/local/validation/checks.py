"""The checks that come before the first reset: path, class, constructor, spaces, deprecations."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from arena_sdk.local.validation.closing import open_files
from arena_sdk.local.validation.layout import import_roots, module_file
from arena_sdk.local.validation.loading import (
    EntrypointError,
    accepts,
    construct,
    import_module,
    load_entrypoint,
)
from arena_sdk.local.validation.problems import CheckFailed, explain
from arena_sdk.local.validation.spaces import space_tree
from arena_sdk.local.validation.subject import Subject, Warn

STACK_MODULES = frozenset({"agilerl", "gymnasium", "numpy", "pettingzoo", "PIL", "torch"})


def class_path(subject: Subject, warn: Warn) -> None:
    """The entrypoint's module is there and can be imported."""
    if subject.source is None:
        return
    if not subject.entrypoint:
        _raise_syntax_error(subject.source)
        wanted = "gem.env.GemEnv" if subject.language_based else "gymnasium.Env"
        wanted = "pettingzoo.ParallelEnv" if subject.multi_agent else wanted
        count = sum(1 for _ in subject.source.rglob("*.py"))
        raise CheckFailed(
            f"No class that derives from {wanted} was found in the {count} Python"
            f" file{'' if count == 1 else 's'} of the source. Derive one that defines step, or name"
            f" it with --entrypoint module:Class.{_unimportable(subject.source)}",
            fatal=True,
        )
    _warn_of_hidden_modules(subject.source, warn)
    module, _, name = subject.entrypoint.partition(":")
    if not module or not name:
        raise CheckFailed(
            f"The entrypoint {subject.entrypoint!r} is not of the form module:Class.", fatal=True
        )
    if module_file(subject.source, module) is None and "." not in module:
        files = sorted(path.relative_to(subject.source) for path in subject.source.rglob("*.py"))
        shown = ", ".join(path.as_posix() for path in files[:6]) or "none"
        raise CheckFailed(
            f"The source has no module {module!r}; its Python files are: {shown}.", fatal=True
        )
    subject.call(f"Importing {module}", import_module, subject.source, module)


def _unimportable(source: Path) -> str:
    """Name a file that Python cannot import by its name, as a sentence; "" when there is none."""
    for path in sorted(source.rglob("*.py")):
        if not path.stem.isidentifier():
            name = path.relative_to(source).as_posix()
            return f" {name} cannot be imported by that name; rename it, as in my_env.py."
    return ""


def _warn_of_hidden_modules(source: Path, warn: Warn) -> None:
    """Warn of files that hide a module of Python's or of the training stack."""
    for root in import_roots(source):
        for path in sorted([*root.glob("*.py"), *root.glob("*/__init__.py")]):
            name = path.stem if path.parent == root else path.parent.name
            if name in sys.stdlib_module_names or name in STACK_MODULES:
                shown = path.relative_to(source).as_posix()
                warn(f"{shown} hides the module {name!r} that others import; rename it.")


def _raise_syntax_error(source: Path) -> None:
    for path in sorted(source.rglob("*.py")):
        try:
            ast.parse(path.read_bytes())
        except SyntaxError as error:
            name = path.relative_to(source).as_posix()
            place = name if error.lineno is None else f"{name}:{error.lineno}"
            raise CheckFailed(f"{place} cannot be parsed: {error.msg}.", fatal=True) from None
        except (ValueError, RecursionError, MemoryError):
            continue


def class_exists(subject: Subject, warn: Warn) -> None:
    """The class is in the module and is an environment."""
    if subject.source is not None:
        try:
            subject.factory = load_entrypoint(subject.source, subject.entrypoint)
        except EntrypointError as error:
            raise CheckFailed(f"{error} It has: {_classes(subject)}.", fatal=True) from None
    if not callable(subject.factory):
        raise CheckFailed(
            f"{subject.entrypoint} is a {type(subject.factory).__name__}, not a class or a function"
            " that makes an environment.",
            fatal=True,
        )
    if isinstance(subject.factory, type):
        problem = _class_problem(subject.factory, subject)
        if problem:
            raise CheckFailed(problem, fatal=True)


def _classes(subject: Subject) -> str:
    module = sys.modules.get(subject.entrypoint.partition(":")[0])
    names = (
        [name for name, value in vars(module).items() if isinstance(value, type)] if module else []
    )
    return ", ".join(names[:8]) or "no class"


def _class_problem(cls: type, subject: Subject) -> str | None:
    """Say why a class, or an object's class, is not the environment that is expected."""
    bases = {f"{base.__module__}.{base.__qualname__}" for base in cls.__mro__}
    name = cls.__name__
    if any(base.startswith("gym.") for base in bases):
        return f"{name} derives from gym.Env of the old Gym. Use import gymnasium as gym instead."
    parallel = any(base.endswith(".ParallelEnv") for base in bases)
    if any(base.endswith(".AECEnv") for base in bases):
        return (
            f"{name} is a PettingZoo AEC environment, where a ParallelEnv is needed. Convert it in"
            " a function with pettingzoo.utils.conversions.aec_to_parallel, and name that as the"
            " entrypoint."
        )
    if subject.multi_agent:
        if parallel:
            return None
        fix = " Validate it with --single-agent." if issubclass(cls, gymnasium.Env) else ""
        return f"{name} does not derive from pettingzoo.ParallelEnv.{fix}"
    if parallel:
        return f"{name} is a PettingZoo ParallelEnv. Validate it with --multi-agent."
    if subject.language_based or issubclass(cls, gymnasium.Env):
        return None
    return f"{name} does not derive from gymnasium.Env. Write class {name}(gymnasium.Env)."


def preliminary(subject: Subject, warn: Warn) -> None:
    """The constructor takes the configuration and makes an environment."""
    name = getattr(subject.factory, "__name__", subject.entrypoint)
    unknown = [key for key in subject.env_config if not accepts(subject.factory, key)]
    if unknown:
        raise CheckFailed(
            f"{name} takes no argument {unknown[0]!r} of env_config; it takes"
            f" {_parameters(subject.factory)}.",
            fatal=True,
        )
    missing = _missing(subject)
    if missing:
        raise CheckFailed(
            f"{name} needs the argument {missing[0]!r}. Give it in env_config.yaml, or give the"
            " parameter a default.",
            fatal=True,
        )
    subject.files = open_files()
    subject.env = subject.call(f"{name}(…)", construct, subject.factory, subject.env_config)
    if subject.env is None:
        raise CheckFailed(f"{name} returned None instead of an environment.", fatal=True)
    problem = _class_problem(type(subject.env), subject)
    if problem:
        raise CheckFailed(problem, fatal=True)
    _warn_of_metadata(subject, warn)


def _parameters(factory: Any) -> str:
    try:
        names = [name for name in inspect.signature(factory).parameters if name != "self"]
    except (TypeError, ValueError):
        return "none"
    return ", ".join(names) or "none"


def _missing(subject: Subject) -> list[str]:
    try:
        parameters = inspect.signature(subject.factory).parameters
    except (TypeError, ValueError):
        return []
    return [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and name not in subject.env_config
    ]


def _warn_of_metadata(subject: Subject, warn: Warn) -> None:
    metadata = getattr(subject.env, "metadata", None)
    if not isinstance(metadata, dict):
        warn('The environment has no metadata dict, such as {"render_modes": ["rgb_array"]}.')
        return
    if "render.modes" in metadata:
        warn('metadata["render.modes"] is the old spelling; call it "render_modes".')
    mode = getattr(subject.env, "render_mode", None)
    modes = metadata.get("render_modes") or []
    if mode is not None and mode not in modes:
        warn(f'render_mode is {mode!r}, which metadata["render_modes"] does not list.')


def judge_space(space: Any, kind: str, owner: str) -> None:
    """Raise a finding when something is not a usable space.

    Args:
        space: What the environment has for a space.
        kind: `action` or `observation`.
        owner: Whose it is, as in "The environment" or "Agent 'a'".
    """
    name = f"{kind}_space"
    if space is None:
        raise CheckFailed(f"{owner} has no {name}. Set self.{name} in __init__.", fatal=True)
    if not isinstance(space, spaces.Space):
        cls = type(space)
        fix = (
            f"Import it from gymnasium.spaces instead of {cls.__module__.split('.')[0]}.spaces."
            if cls.__module__.split(".")[0] == "gym"
            else "Use one of gymnasium.spaces, such as Box or Discrete."
        )
        raise CheckFailed(
            f"{name} is a {cls.__module__}.{cls.__qualname__}, not a gymnasium.spaces.Space. {fix}",
            fatal=True,
        )
    for path, part in leaves(space):
        problem = _leaf_problem(part)
        if problem:
            raise CheckFailed(f"{name}{path} {problem}", fatal=True)


def refuse_own_classes(subject: Subject, space: Any, kind: str) -> None:
    """Raise a finding when a space is of a class that only the environment's own files have.

    Trainer, replay and served agent get the spaces, but must not import the user's modules.
    """
    for path, part in [("", space), *leaves(space)]:
        module = sys.modules.get(type(part).__module__)
        file = getattr(module, "__file__", None)
        if subject.source is None or file is None:
            continue
        if Path(file).resolve().is_relative_to(subject.source.resolve()):
            raise CheckFailed(
                f"{kind}_space{path} is of the class {type(part).__name__} of"
                f" {Path(file).name}, which a trainer cannot import. Use the spaces of"
                " gymnasium.spaces themselves.",
                fatal=True,
            )


def leaves(space: Any, path: str = "") -> list[tuple[str, Any]]:
    """Return the parts of a nested space that are not nested, with their paths."""
    if isinstance(space, spaces.Dict):
        inner = [(f"{path}[{key!r}]", part) for key, part in space.spaces.items()]
    elif isinstance(space, spaces.Tuple):
        inner = [(f"{path}[{index}]", part) for index, part in enumerate(space.spaces)]
    else:
        return [(path, space)]
    if not inner:
        return [(path, space)]
    return [leaf for where, part in inner for leaf in leaves(part, where)]


def _leaf_problem(space: Any) -> str | None:
    if isinstance(space, spaces.Dict | spaces.Tuple):
        return f"is an empty {type(space).__name__}. Give it at least one space."
    if isinstance(space, spaces.Box):
        if space.low.size == 0:
            return f"is a Box without elements (shape {space.shape}). Give it a shape."
        if np.any(space.high < space.low):
            return "is a Box whose low is above its high. Exchange them."
    if not isinstance(space, spaces.Space):
        return f"is a {type(space).__name__}, not a Space. Use gymnasium.spaces."
    return None


def action_space(subject: Subject, warn: Warn) -> None:
    """The action space is one."""
    if subject.language_based and not hasattr(subject.env, "action_space"):
        return
    space = subject.call("Reading action_space", getattr, subject.env, "action_space", None)
    judge_space(space, "action", "The environment")
    refuse_own_classes(subject, space, "action")
    subject.facts["action"] = space_tree(space)


def action_limits(subject: Subject, warn: Warn) -> None:
    """The action space has limits that a policy can use."""
    warn_of_action_limits(getattr(subject.env, "action_space", None), warn)


def warn_of_action_limits(space: Any, warn: Warn, owner: str = "") -> None:
    """Warn of unbounded and lopsided action spaces."""
    for path, part in leaves(space):
        if isinstance(part, spaces.Discrete) and part.start:
            warn(
                f"{owner}action_space{path} runs from {part.start} to {part.start + part.n - 1},"
                f" where agents choose from 0 to {part.n - 1}. Begin it at 0."
            )
        if not isinstance(part, spaces.Box):
            continue
        if not part.is_bounded():
            warn(
                f"{owner}action_space{path} is unbounded; a policy cannot scale its actions. Give"
                " it finite bounds, such as -1 to 1."
            )
        elif np.any(part.low == part.high):
            warn(f"{owner}action_space{path} has elements whose low is their high.")
        elif part.dtype.kind == "f" and (np.any(part.low < -1) or np.any(part.high > 1)):
            warn(
                f"{owner}action_space{path} runs from {part.low.min():g} to {part.high.max():g};"
                " policies learn more easily when actions run from -1 to 1."
            )


def observation_space(subject: Subject, warn: Warn) -> None:
    """The observation space is one."""
    if subject.language_based and not hasattr(subject.env, "observation_space"):
        return
    read = getattr
    space = subject.call("Reading observation_space", read, subject.env, "observation_space", None)
    judge_space(space, "observation", "The environment")
    refuse_own_classes(subject, space, "observation")
    subject.facts["observation"] = space_tree(space)


def observation_limits(subject: Subject, warn: Warn) -> None:
    """The observation space has sensible limits."""
    warn_of_observation_limits(getattr(subject.env, "observation_space", None), warn)


def warn_of_observation_limits(space: Any, warn: Warn, owner: str = "") -> None:
    """Warn of unbounded, constant and image-like observations with the wrong dtype."""
    for path, part in leaves(space):
        name = f"{owner}observation_space{path}"
        if isinstance(part, spaces.Box):
            unbounded = int(np.sum(~(part.bounded_below & part.bounded_above)))
            if unbounded:
                warn(f"{name} is unbounded in {unbounded} of {part.low.size} elements.")
            if np.any(part.low == part.high):
                warn(f"{name} has elements whose low is their high, so they tell nothing.")
            if part.dtype == np.float64:
                warn(f"{name} is float64; networks compute in float32, which takes half the space.")
        elif isinstance(part, spaces.Discrete) and part.start:
            warn(
                f"{name} runs from {part.start} to {part.start + part.n - 1}, where networks take"
                f" 0 to {part.n - 1}. Begin it at 0."
            )
        elif isinstance(part, spaces.Text | spaces.Sequence | spaces.Graph | spaces.OneOf):
            warn(
                f"{name} is a {type(part).__name__} space: Gymnasium has it, but no algorithm here"
                " can train on it."
            )


def seed_deprecation(subject: Subject, warn: Warn) -> None:
    """There is no method `seed` any more."""
    if callable(getattr(type(getattr(subject.env, "unwrapped", subject.env)), "seed", None)):
        warn(
            f"The method seed(){subject.where('seed')} is of the old API and is never called."
            " Seed in reset(seed=…)."
        )


def return_info_deprecation(subject: Subject, warn: Warn) -> None:
    """`reset` has no parameter `return_info` any more."""
    reset = getattr(subject.env, "reset", None)
    if reset is None:
        raise CheckFailed("The environment has no method reset.", fatal=True)
    try:
        parameters = inspect.signature(reset).parameters
    except (TypeError, ValueError) as error:
        raise CheckFailed(explain("Reading reset's signature", error, subject.source)) from error
    if "return_info" in parameters:
        warn(
            f"reset{subject.where('reset')} takes return_info, which is of the old API. Always"
            " return (observation, info)."
        )
