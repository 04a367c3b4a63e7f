"""Deployed agents."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from arena_tui.stores.base import Polled
from arena_tui.stores.work import Job

if TYPE_CHECKING:
    from arena_tui.stores.hub import Hub


class Load(Polled[dict[str, Any]]):
    """How much is asked of one deployment: `requests`, `mean_latency_ms`, `requests_per_second`.

    "absent" where the deployment does not tell.
    """

    OF_SERVICE = False

    def __init__(self, hub: Hub, name: str) -> None:
        super().__init__(hub, self._get)
        self._name = name
        self._agent: Any = None
        self._before: tuple[float, int] | None = None

    async def _get(self) -> dict[str, Any]:
        row = self.hub.deployments.named(self._name) or {}
        if self._agent is not None and self._agent.url != str(row.get("url")).rstrip("/"):
            await self._leave()
        if self._agent is None:
            self._agent = await self.hub.client.open_inference_agent(self._name)
        found = dict(await self._agent.load())
        now, requests = time.monotonic(), int(found.get("requests") or 0)
        if self._before is not None and now > self._before[0]:
            found["requests_per_second"] = (requests - self._before[1]) / (now - self._before[0])
        self._before = (now, requests)
        return found

    async def _leave(self) -> None:
        agent, self._agent, self._before = self._agent, None, None
        if agent is not None:
            await agent.aclose()

    def _unwatched(self) -> None:
        super()._unwatched()
        self.hub.spawn(self._leave())


class Deployments(Polled[list[dict[str, Any]]]):
    """Rows of deployments."""

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub, self._list)
        self._talks: dict[str, bool] = {}
        self._loads: dict[str, Load] = {}

    async def _list(self) -> list[dict[str, Any]]:
        return [dict(row) for row in await self.hub.client.list_inference_deployments()]

    def load_of(self, name: str) -> Load:
        """Return the store of what is asked of one deployment."""
        if name not in self._loads:
            self._loads[name] = Load(self.hub, name)
        return self._loads[name]

    @property
    def active(self) -> str | None:
        """Name of the agent that `arena` commands use when none is named."""
        from arena_sdk.config import InferenceFile
        from arena_sdk.errors import ArenaConfigError

        try:
            found = InferenceFile().active_agent() or {}
        except ArenaConfigError:
            return None
        return str(found["deployment"]) if found.get("deployment") else None

    def set_active(self, name: str) -> None:
        """Make an agent the one that `arena` commands use when none is named."""
        from arena_sdk.config import InferenceFile

        row = self.named(name) or {}
        InferenceFile().set_active_agent(
            name,
            experiment_name=row.get("experiment_name"),
            project_name=row.get("project_name"),
        )
        self.changed()

    async def is_language_model(self, name: str) -> bool:
        """Tell whether a deployment is talked to; its row may say so, or else it is asked."""
        from arena_sdk.errors import ArenaError
        from arena_sdk.manifest import algorithms

        row = self.named(name) or {}
        canonical = algorithms.canonical(str(row.get("algorithm") or ""))
        if canonical is not None:
            return algorithms.is_llm(canonical)
        if name not in self._talks:
            try:
                agent = await self.hub.client.open_inference_agent(name)
            except ArenaError:
                return False
            info = agent.metadata.agent
            self._talks[name] = bool(info is not None and info.llm)
            await agent.aclose()
        return self._talks[name]

    def named(self, name: str) -> dict[str, Any] | None:
        """Return the row of one deployment."""
        return next((row for row in self.value or () if row.get("name") == name), None)

    @property
    def running(self) -> list[dict[str, Any]]:
        """Those that answer."""
        return [row for row in self.value or () if row.get("status") == "running"]

    def deploy(self, experiment: str, checkpoint: str | None) -> Job:
        """Deploy a checkpoint, the fittest when None; the job's result is the deployment's row."""

        async def do(job: Job) -> Any:
            # The service may list it before it answers, so look as soon as it can be there.
            asyncio.get_running_loop().call_later(0.3, self.refresh)
            try:
                return await self.hub.client.deploy_agent(experiment, checkpoint=checkpoint)
            finally:
                self.refresh()

        return self.hub.work.start("deploy", (experiment,), do)

    async def stop(self, name: str) -> None:
        """Stop serving an agent."""
        await self.hub.call(lambda: self.hub.client.stop_deployment(name))
        self.refresh()
