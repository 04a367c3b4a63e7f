"""A short soak: whatever is killed, every run completes and nothing that was told is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.local.server.killing import soak

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_every_run_completes_whatever_is_killed(tmp_path: Path) -> None:
    done = soak(tmp_path / "home", kills=6, seed=int(os.environ.get("SOAK_SEED", "3")))
    assert sum(done.kills.values()) == 6
    assert set(done.kills) == {"member", "trainer", "server"}
