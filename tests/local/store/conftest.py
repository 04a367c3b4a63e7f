"""A store with its tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena_sdk.local.store.database import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """An empty store, up to date."""
    database = Database(tmp_path / "arena.db")
    database.migrate()
    yield database
    database.close()
