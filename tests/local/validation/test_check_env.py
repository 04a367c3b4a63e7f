"""Where our checks and `gymnasium.utils.env_checker.check_env` disagree: exactly in what is listed.

Both judge every hazard of this folder. The reasons stand in `validation/report.py` for readers.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import warnings
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.local.validation.sources import returning
from tests.local.validation.test_hazards import FAILURES, WARNINGS

HANG_SECONDS = 60
STRICTER = {
    "it looks at the first step only": {
        "leaves its bounds after a while",
        "not a number in the observation",
        "raises in a step",
        "never ends",
        "cannot be reset after the end of an episode",
    },
    "it warns of rewards that no algorithm can add up, or takes them": {
        "an array for a reward",
        "text for a reward",
        "None for a reward",
        "a complex reward",
        "an infinite reward",
        "a reward that is not a number",
    },
    "it draws inner actions only, and knows no masks": {
        "breaks on an action at its bound",
        "a mask of the wrong length",
    },
    "it sees one copy, in the process that has its modules": {
        "closes descriptors that are not its own",
        "keeps its state on the class",
        "has a space of a class of its own",
        "declares another space at reset",
    },
}
"""What we fail and it lets pass, by the reason."""
MILDER = {
    "trainers copy what they keep": {"the same array again", "the same info again"},
    "a generator of one's own is as good as np_random": {"makes a new generator at every reset"},
    "no algorithm learns from info": {"a function in info", "a clock reading in info"},
}
"""What we warn of and it fails, by the reason."""

CLOCK = {"a clock reading in info": (returning(info='{"now": __import__("time").time()}'), {})}


def check_env_passes(folder: Path, source: str) -> bool:
    """Tell whether `check_env` lets an environment pass; a process of its own may end instead."""
    (folder / "env.py").write_text(dedent(source))
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.alarm(HANG_SECONDS)
            os.chdir(folder)
            null = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            _check(folder / "env.py")
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] == 0


def _check(path: Path) -> None:
    from gymnasium.utils.env_checker import check_env

    spec = importlib.util.spec_from_file_location("env", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["env"] = importlib.util.module_from_spec(spec)
    warnings.simplefilter("ignore")
    spec.loader.exec_module(module)
    (made,) = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == "env" and hasattr(value, "step")
    ]
    check_env(made(), skip_render_check=True)


def single_files(table: dict[str, Any]) -> dict[str, str]:
    return {name: source for name, (source, _) in table.items() if isinstance(source, str)}


@pytest.mark.slow
def test_what_we_fail_and_check_env_lets_pass_is_what_is_listed(tmp_path: Path) -> None:
    passed = {
        name
        for name, source in single_files(FAILURES).items()
        if check_env_passes(tmp_path, source)
    }
    assert passed == {name for kind in STRICTER.values() for name in kind}


@pytest.mark.slow
def test_what_we_only_warn_of_and_check_env_fails_is_what_is_listed(tmp_path: Path) -> None:
    milder = single_files(WARNINGS) | single_files(CLOCK)
    failed = {name for name, source in milder.items() if not check_env_passes(tmp_path, source)}
    assert failed == {name for kind in MILDER.values() for name in kind}
