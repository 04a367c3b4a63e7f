"""Entrypoints, found by reading: bases, packages, layouts, and what is not one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena_sdk.local.validation.entrypoints import find_candidates
from tests.local.validation.sources import write_source

STEP = "    def step(self, action):\n        pass\n"


def env(name: str, base: str, imports: str = "import gymnasium") -> str:
    return f"{imports}\nclass {name}({base}):\n{STEP}"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"env.py": env("A", "gymnasium.Env")}, ["env:A"]),
        ({"env.py": env("A", "g.Env", "import gymnasium as g")}, ["env:A"]),
        ({"env.py": env("A", "Base", "from gymnasium import Env as Base")}, ["env:A"]),
        ({"env.py": env("A", "Env[int, int]", "from gymnasium.core import Env")}, ["env:A"]),
        ({"env.py": env("A", "gym.Env", "import gym")}, ["env:A"]),
        ({"env.py": env("A", "ParallelEnv", "from pettingzoo import ParallelEnv")}, ["env:A"]),
        (
            {"env.py": env("A", "ParallelEnv", "from pettingzoo.utils.env import ParallelEnv")},
            ["env:A"],
        ),
        ({"env.py": env("A", "GemEnv", "from gem.env import GemEnv")}, ["env:A"]),
        ({"env.py": env("A", "AnylogicSim", "from alpyne.sim import AnylogicSim")}, ["env:A"]),
        (
            {"env.py": env("A", "CartPoleEnv", "from gymnasium.envs.classic_control import *")},
            ["env:A"],
        ),
        (
            {
                "base.py": env("Base", "gymnasium.Env"),
                "env.py": env("A", "base.Base", "import base"),
            },
            ["base:Base", "env:A"],
        ),
        (
            {
                "base.py": "import gymnasium\nclass Base(gymnasium.Env):\n    pass\n",
                "env.py": env("A", "Base", "from base import Base"),
            },
            ["env:A"],
        ),
        (
            {
                "base.py": "import gymnasium, abc\nclass Base(gymnasium.Env, abc.ABC):\n" + STEP,
                "env.py": "from base import Base\nclass A(Base):\n    pass\n",
            },
            ["env:A"],
        ),
        (
            {
                "pkg/__init__.py": "from .core import Base\n",
                "pkg/core.py": "import gymnasium\nclass Base(gymnasium.Env):\n    pass\n",
                "pkg/envs/__init__.py": "",
                "pkg/envs/merge.py": env("A", "Base", "from .. import Base"),
            },
            ["pkg.envs.merge:A"],
        ),
        ({"src/pkg/env.py": env("A", "gymnasium.Env")}, ["pkg.env:A"]),
        ({"__init__.py": "", "env.py": env("A", "gymnasium.Env")}, ["env:A"]),
        (
            {"env.py": env("A", "gymnasium.Env"), "tests/test_env.py": env("B", "gymnasium.Env")},
            ["env:A"],
        ),
        ({"env.py": env("_A", "gymnasium.Env") + env("B", "gymnasium.Env")}, ["env:B"]),
        ({"env.py": "def make_env():\n    return 1\n"}, ["env:make_env"]),
        (
            {"env.py": "import gymnasium as gym\ndef build() -> gym.Env:\n    return 1\n"},
            ["env:build"],
        ),
        (
            {"env.py": env("A", "gymnasium.Env", "try:\n    import gymnasium\nfinally:\n    pass")},
            ["env:A"],
        ),
        ({"env.py": env("A", "gymnasium.Wrapper")}, []),
        ({"env.py": env("A", "B") + env("B", "A")}, []),
        ({"env.py": env("A", "object")}, []),
        ({"bad.py": "class (", "env.py": env("A", "gymnasium.Env")}, ["env:A"]),
        ({"no-module.py": env("A", "gymnasium.Env")}, []),
        ({"deep.py": "x = " + "(" * 500 + ")" * 500}, []),
    ],
)  # fmt: skip
def test_candidates(tmp_path: Path, files: dict[str, str], found: list[str]) -> None:
    candidates = find_candidates(write_source(tmp_path / "source", files))
    assert [candidate.entrypoint for candidate in candidates] == found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_no_text_makes_the_search_fail(tmp_path: Path, text: str) -> None:
    source = tmp_path / "any"
    source.mkdir(exist_ok=True)
    (source / "env.py").write_text(text, encoding="utf-8")
    assert find_candidates(source) == []


@pytest.mark.parametrize(
    "files",
    [
        {"pkg/__init__.py": "", "pkg/env.py": "from .helper import x\n", "pkg/helper.py": "x = 1"},
        {
            "__init__.py": "from .env import Walk\n",
            "env.py": "from .helper import x\n",
            "helper.py": "x = 1",
        },
        {
            "src/pkg/__init__.py": "from pkg.env import Walk\n",
            "src/pkg/env.py": "from pkg.helper import x\n",
            "src/pkg/helper.py": "x = 1",
        },
        {"env.py": "from helper import x\n", "helper.py": "x = 1"},
    ],
    ids=["package", "the folder is the package", "src layout", "flat"],
)
def test_layouts_are_imported_as_their_author_does(check, files: dict[str, str]) -> None:  # type: ignore[no-untyped-def]
    from tests.local.validation.sources import walk

    key = next(name for name in files if name.endswith("env.py"))
    report = check({**files, key: files[key] + walk()})
    assert report["validated"] is True, report["checks"][-1]


def test_a_factory_is_an_entrypoint(check) -> None:  # type: ignore[no-untyped-def]
    from tests.local.validation.sources import walk

    source = walk() + "\ndef make_env(size=5):\n    return Walk(size)\n"
    report = check(source, entrypoint="env:make_env", env_config={"size": 4})
    assert report["validated"] is True
    assert report["entrypoint"] == "env:make_env"
