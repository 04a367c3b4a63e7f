"""Play sessions: a worker that plays, and the one who watches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from arena_sdk.local.jobs import Job, JobSpec, Supervisor
from arena_sdk.local.paths import DataPaths
from arena_sdk.local.store.database import Database

from .deployments import DeploymentService
from .refusals import conflict
from .resolve import ResolvedEnvironment, resolve_environment
from .submission import manifest_environment
from .transitions import find, overlay_python


@dataclass(frozen=True)
class PlayRequest:
    """What the one who watches asked for.

    Attributes:
        deployment: Whose agent plays.
        environment: A custom environment's name or a Gymnasium id; None for the agent's own.
        version: A version of a custom one.
        episodes: How many each player plays; 0 for no end.
        baseline: Whether chance plays too.
        seed: Seed of the first episode.
        render: Whether frames are wanted.
        speed: Steps a second; 0 for as fast as it goes.
        paused: Whether to wait for the first command.
    """

    deployment: str
    environment: str | None = None
    version: str | None = None
    episodes: int = 0
    baseline: bool = False
    seed: int | None = None
    render: bool = False
    speed: float = 0.0
    paused: bool = False


class PlayService:
    """Starts play workers.

    Args:
        database: The store.
        paths: The data folder.
        supervisor: Starts workers.
        deployments: Where agents are served.
        token: What the served agents require.
    """

    def __init__(
        self,
        database: Database,
        paths: DataPaths,
        supervisor: Supervisor,
        deployments: DeploymentService,
        token: str,
    ) -> None:
        self._database, self._paths, self._supervisor = database, paths, supervisor
        self._deployments, self._token = deployments, token

    async def open(self, request: PlayRequest) -> Job:
        """Start a session's worker; the caller reads its messages and stops it.

        Raises:
            ApiError: 404 for an unknown deployment or environment, 409 when it is not served.
        """
        row = await self._deployments.settled(request.deployment)
        if row["status"] == "provisioning":
            raise conflict(
                f"Deployment {row['name']!r} is still being started; try again in a moment.",
                "NOT_SERVED",
            )
        if row["status"] != "running":
            raise conflict(
                f"Deployment {row['name']!r} is {row['status']}; `arena agent deploy"
                f" {row['experiment_name']}` serves it again.",
                "NOT_SERVED",
            )
        environment = await self._database.read(
            lambda session: self._environment(session, request, row["experiment_name"])
        )
        payload: dict[str, Any] = {
            "environment": environment.reference,
            "deployment_url": row["url"],
            "token": self._token,
            "episodes": request.episodes,
            "baseline": request.baseline,
            "seed": request.seed,
            "render": request.render,
            "steps_per_second": request.speed,
            "paused": request.paused,
        }
        python = overlay_python(self._paths, environment)
        return await self._supervisor.start(JobSpec(kind="play", payload=payload, python=python))

    def _environment(
        self, session: Session, request: PlayRequest, experiment_name: str
    ) -> ResolvedEnvironment:
        if request.environment is not None:
            return resolve_environment(
                session, self._paths, request.environment, version=request.version
            )
        experiment = find(session, experiment_name)
        return manifest_environment(
            session,
            self._paths,
            experiment.manifest,
            request.version or experiment.environment_version,
        )
