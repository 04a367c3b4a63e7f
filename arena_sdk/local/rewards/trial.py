"""One call of a reward file: what can be wrong with it, each said in one sentence.

This is user code's process: the guarded child of `workers/reward.py`.
"""

from __future__ import annotations

import difflib
import importlib.util
import inspect
import math
import numbers
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from arena_sdk.local.validation.stacks import raised_at

PARAMETERS = ("question", "answer", "completion")
SLOW_SECONDS = 1.0
MODULE = "arena_reward_file"

Tell = Callable[[dict[str, Any]], None]


class RewardFault(Exception):
    """What is wrong with a reward file; one sentence: what, where, and what to do."""


def try_reward(path: Path, function: str, example: dict[str, str], tell: Tell) -> None:
    """Import a reward file and call its function once.

    Args:
        path: The file.
        function: Name of the function in it.
        example: `question`, `answer` and `completion`, texts.
        tell: Told `{"kind": "begin", "what": "import"|"call"}` before each, and at the end
            `{"kind": "verdict", …}` with `value`, `seconds` and `warnings`, or with `error`.
    """
    try:
        tell({"kind": "begin", "what": "import"})
        begun = time.perf_counter()
        reward = _function(_imported(path), function, path.name)
        import_seconds = time.perf_counter() - begun
        _check_signature(reward, function, path.name)
        tell({"kind": "begin", "what": "call"})
        begun = time.perf_counter()
        value = _called(reward, function, example, path)
        seconds = time.perf_counter() - begun
        number, warnings = _number(value, function)
    except RewardFault as fault:
        tell({"kind": "verdict", "error": str(fault)})
        return
    if seconds > SLOW_SECONDS:
        warnings.append(
            f"One call took {seconds:.1f} s, and a run calls it for every completion; make it"
            " quicker, or load what it needs when the file is imported."
        )
    tell(
        {
            "kind": "verdict",
            "value": number,
            "seconds": seconds,
            "import_seconds": import_seconds,
            "warnings": warnings,
        }
    )


def _imported(path: Path) -> ModuleType:
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location(MODULE, path)
    if spec is None or spec.loader is None:
        raise RewardFault(f"{path.name} is no Python file; give one that ends in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module  # as dataclasses and pickling need it
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        if error.name and error.name.split(".")[0] not in sys.modules:
            raise RewardFault(
                f"{raised_at(error, path.parent) or path.name} imports {error.name!r}, which is not"
                " installed here; a reward file stands alone, with what Arena has."
            ) from error
        raise RewardFault(_raised("Importing", path, error)) from error
    except BaseException as error:
        raise RewardFault(_raised("Importing", path, error)) from error
    return module


def _raised(doing: str, path: Path, error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    reason = f": {lines[0][:200]}" if lines else ""
    place = raised_at(error, path.parent)
    at = f" at {place}" if place and not isinstance(error, SyntaxError) else ""
    where = path.name if not isinstance(error, SyntaxError) else place
    return f"{doing} {where} raised {type(error).__name__}{at}{reason.rstrip('. ')}."


def _function(module: ModuleType, name: str, file: str) -> Callable[..., Any]:
    if name not in vars(module):
        own = [
            key
            for key, value in vars(module).items()
            if inspect.isfunction(value) and value.__module__ == MODULE
        ]
        close = difflib.get_close_matches(name, own, n=1)
        there = f"; it has {', '.join(own[:8])}" if own else ""
        hint = f" rename {close[0]!r}" if close else f" define {name}({', '.join(PARAMETERS)})"
        raise RewardFault(f"{file} has no function {name!r}{there}:{hint}.")
    found = vars(module)[name]
    if not callable(found):
        raise RewardFault(
            f"{name!r} in {file} is no function but of type {type(found).__name__}; define"
            f" {name}({', '.join(PARAMETERS)})."
        )
    return found  # type: ignore[no-any-return]


def _check_signature(reward: Callable[..., Any], name: str, file: str) -> None:
    """Check that it can be called with the three arguments, in their order."""
    place = _place(reward, file)
    wanted = f"{name}({', '.join(PARAMETERS)})"
    if inspect.iscoroutinefunction(reward) or inspect.isasyncgenfunction(reward):
        raise RewardFault(f"{place}: {name}() is async, but is called plainly; drop the `async`.")
    if inspect.isgeneratorfunction(reward):
        raise RewardFault(f"{place}: {name}() yields; let it return one number instead.")
    try:
        signature = inspect.signature(reward)
    except (TypeError, ValueError):  # built in C, without a signature: the call will show
        return
    try:
        bound = signature.bind(*PARAMETERS)
    except TypeError:
        raise RewardFault(
            f"{place}: {name}{signature} cannot be called as {wanted}; take these three, in this"
            " order."
        ) from None
    own = [key for key in bound.arguments if key in PARAMETERS]
    if own != [key for key in PARAMETERS if key in own] or any(
        bound.arguments[key] != key for key in own
    ):
        raise RewardFault(
            f"{place}: {name}{signature} has its arguments in another order than {wanted}, which"
            " is how it is called."
        )


def _place(reward: Callable[..., Any], file: str) -> str:
    code = getattr(reward, "__code__", None)
    return f"{file}:{code.co_firstlineno}" if code is not None else file


def _called(reward: Callable[..., Any], name: str, example: dict[str, str], path: Path) -> Any:
    try:
        return reward(*(example[key] for key in PARAMETERS))
    except BaseException as error:
        raise RewardFault(_raised(f"{name}() in", path, error)) from error


def _number(value: Any, name: str) -> tuple[float, list[str]]:
    """Return what was returned as a number, and what is odd about it.

    Raises:
        RewardFault: It is none, or not a finite one.
    """
    must = f"{name}() must return one number"
    if value is None:
        raise RewardFault(f"{must}, but returned None; let every path end in a `return`.")
    plain = value
    if not isinstance(value, numbers.Real) and getattr(value, "shape", None) == ():
        plain = value.item()  # a scalar of NumPy or torch
    if not isinstance(plain, numbers.Real):
        text = repr(value)
        shown = text if len(text) <= 60 else text[:59] + "…"
        raise RewardFault(f"{must}, but returned {shown}, of type {type(value).__name__}.")
    number = float(plain)
    if not math.isfinite(number):
        raise RewardFault(
            f"{must} that is finite, but returned {number}; one such value spoils a training step."
        )
    if isinstance(plain, bool):
        return number, [f"{name}() returned {plain}, which counts as {number}."]
    return number, []
