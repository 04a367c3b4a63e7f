"""What the SDK imports, and that the blocking client is what the async one makes."""

from __future__ import annotations

import subprocess
import sys

import arena_sdk
from arena_sdk._unasync import differences

HEAVY = ("httpx", "numpy", "pydantic", "textual", "websockets", "yaml", "arena_sdk.local")


def imported_by(code: str) -> set[str]:
    probe = f"{code}\nimport sys\nprint(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60
    )
    return set(result.stdout.split())


def test_importing_the_sdk_imports_nothing_heavy() -> None:
    assert not imported_by("import arena_sdk") & set(HEAVY)


def test_the_client_never_imports_the_embedded_arena_or_the_dashboard() -> None:
    loaded = imported_by("from arena_sdk import ArenaClient, AsyncArenaClient, TrainingManifest")
    assert "httpx" in loaded
    assert not [name for name in loaded if name.startswith(("arena_sdk.local", "arena_tui"))]


def test_every_public_name_can_be_had() -> None:
    for name in arena_sdk.__all__:
        assert getattr(arena_sdk, name).__name__ == name


def test_the_blocking_client_is_current() -> None:
    assert differences() == []
