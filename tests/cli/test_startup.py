"""What the program imports before it is needed: nothing heavy."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.sdk.sdk_service import Service

HEAVY = ("httpx", "numpy", "pydantic", "textual", "fastapi", "gymnasium", "torch", "plotext")
RARE = ("numpy", "websockets", "rich", "pydantic", "yaml", "textual", "arena_sdk.manifest")

PROBE = """
import sys
from arena_sdk.cli import main
sys.argv = ["arena", *{arguments!r}]
try:
    main()
except SystemExit as end:
    assert end.code == 0, end.code
print(",".join(name for name in {heavy!r} if name in sys.modules), file=sys.stderr)
"""


def imported(arguments: list[str], heavy: tuple[str, ...], **variables: str) -> str:
    """Return which of the modules a command imported."""
    result = subprocess.run(
        [sys.executable, "-c", PROBE.format(arguments=arguments, heavy=heavy)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert result.stdout
    return result.stderr.strip().splitlines()[-1] if result.stderr.strip() else ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["version"],
        ["env", "--help"],
        ["local", "--help"],
        ["agent", "generate", "--help"],
        ["experiments", "compare", "--help"],
        ["completion", "bash"],
        ["models", "supported"],
    ],
)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    assert imported(arguments, HEAVY) == ""


@pytest.mark.parametrize("words", ["arena e", "arena experiments ", "arena env validate --"])
def test_completing_commands_and_options_imports_nothing_heavy(words: str) -> None:
    asked = {
        "_ARENA_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    assert imported([], HEAVY, **asked) == ""


def test_a_request_imports_only_what_requests_need(service: Service) -> None:
    service.on("GET", "/environments", {"walk": {"v1": {"validated": True, "profiled": False}}})
    asked = {"ARENA_BASE_URL": service.url, "ARENA_API_KEY": "k"}
    assert imported(["env", "list"], RARE, **asked) == ""
