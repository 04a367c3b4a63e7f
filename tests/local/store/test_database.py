"""The store: durable settings, transactions that wait for each other, migrations that fit."""

from __future__ import annotations

import asyncio
import datetime as dt
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from arena_sdk.local.store.database import Database
from arena_sdk.local.store.models import Activity, Base, Experiment, Project


def names(session: Session) -> list[str]:
    return list(session.scalars(select(Project.name).order_by(Project.id)))


def test_migrations_make_exactly_the_tables_of_the_models(database: Database) -> None:
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, Base.metadata) == []


def test_migrating_again_changes_nothing(database: Database, tmp_path: Path) -> None:
    with database.session() as session:
        session.add(Project(name="kept"))
    again = Database(tmp_path / "arena.db")
    again.migrate()
    with again.reading() as session:
        assert names(session) == ["kept"]
    again.close()


@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("foreign_keys", 1), ("synchronous", 2)]
)
def test_every_connection_is_set_up(database: Database, pragma: str, value: object) -> None:
    with database.reading() as session:
        assert session.scalar(text(f"PRAGMA {pragma}")) == value


def test_foreign_keys_hold(database: Database) -> None:
    orphan = Experiment(
        name="orphan",
        project_id=7,
        manifest={},
        algorithm="DQN",
        environment="CartPole-v1",
        resource_id="local",
        state="queued",
        max_steps=1,
        pop_size=1,
    )
    with pytest.raises(IntegrityError, match="FOREIGN KEY"), database.session() as session:
        session.add(orphan)


def test_an_exception_rolls_back(database: Database) -> None:
    def fail() -> None:
        with database.session() as session:
            session.add(Project(name="never"))
            session.flush()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with database.reading() as session:
        assert names(session) == []


def test_times_keep_their_zone(database: Database) -> None:
    elsewhere = dt.datetime(2026, 1, 1, 1, 30, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    with database.session() as session:
        session.add(Activity(time=elsewhere, level="info", subject="s", name="n", message="m"))
    with database.reading() as session:
        found = session.scalars(select(Activity)).one().time
    assert found == elsewhere
    assert found.utcoffset() == dt.timedelta(0)


async def test_concurrent_writers_lose_nothing(database: Database) -> None:
    def rename(session: Session) -> None:
        project = session.scalars(select(Project)).one()
        project.description = str(int(project.description or "0") + 1)

    await database.run(lambda session: session.add(Project(name="counter")))
    await asyncio.gather(*(database.run(rename) for _ in range(200)))
    assert await database.read(lambda s: s.scalars(select(Project.description)).one()) == "200"


async def test_a_reader_neither_blocks_nor_sees_a_writer(database: Database) -> None:
    await database.run(lambda session: session.add(Project(name="first")))
    with database.reading() as reader:
        assert names(reader) == ["first"]
        await asyncio.wait_for(database.run(lambda session: session.add(Project(name="second"))), 2)
        assert names(reader) == ["first"]
    assert await database.read(names) == ["first", "second"]


async def test_slow_work_in_other_threads_does_not_hold_up_the_store(database: Database) -> None:
    release = threading.Event()
    others = [asyncio.create_task(asyncio.to_thread(release.wait, 20)) for _ in range(64)]
    await asyncio.sleep(0.1)
    try:
        start = time.monotonic()
        await database.run(names)
        await database.read(names)
        assert time.monotonic() - start < 2
    finally:
        release.set()
        await asyncio.gather(*others)


def test_a_lock_held_elsewhere_is_waited_for(database: Database, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "arena.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    written = threading.Event()

    def write() -> None:
        with database.session() as session:
            session.add(Project(name="patient"))
        written.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert not written.wait(0.5)
    other.execute("COMMIT")
    other.close()
    writer.join(10)
    assert written.is_set()


def test_what_was_committed_outlives_a_killed_process(database: Database, tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from arena_sdk.local.store.database import Database
        from arena_sdk.local.store.models import Project

        database = Database(Path(sys.argv[1]))
        for number in range(10_000):
            with database.session() as session:
                session.add(Project(name=str(number)))
            print(number, flush=True)
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "arena.db")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    acknowledged = [int(process.stdout.readline()) for _ in range(50)]
    process.send_signal(signal.SIGKILL)
    acknowledged += [int(line) for line in process.stdout.read().split("\n")[:-1]]
    process.wait()
    process.stdout.close()
    with database.reading() as session:
        stored = [int(name) for name in names(session)]
    assert stored[: len(acknowledged)] == acknowledged
    assert stored == list(range(len(stored)))
