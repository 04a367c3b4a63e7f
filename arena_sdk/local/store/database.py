"""The SQLite database: one file, write-ahead log, short transactions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.orm import Session

Result = TypeVar("Result")

BUSY_MILLISECONDS = 30_000
READERS = 4
"""How many snapshots are read at once."""
READ_ONLY = "arena_read_only"


class Database:
    """Sessions on one SQLite file.

    A transaction takes the write lock at its start, so it never fails half-way because another
    one wrote meanwhile; transactions are short, so waiting is cheap. Long reads use `reading`.

    Args:
        path: The file; created when it is not there.
    """

    def __init__(self, path: Path) -> None:
        self.engine = create_engine(f"sqlite:///{path}", connect_args={"check_same_thread": False})
        event.listen(self.engine, "connect", _set_up_connection)
        event.listen(self.engine, "begin", _begin)
        self._reading_engine = self.engine.execution_options(**{READ_ONLY: True})
        # Writers queue in order here, where waiting is exact, and not at the file's lock, where it
        # is a guess; and neither they nor readers take threads from other work of the server.
        self._writer = ThreadPoolExecutor(1, "store-writer")
        self._readers = ThreadPoolExecutor(READERS, "store-reader")

    def migrate(self) -> None:
        """Bring the tables to the newest revision."""
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", "arena_sdk.local.store:migrations")
        config.attributes["engine"] = self.engine
        command.upgrade(config, "head")

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a transaction: committed at the end, rolled back on an exception."""
        with Session(self.engine, expire_on_commit=False) as session, session.begin():
            yield session

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Open a transaction that only reads, a snapshot that blocks no writer."""
        with Session(self._reading_engine, expire_on_commit=False) as session, session.begin():
            yield session

    async def run(self, work: Callable[[Session], Result]) -> Result:
        """Do `work` in one transaction, in a thread, after those that were asked for before."""

        def transaction() -> Result:
            with self.session() as session:
                return work(session)

        return await asyncio.get_running_loop().run_in_executor(self._writer, transaction)

    async def read(self, work: Callable[[Session], Result]) -> Result:
        """Do `work`, which only reads, on one snapshot, in a thread."""

        def transaction() -> Result:
            with self.reading() as session:
                return work(session)

        return await asyncio.get_running_loop().run_in_executor(self._readers, transaction)

    def close(self) -> None:
        """Finish what was asked for and close every connection."""
        self._writer.shutdown()
        self._readers.shutdown()
        self.engine.dispose()


def _set_up_connection(connection: Any, record: Any) -> None:
    # The driver's own BEGIN comes too late (at the first write) to be worth its name.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",  # a commit that was acknowledged outlives a loss of power
        f"busy_timeout={BUSY_MILLISECONDS}",
        "foreign_keys=ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    read_only = connection.get_execution_options().get(READ_ONLY, False)
    connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")
