"""The one way in which records come to be: committed first, then published, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from sqlalchemy.orm import Session

from arena_sdk.local.store.database import Database
from arena_sdk.local.store.experiments import RecordData, records_after
from arena_sdk.local.store.models import Experiment

from .broker import Broker, Page

Change = Callable[[Session, Experiment], list[RecordData]]
"""Changes an experiment inside a transaction and returns the records that it appended."""


class Journal:
    """Commits changes of experiments and publishes what they appended.

    Args:
        database: The store.
        broker: Who is told after each commit.
    """

    def __init__(self, database: Database, broker: Broker) -> None:
        self._database, self._broker = database, broker
        self._locks: dict[int, asyncio.Lock] = {}

    async def write(self, experiment_id: int, change: Change) -> list[RecordData]:
        """Run a change in one transaction, then publish its records.

        Changes of one experiment run one after another, so records are published in the order
        of their numbers. Cancelling the caller does not come between commit and publication.
        """
        return await asyncio.shield(self._write(experiment_id, change))

    async def _write(self, experiment_id: int, change: Change) -> list[RecordData]:
        def transaction(session: Session) -> list[RecordData]:
            experiment = session.get(Experiment, experiment_id)
            return [] if experiment is None else change(session, experiment)

        async with self._locks.setdefault(experiment_id, asyncio.Lock()):
            records = await self._database.run(transaction)
            self._broker.publish(experiment_id, records)
        return records

    async def read_page(self, experiment_id: int, after: int, limit: int) -> Page:
        """Return stored records after a number and where the run stands, as of one moment."""

        def transaction(session: Session) -> Page:
            experiment = session.get_one(Experiment, experiment_id)
            records = records_after(session, experiment_id, after, limit)
            return Page(records, experiment.state, experiment.last_seq)

        return await self._database.read(transaction)

    def progress(self, experiment_id: int, message: dict[str, Any]) -> None:
        """Tell those who watch how far a run is."""
        self._broker.progress(experiment_id, message)
