"""Trained agents being served, each by a worker on a port of its own."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from arena_sdk.local.jobs import Job, JobSpec, Supervisor
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.store import activity, experiments
from arena_sdk.local.store import deployments as store
from arena_sdk.local.store.database import Database
from arena_sdk.local.store.models import Checkpoint, Experiment

from .refusals import conflict, invalid, not_found
from .transitions import failure, find

logger = logging.getLogger(__name__)

READY_ANSWER = 25.0
"""Seconds after which a deploy request is answered though the agent is not yet being served."""

START_PATIENCE = 50.0
"""Seconds that a game waits for an agent that is only starting."""


@dataclass
class _Served:
    """A worker that serves, or is about to."""

    job: Job
    checkpoint: str
    ready: asyncio.Future[str | None]
    task: asyncio.Task[None] | None = None
    leaving: bool = False


@dataclass(frozen=True)
class _Plan:
    deployment_id: int
    experiment_id: int
    name: str
    checkpoint: str
    path: str


class DeploymentService:
    """Starts, moves and stops the workers that serve agents.

    Args:
        database: The store.
        paths: The data folder.
        supervisor: Starts workers.
        token: What the served agents require; the Arena's own.
    """

    def __init__(
        self, database: Database, paths: DataPaths, supervisor: Supervisor, token: str
    ) -> None:
        self._database, self._paths = database, paths
        self._supervisor, self._token = supervisor, token
        self._served: dict[str, _Served] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._closing = False

    async def start(self) -> None:
        """Mark what an earlier server served as stopped."""
        await self._database.run(store.forget_workers)

    async def close(self) -> None:
        """Stop every served agent."""
        self._closing = True
        names = list(self._served)
        await asyncio.gather(*(self._let_go(self._served[name]) for name in names))
        await self._database.run(store.forget_workers)

    # --- what users ask for -------------------------------------------------------------------

    async def deploy(self, experiment_name: str, checkpoint: str | None) -> dict[str, Any]:
        """Serve a checkpoint of an experiment; an agent that it already serves is replaced.

        The earlier agent answers until the new one does.

        Args:
            experiment_name: Whose agent; also the deployment's name.
            checkpoint: `step_<n>`, or None for the one of best fitness.

        Returns:
            The deployment's row: `running` with its URL, or `provisioning` when loading takes long.

        Raises:
            ApiError: 404 for an unknown experiment or checkpoint, 409 when there is no checkpoint,
                422 when the agent cannot be loaded.
        """
        async with self._locks.setdefault(experiment_name, asyncio.Lock()):
            earlier = self._served.get(experiment_name)
            plan = await self._database.run(
                lambda s: _plan(s, experiment_name, checkpoint, replacing=earlier is not None)
            )
            ready = await self._launch(plan)
            await asyncio.wait([ready], timeout=READY_ANSWER)
            if ready.done() and ready.result() is not None:
                self._refuse(plan, str(ready.result()))
        return await self.one(plan.name)

    async def stop(self, name: str) -> dict[str, Any]:
        """Stop serving; the deployment's row stays, as `stopped`.

        Raises:
            ApiError: 404 when there is none, 409 when it is not being served.
        """
        row = await self.one(name)
        served = self._served.get(name)
        if served is None:
            raise conflict(f"Deployment {name!r} is not running: it is {row['status']}.", "STOPPED")
        await self._let_go(served)
        return await self.one(name)

    async def listed(self, **filters: str | None) -> list[dict[str, Any]]:
        """Return the rows that fit the filters `name`, `experiment` and `project`."""
        return await self._database.read(lambda session: store.rows(session, **filters))

    async def one(self, name: str, **filters: str | None) -> dict[str, Any]:
        """Return one row.

        Raises:
            ApiError: 422 without a name, 404 when none fits.
        """
        if not name:
            raise invalid("Name the deployment (name).", "DEPLOYMENT_NAME_REQUIRED")
        found = await self.listed(name=name, **filters)
        if not found:
            known = ", ".join(row["name"] for row in await self.listed()) or "none yet"
            raise not_found(
                f"No deployment is named {name!r}; there are: {known}. `arena agent deploy"
                " EXPERIMENT` makes one.",
                "DEPLOYMENT_NOT_FOUND",
            )
        return found[0]

    async def log(self, name: str) -> tuple[Path, bool]:
        """Return the log of a deployment's workers, and whether none writes to it now.

        Raises:
            ApiError: As `one` does.
        """
        row = await self.one(name)

        def read(session: Session) -> int:
            return find(session, row["experiment_name"]).id

        experiment_id = await self._database.read(read)
        return serving_log(self._paths, experiment_id), row["status"] not in store.LIVE_STATUSES

    async def settled(self, name: str) -> dict[str, Any]:
        """Return one row, once an agent that is only starting answers, fails, or takes too long.

        Raises:
            ApiError: As `one` does.
        """
        row = await self.one(name)
        served = self._served.get(name)
        if row["status"] == "provisioning" and served is not None:
            await asyncio.wait([served.ready], timeout=START_PATIENCE)
            row = await self.one(name)
        return row

    # --- workers ------------------------------------------------------------------------------

    async def _launch(self, plan: _Plan) -> asyncio.Future[str | None]:
        """Start a worker; the future holds None once it serves, or why it does not."""
        job = await self._supervisor.start(
            JobSpec(
                kind="serve",
                payload={
                    "deployment_id": plan.deployment_id,
                    "name": plan.name,
                    "checkpoint_path": plan.path,
                    "token": self._token,
                    "host": "127.0.0.1",
                },
                log_path=serving_log(self._paths, plan.experiment_id),
            )
        )
        ready: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        served = _Served(job, plan.checkpoint, ready)
        self._served.setdefault(plan.name, served)
        served.task = asyncio.create_task(self._watch(plan, served, ready))
        return ready

    async def _watch(self, plan: _Plan, served: _Served, ready: asyncio.Future[str | None]) -> None:
        """Follow a worker from its start to its end."""
        try:
            async for message in served.job.messages():
                if message.get("kind") == "ready":
                    await self._take_over(plan, served, str(message["url"]))
                    ready.set_result(None)
            outcome = await served.job.wait()
            sentence = str(failure(outcome)["error"])
            await self._worker_ended(plan, served, sentence)
            if not ready.done():
                ready.set_result(sentence)
        except Exception as problem:
            logger.exception("deployment %s", plan.name)
            if not ready.done():
                ready.set_result(f"{type(problem).__name__}: {problem}")

    async def _take_over(self, plan: _Plan, served: _Served, url: str) -> None:
        """Point the deployment at a worker that answers, then stop the one before."""
        earlier = self._served.get(plan.name)
        self._served[plan.name] = served

        def change(session: Session) -> None:
            row = store.by_name(session, plan.name)
            if row is not None:
                row.status, row.url, row.error = "running", url, None
                row.checkpoint = plan.checkpoint
            activity.add(
                session, "info", "deployment", plan.name, f"Serves {plan.checkpoint} at {url}."
            )

        await self._database.run(change)
        if earlier is not None and earlier is not served:
            earlier.leaving = True
            await earlier.job.stop(2.0)

    async def _worker_ended(self, plan: _Plan, served: _Served, sentence: str) -> None:
        """Say what a worker's end means for the deployment, if it was the one that served it."""
        current = self._served.get(plan.name)
        if current is not None and current is not served:
            return  # it was replaced, or never took over from the one that still serves
        self._served.pop(plan.name, None)
        stopped = served.leaving or self._closing

        def change(session: Session) -> None:
            if stopped:
                store.set_status(session, plan.deployment_id, "stopped")
                return
            store.set_status(session, plan.deployment_id, "failed", error=sentence)
            activity.add(session, "error", "deployment", plan.name, sentence)

        await self._database.run(change)

    async def _let_go(self, served: _Served) -> None:
        served.leaving = True
        await served.job.stop(2.0)
        if served.task is not None:
            await served.task

    def _refuse(self, plan: _Plan, sentence: str) -> None:
        raise invalid(
            f"Experiment {plan.name!r} could not be deployed: {sentence}", "DEPLOY_FAILED"
        )


def serving_log(paths: DataPaths, experiment_id: int) -> Path:
    """Return the file that workers which serve an experiment's agent write to, one after another.

    It lies with the experiment, and goes with it.
    """
    return paths.experiment(experiment_id) / "serve.log"


def _plan(session: Session, name: str, checkpoint: str | None, *, replacing: bool) -> _Plan:
    """Choose the checkpoint and note the deployment."""
    experiment = find(session, name)
    chosen = _choose(session, experiment, checkpoint)
    row = store.by_name(session, name)
    if row is None or not replacing:
        row = store.put(session, experiment, chosen.name, status="provisioning", url="", error=None)
    return _Plan(row.id, experiment.id, name, chosen.name, chosen.path)


def _choose(session: Session, experiment: Experiment, checkpoint: str | None) -> Checkpoint:
    saved = [c for c in experiments.checkpoints(session, experiment) if Path(c.path).is_dir()]
    if not saved:
        raise conflict(
            f"Experiment {experiment.name!r} has no checkpoint to deploy yet; it writes one at the"
            " end of a generation and when it is stopped.",
            "NO_CHECKPOINT",
        )
    if checkpoint is None:
        return experiments.best_of(saved)
    for candidate in saved:
        if candidate.name == checkpoint:
            return candidate
    raise not_found(
        f"Experiment {experiment.name!r} has no checkpoint {checkpoint!r}; it has"
        f" {', '.join(c.name for c in saved)}.",
        "CHECKPOINT_NOT_FOUND",
    )
