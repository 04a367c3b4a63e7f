"""What every test gets: a home of its own, and numeric libraries that do not fight for cores."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

# Set before anything imports NumPy or torch; child processes inherit it.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
# No test asks the real hub; those of a small hub of their own say so to the servers they start.
os.environ["HF_HUB_OFFLINE"] = "1"

# A run in the background of a script ignores Ctrl-C, and so would the programs that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ARENA_VARIABLES = (
    "ARENA_API_KEY",
    "ARENA_ORG_KEY",
    "ARENA_EXTERNAL_USER_ID",
    "ARENA_BASE_URL",
    "ARENA_KEYCLOAK_URL",
    "ARENA_PROFILE",
    "ARENA_REQUEST_TIMEOUT",
    "ARENA_UPLOAD_TIMEOUT",
    "ARENA_LOG",
    "ARENA_LOCAL_DATA_DIR",
)


@pytest.fixture(autouse=True)
def arena_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point `~/.arena` at an empty folder and forget the developer's own credentials."""
    for variable in ARENA_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    home = tmp_path / "arena-home"
    monkeypatch.setenv("ARENA_HOME", str(home))
    return home
