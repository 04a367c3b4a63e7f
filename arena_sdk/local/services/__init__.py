"""What the embedded Arena does, one service a resource; routes only translate HTTP for them.

`Services` is the whole: made once by the app, started and stopped with it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena_sdk.local.jobs import Supervisor
    from arena_sdk.local.paths import DataPaths
    from arena_sdk.local.server_settings import ServerSettings
    from arena_sdk.local.services.broker import Broker
    from arena_sdk.local.services.datasets import DatasetService
    from arena_sdk.local.services.deployments import DeploymentService
    from arena_sdk.local.services.environments import EnvironmentService
    from arena_sdk.local.services.logs import LogPages
    from arena_sdk.local.services.play import PlayService
    from arena_sdk.local.services.rewards import RewardService
    from arena_sdk.local.services.run_specs import RunSpecService
    from arena_sdk.local.services.runs import RunService
    from arena_sdk.local.store.database import Database

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Services:
    """Everything that routes call."""

    paths: DataPaths
    database: Database
    supervisor: Supervisor
    broker: Broker
    environments: EnvironmentService
    datasets: DatasetService
    rewards: RewardService
    runs: RunService
    deployments: DeploymentService
    play: PlayService
    run_specs: RunSpecService
    logs: LogPages

    @classmethod
    def build(cls, paths: DataPaths, token: str, settings: ServerSettings) -> Services:
        """Make the services of one server; nothing runs yet.

        Args:
            paths: The data folder, made already.
            token: What served agents require of their callers.
            settings: How runs are run.
        """
        from arena_sdk.local.jobs import Supervisor
        from arena_sdk.local.services.broker import Broker
        from arena_sdk.local.services.datasets import DatasetService
        from arena_sdk.local.services.deployments import DeploymentService
        from arena_sdk.local.services.environments import EnvironmentService
        from arena_sdk.local.services.logs import LogPages
        from arena_sdk.local.services.play import PlayService
        from arena_sdk.local.services.queue import Capacity
        from arena_sdk.local.services.rewards import RewardService
        from arena_sdk.local.services.run_specs import RunSpecService
        from arena_sdk.local.services.runs import RunService
        from arena_sdk.local.store.database import Database

        database = Database(paths.database)
        supervisor = Supervisor(paths)
        broker = Broker()
        capacity = Capacity.of_this_machine(settings.cpus, settings.memory_gb)
        deployments = DeploymentService(database, paths, supervisor, token)
        return cls(
            paths=paths,
            database=database,
            supervisor=supervisor,
            broker=broker,
            environments=EnvironmentService(database, paths, supervisor),
            datasets=DatasetService(database, paths, supervisor),
            rewards=RewardService(database, paths, supervisor),
            runs=RunService(
                database, paths, supervisor, broker, capacity=capacity, settings=settings
            ),
            deployments=deployments,
            play=PlayService(database, paths, supervisor, deployments, token),
            run_specs=RunSpecService(database, paths, supervisor),
            logs=LogPages(),
        )

    async def start(self) -> None:
        """Bring the store up to date and take over what an earlier server left."""
        self.database.migrate()
        await self.supervisor.clear_leftovers()
        await self.environments.start()
        await self.datasets.start()
        await self.runs.start()
        await self.deployments.start()

    async def close(self) -> None:
        """End all work; runs leave a checkpoint. What fails to end does not hold up the rest."""
        for end in (
            self.runs.close,
            self.deployments.close,
            self.environments.close,
            self.supervisor.shutdown,
        ):
            try:
                await end()
            except Exception:
                logger.exception("%s failed", end.__qualname__)
        self.database.close()
