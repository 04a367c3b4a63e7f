"""Metrics of any number are streamed in little memory; every name has a unit and a meaning."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import insert

from arena_sdk.local.paths import DataPaths
from arena_sdk.local.services.metric_names import METRICS
from arena_sdk.local.services.metrics import FIXED_COLUMNS, csv_lines, metric_names
from arena_sdk.local.store.database import Database
from arena_sdk.local.store.models import Experiment, Project, Record

MEMBERS = 2
MEGABYTE = 1 << 20


@pytest.fixture
def database(paths: DataPaths) -> Iterator[Database]:
    """A store with a run, number 1, that has reported nothing yet."""
    database = Database(paths.database)
    database.migrate()
    with database.session() as session:
        session.add(Project(id=1, name="p"))
        session.flush()
        session.add(
            Experiment(
                id=1, name="r", project_id=1, manifest={}, algorithm="DQN", environment="E",
                resource_id="local", state="running", max_steps=1, pop_size=MEMBERS,
            )
        )  # fmt: skip
    yield database
    database.close()


def add(database: Database, generations: range) -> None:
    def record(generation: int, slot: int) -> dict[str, Any]:
        data = {
            "generation": generation, "member": slot, "fitness": "NaN", "score": 1.0,
            "steps": generation, "total_steps": generation, "losses": {"loss": "Infinity"},
            "load": {"cpu_percent": 99.0, "memory_mb": 100.0},
        }  # fmt: skip
        seq = (generation - 1) * MEMBERS + slot + 1
        return {"experiment_id": 1, "seq": seq, "kind": "metrics", "time": 1.0, "data": data}

    with database.session() as session:
        rows = [record(g, slot) for g in generations for slot in range(MEMBERS)]
        session.execute(insert(Record), rows)


def peak(database: Database) -> tuple[int, int]:
    """Return how many rows the CSV has and how much memory its making took at most."""
    names = ["fitness", "loss", "cpu_percent"]
    tracemalloc.start()
    try:
        count = sum(1 for _ in csv_lines(database.reading, 1, names, 10**9)) - 1
        return count, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_csv_takes_no_more_memory_the_longer_it_is(database: Database) -> None:
    add(database, range(1, 3001))
    few, small = peak(database)
    add(database, range(3001, 9001))
    many, large = peak(database)
    assert (few, many) == (6000, 18_000)
    assert large < small + MEGABYTE


def test_what_is_no_finite_number_and_the_load_are_in_it(database: Database) -> None:
    add(database, range(1, 2))
    with database.reading() as session:
        names = metric_names(session, 1)
    assert names[-3:] == ["loss", "cpu_percent", "memory_mb"]
    row = list(csv_lines(database.reading, 1, ["fitness", "loss", "memory_mb"], 1))[1]
    assert row.rstrip().endswith(",NaN,Infinity,100.0")


def test_every_name_of_our_own_is_described(database: Database) -> None:
    add(database, range(1, 2))
    with database.reading() as session:
        own = set(metric_names(session, 1)) - {"loss"}
    assert own | set(FIXED_COLUMNS) <= set(METRICS)
    assert all(meaning.endswith(".") for _, meaning in METRICS.values())
