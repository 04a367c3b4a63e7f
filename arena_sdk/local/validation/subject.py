"""The environment under examination, and how its methods are called."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from arena_sdk.local.validation.loading import accepts
from arena_sdk.local.validation.problems import CheckFailed, explain

Warn = Callable[[str], None]
Check = Callable[["Subject", Warn], None]


@dataclass
class Subject:
    """What the checks share.

    Attributes:
        source: Root of the environment's files; None for one of an installed package.
        entrypoint: `module:Class`.
        env_config: Arguments of the constructor.
        multi_agent: True when a `pettingzoo.ParallelEnv` is expected.
        pulse: Called before each call of user code.
        factory: The class or function, once it is imported.
        env: The environment, once it is made.
        facts: What the checks found out, for the report.
        failed: Names of the checks that failed so far; what they said need not be said again.
        shares_chance: True when its randomness is a generator's that all copies share.
        files: Paths that were open before it was made.
        spawns: Whether it is to be made in a process of its own, too.
    """

    source: Path | None
    entrypoint: str
    env_config: dict[str, Any]
    multi_agent: bool = False
    language_based: bool = False
    pulse: Callable[[], None] = lambda: None
    factory: Any = None
    env: Any = None
    facts: dict[str, Any] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    shares_chance: bool = False
    files: frozenset[str] = frozenset()
    spawns: bool = False

    def call(
        self,
        doing: str | Callable[[], str],
        function: Callable[..., Any],
        *args: Any,
        fatal: bool = True,
    ) -> Any:
        """Call user code; what it raises becomes a finding about `doing`.

        Args:
            doing: The subject of the sentence, or a function that makes it when it is needed.
            function: What to call.
            *args: Its arguments.
            fatal: Whether nothing after it can be judged.

        Raises:
            CheckFailed: It raised something; `SystemExit` and `KeyboardInterrupt` too, since no
                terminal's Ctrl-C reaches a worker.
        """
        self.pulse()
        try:
            return function(*args)
        except CheckFailed:
            raise
        except BaseException as error:
            what = doing if isinstance(doing, str) else doing()
            raise CheckFailed(explain(what, error, self.source), fatal=fatal) from error

    def reset(self, seed: int | None = None, doing: str | None = None) -> tuple[Any, Any]:
        """Reset, leniently: without a seed where none is taken, and in the old form too.

        Returns:
            The observation and the info; the info of the old form is {}.
        """
        seeded = seed is not None and accepts(self.env.reset, "seed")
        name = doing or (f"reset(seed={seed})" if seeded else "reset()")
        reset = partial(self.env.reset, seed=seed) if seeded else self.env.reset
        result = self.call(name, reset)
        if isinstance(result, tuple) and len(result) == 2:
            return result[0], result[1]
        return result, {}

    def where(self, method: str) -> str:
        """Return where a method of the environment is defined, as ` (env.py:12)`, or ""."""
        function = getattr(getattr(self.env, "unwrapped", self.env), method, None)
        try:
            path = inspect.getsourcefile(function)  # type: ignore[arg-type]
            line = inspect.getsourcelines(function)[1]  # type: ignore[arg-type]
        except (TypeError, OSError):
            return ""
        if path is None or self.source is None:
            return ""
        if not Path(path).resolve().is_relative_to(self.source.resolve()):
            return ""
        return f" ({Path(path).resolve().relative_to(self.source.resolve()).as_posix()}:{line})"


def snapshot(value: Any) -> Any:
    """Return a copy that later calls cannot change; the value itself where it has none."""
    try:
        return copy.deepcopy(value)
    except Exception:
        return value
