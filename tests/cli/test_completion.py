"""Completion: scripts that shells take, names from the service, quickly and quietly."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.cli_arena import Furnished
from tests.local.conftest import arena_environment
from tests.sdk.sdk_service import Service

WAIT_SECONDS = 20.0


def completed(words: str, environment: dict[str, str]) -> list[str]:
    """Return what `arena` answers a shell that completes the last of some words."""
    parts = words.split(" ")
    asked = {
        "_ARENA_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(parts) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "arena_sdk.cli"],
        env={**environment, **asked},
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
    )
    assert done.stderr == ""
    return [line.split(",", 1)[1] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("arena e", ["env", "experiments"]),
        ("arena agent s", ["sessions", "stop"]),
        ("arena experiments show ", ["high", "low"]),
        ("arena experiments show h", ["high"]),
        ("arena experiments compare high ", ["low"]),
        ("arena experiments list --project ", ["walk"]),
        ("arena agent deploy high --checkpoint step_8", ["step_800"]),
        ("arena agent act ", ["high"]),
        ("arena agent generate h", ["high"]),
        ("arena env show ", ["walk"]),
        ("arena env show walk --version ", ["v1"]),
        ("arena datasets delete ", ["qa"]),
        ("arena open dataset ", ["qa"]),
        ("arena open agent ", ["high"]),
        ("arena projects set-default w", ["walk"]),
        ("arena experiments submit --resource-id loc", ["local"]),
        ("arena --profile local projects delete ", ["walk"]),
    ],
)
def test_names_complete_from_the_service(
    furnished: Furnished, words: str, names: list[str]
) -> None:
    assert completed(words, arena_environment(furnished.server.home)) == names


def test_metrics_complete(furnished: Furnished) -> None:
    found = completed(
        "arena experiments metrics high --metric fitness --metric ",
        arena_environment(furnished.server.home),
    )
    assert "score" in found
    assert "fitness" not in found


def test_a_service_that_fails_or_hangs_completes_nothing(service: Service, tmp_path: Path) -> None:
    words = "arena experiments show "
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ARENA_")}
    nobody = {**kept, "ARENA_HOME": str(tmp_path)}
    assert completed(words, nobody) == []  # nobody is logged in
    (tmp_path / "config.json").write_bytes(b"{\xff")
    assert completed(words, nobody) == []
    (tmp_path / "config.json").unlink()
    known = {**nobody, "ARENA_API_KEY": "k"}
    assert completed(words, {**known, "ARENA_BASE_URL": service.url}) == []  # 404
    assert completed(words, {**known, "ARENA_BASE_URL": "http://127.0.0.1:1"}) == []
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert completed(words, {**known, "ARENA_BASE_URL": url}) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_ask_our_program(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "arena_sdk.cli", "completion", shell],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert f"_ARENA_COMPLETE={shell}_complete" in done.stdout
    if shutil.which(shell):
        check = subprocess.run([shell, "-n"], input=done.stdout, capture_output=True, text=True)
        assert (check.returncode, check.stderr) == (0, "")


def test_bash_completes_with_the_script(furnished: Furnished, tmp_path: Path) -> None:
    program = tmp_path / "arena"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m arena_sdk.cli "$@"\n')
    program.chmod(0o755)
    script = """
        eval "$(arena completion bash)"
        COMP_WORDS=(arena experiments show hi) COMP_CWORD=3
        _arena_completion arena
        echo "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        ["bash", "-c", script],
        env={
            **arena_environment(furnished.server.home),
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("high\n", "")
