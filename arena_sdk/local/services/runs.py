"""Training runs: queued, trained by one worker each, stopped, resumed, and what each state means.

    queued → running → completed | failed | stopped | interrupted
       ↓        ↓                      ↑
       └→ stopped └→ stopping ─────────┘        any of the four ends → queued again by resume

A run's row says `queued`, `running` or `stopping` only while this server holds it. Every change
of state is a record, committed with the row and published after.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.jobs import Job, JobOutcome, JobSpec, Supervisor
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.run_options import read_options
from arena_sdk.local.server_settings import DEFAULTS, ServerSettings
from arena_sdk.local.store import activity
from arena_sdk.local.store import experiments as store
from arena_sdk.local.store.database import Database
from arena_sdk.local.store.experiments import RecordData
from arena_sdk.local.store.models import Experiment
from arena_sdk.local.training.spec import MOST_STEPS

from . import recovery, removal, retention
from .broker import Broker
from .journal import Change, Journal
from .queue import Capacity, RunQueue
from .refusals import conflict, invalid
from .submission import Accepted, Submission, accept
from .train_jobs import train_job
from .transitions import (
    RESTARTED,
    SHUT_DOWN,
    demand_of,
    ending,
    find,
    problem_sentence,
    removable,
    standing,
    to_queued_again,
    to_resumed_by_itself,
    to_running,
    to_stopping,
)

logger = logging.getLogger(__name__)

STOP_GRACE = 10.0
"""Seconds that a trainer has, from being told to stop, to write its checkpoint."""

END_RETRY_SECONDS = 30.0
"""The longest pause between two attempts to store how a run ended."""

STOP_ANSWER = 8.0
"""Seconds after which a stop request is answered though the run has not yet ended."""


@dataclass
class Run:
    """A run that a worker trains now."""

    experiment_id: int
    name: str
    job: Job | None = None
    stop_asked: bool = False
    closing: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


class RunService:
    """The queue of runs and the workers that train them.

    Args:
        database: The store.
        paths: The data folder.
        supervisor: Starts workers.
        broker: Tells those who watch.
        capacity: What runs may take of this machine together; all of it when None.
        settings: How runs are run; as ever when None.
    """

    def __init__(
        self,
        database: Database,
        paths: DataPaths,
        supervisor: Supervisor,
        broker: Broker,
        *,
        capacity: Capacity | None = None,
        settings: ServerSettings | None = None,
    ) -> None:
        self._database, self._paths, self._supervisor = database, paths, supervisor
        self.broker = broker
        self.journal = Journal(database, broker)
        self._settings = settings or DEFAULTS
        self._queue = RunQueue(capacity or Capacity.of_this_machine())
        self._runs: dict[int, Run] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    # --- life ---------------------------------------------------------------------------------

    async def start(self) -> None:
        """Mark the runs that an earlier server left behind."""

        def recover(session: Session) -> list[Path]:
            deleted = removal.finish_deletions(session, self._paths)
            for name in recovery.interrupt_orphans(session, self._paths):
                activity.add(session, "warning", "experiment", name, recovery.CRASHED)
            return deleted

        for folder in await self._database.run(recover):
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        interrupted = await self._database.read(
            lambda session: [row.id for row in store.in_states(session, ["interrupted"])]
        )
        for experiment_id in interrupted:
            if await self._resume_by_itself(experiment_id, RESTARTED):
                await self._enqueue(experiment_id)

    async def close(self) -> None:
        """Stop every run, leaving a checkpoint, and mark them interrupted."""
        self._closing = True
        for experiment_id in self._queue:
            self._queue.remove(experiment_id)
            await self._change_state(experiment_id, "interrupted", reason=SHUT_DOWN)
        runs = list(self._runs.values())
        for run in runs:
            run.closing = True
        await asyncio.gather(*(self._stop_job(run) for run in runs), return_exceptions=True)
        tasks = [run.task for run in runs if run.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
        self.broker.close()

    # --- what users ask for -------------------------------------------------------------------

    async def submit(self, submission: Submission, tiers: dict[str, Any]) -> Accepted:
        """Accept a submission and queue it.

        Raises:
            ApiError: It cannot be taken; the sentence says why.
        """
        cluster, capacity = self._settings.cluster, self._queue.capacity
        accepted = await self._database.run(
            lambda s: accept(s, self._paths, submission, tiers, cluster, capacity)
        )
        self.broker.publish(accepted.experiment_id, accepted.records)
        await self._enqueue(accepted.experiment_id)
        return accepted

    async def stop(self, name: str) -> dict[str, Any]:
        """Stop a run that trains or waits; answer once it has ended, or after some seconds.

        Raises:
            ApiError: 404 for an unknown name, 409 when it has already ended.
        """
        experiment_id, state = await self._look_up(name)
        if self._queue.remove(experiment_id):
            await self._change_state(experiment_id, "stopped", reason="stop")
            return await self._answer(experiment_id)
        run = self._runs.get(experiment_id)
        if run is None:
            raise conflict(f"Experiment {name!r} is not running: it is {state}.", "NOT_RUNNING")
        if not run.stop_asked:
            run.stop_asked = True
            await self.journal.write(experiment_id, to_stopping)
            self._in_background(self._stop_job(run))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(run.ended.wait(), STOP_ANSWER)
        return await self._answer(experiment_id)

    async def resume(self, name: str, max_steps: Any) -> dict[str, Any]:
        """Queue an ended run again, from its last good checkpoint, with a new budget.

        Raises:
            ApiError: 404 for an unknown name, 409 while it is active, 422 when the budget is
                not above the steps that it has done.
        """
        if isinstance(max_steps, bool) or not isinstance(max_steps, int) or max_steps < 1:
            raise invalid("max_steps must be a whole number above 0.", "INVALID_MAX_STEPS")
        if max_steps > MOST_STEPS:
            raise invalid(f"max_steps must be at most {MOST_STEPS:,}.", "INVALID_MAX_STEPS")
        experiment_id, _ = await self._look_up(name)
        records = await self.journal.write(
            experiment_id,
            lambda session, experiment: to_queued_again(
                session, self._paths, experiment, max_steps
            ),
        )
        earlier = self._runs.get(experiment_id)
        if earlier is not None:  # its end is stored, but its worker is still being let go
            await earlier.ended.wait()
        await self._enqueue(experiment_id)
        answer = await self._answer(experiment_id)
        return {**answer, "resume_from": records[-1]["data"].get("resume_from")}

    async def delete(self, name: str) -> dict[str, Any]:
        """Delete an ended run with its records, checkpoints and log.

        Raises:
            ApiError: 404 for an unknown name, 409 while it is active or its agent is served.
        """
        experiment_id, state = await self._look_up(name)
        ending = self._runs.get(experiment_id)
        if ending is not None and state in store.FINISHED_STATES:
            await ending.ended.wait()  # its worker is still being let go

        def remove(session: Session, aside: removal.Aside) -> None:
            removal.remove_rows(session, aside, [removable(session, name)])
            activity.add(session, "warning", "experiment", name, "Experiment deleted.")

        await removal.delete_with_folders(self._database, self._paths, remove)
        return {"name": name, "deleted": True}

    async def _resume_by_itself(self, experiment_id: int, reason: str) -> bool:
        """Queue a run again that a crash cut off, if that was asked for; return whether it was."""
        everywhere = self._settings.auto_resume

        def change(session: Session, experiment: Experiment) -> list[RecordData]:
            if not (everywhere or read_options(experiment.options).auto_resume):
                return []
            return to_resumed_by_itself(session, self._paths, experiment, reason)

        try:
            records = await self.journal.write(experiment_id, change)
        except ApiError as problem:
            logger.warning("run %d is not resumed: %s", experiment_id, problem)
            return False
        return any(record["data"].get("state") == "queued" for record in records)

    # --- the queue ----------------------------------------------------------------------------

    def why_waiting(self, experiment_id: int) -> str | None:
        """Say in a sentence what a queued run waits for; None when it does not wait."""
        return self._queue.why_waiting(experiment_id)

    async def _enqueue(self, experiment_id: int) -> None:
        self._queue.add(await self._database.read(lambda s: demand_of(s, experiment_id)))
        self._fill()
        reason = self._queue.why_waiting(experiment_id)
        if reason is not None:
            await self._change_state(experiment_id, "queued", reason=reason)

    def _fill(self) -> None:
        """Start waiting runs while there is room."""
        while not self._closing:
            experiment_id = self._queue.take()
            if experiment_id is None:
                return
            run = Run(experiment_id, name=str(experiment_id))
            self._runs[experiment_id] = run
            run.task = asyncio.create_task(self._train(run), name=f"run-{experiment_id}")

    # --- one run ------------------------------------------------------------------------------

    async def _train(self, run: Run) -> None:
        again = False
        try:
            outcome = await self._work(run)
        except Exception as problem:
            logger.exception("run %s failed", run.name)
            if run.job is not None:
                await run.job.stop(1.0)
            sentence = problem_sentence(problem)
            await self._end_quietly(run, "failed", error=sentence)
        else:
            state, more = ending(run, outcome)
            if state == "failed" and outcome.reason == "crashed":
                again = await self._resume_by_itself(run.experiment_id, str(more["error"]))
            if not again:
                await self._end_quietly(run, state, **more)
        finally:
            del self._runs[run.experiment_id]
            self._queue.release(run.experiment_id)
            run.ended.set()
            self._fill()
        if again:
            await self._enqueue(run.experiment_id)

    async def _work(self, run: Run) -> JobOutcome:
        """Train with a worker until it ends."""
        spec = await self._database.read(lambda session: self._spec(session, run))
        run.job = await self._supervisor.start(spec)
        await self.journal.write(run.experiment_id, to_running)
        if run.stop_asked or run.closing:
            self._in_background(self._stop_job(run))
        async for message in run.job.messages():
            await self._take(run, message)
        return await run.job.wait()

    def _spec(self, session: Session, run: Run) -> JobSpec:
        experiment = session.get_one(Experiment, run.experiment_id)
        run.name = experiment.name
        return train_job(session, self._paths, self._settings, experiment)

    async def _take(self, run: Run, message: dict[str, Any]) -> None:
        """Commit and publish what a trainer says."""
        kind = message.get("kind")
        if kind == "generation":
            await self._note(run, lambda s, e: store.ingest_generation(s, e, message))
        elif kind == "checkpoint":
            await self._note(run, lambda s, e: store.add_checkpoint(s, e, message))
        elif kind == "warning":
            await self.journal.write(
                run.experiment_id, lambda s, e: store.add_warning(s, e, str(message["message"]))
            )
        elif kind in ("progress", "started"):
            self.journal.progress(run.experiment_id, {**message, "kind": "progress"})

    async def _note(self, run: Run, change: Change) -> None:
        """Commit a change that may bring a checkpoint; remove those that are not to be kept."""
        folders: list[Path] = []

        def noted(session: Session, experiment: Experiment) -> list[RecordData]:
            records = change(session, experiment)
            folders.extend(retention.forget_expired(session, experiment))
            return records

        await self.journal.write(run.experiment_id, noted)
        if folders:
            await asyncio.to_thread(retention.remove_folders, folders)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _stop_job(self, run: Run) -> None:
        if run.job is not None:
            await run.job.stop(STOP_GRACE)

    async def _end_quietly(self, run: Run, state: str, **more: Any) -> None:
        """Write how a run ended; while the store cannot be written, try again and again."""
        level = "error" if state == "failed" else "info"

        def change(session: Session, experiment: Experiment) -> list[RecordData]:
            records = recovery.adopt_checkpoints(session, self._paths, experiment)
            sentence = more.get("error") or f"Run {state} ({more.get('reason', state)})."
            activity.add(session, level, "experiment", experiment.name, sentence)
            return records + store.change_state(session, experiment, state, **more)

        pause = 1.0
        while True:
            try:
                await self.journal.write(run.experiment_id, change)
                return
            except Exception:
                logger.exception("the end of run %s could not be stored", run.name)
            if self._closing:  # the next server finds it active, and interrupts it
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, END_RETRY_SECONDS)

    # --- small things -------------------------------------------------------------------------

    async def _change_state(self, experiment_id: int, state: str, **more: Any) -> None:
        await self.journal.write(
            experiment_id, lambda s, e: store.change_state(s, e, state, **more)
        )

    async def _look_up(self, name: str) -> tuple[int, str]:
        def look(session: Session) -> tuple[int, str]:
            experiment = find(session, name)
            return experiment.id, experiment.state

        return await self._database.read(look)

    async def _answer(self, experiment_id: int) -> dict[str, Any]:
        return await self._database.read(lambda s: standing(s, experiment_id))
