"""Experiments of all projects, or of one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena_tui.stores.base import Polled
from arena_tui.stores.work import Job

if TYPE_CHECKING:
    from arena_tui.stores.hub import Hub

ACTIVE = frozenset({"queued", "running", "stopping"})
"""States of a run that will change by themselves."""
RESUMABLE = frozenset({"stopped", "completed", "failed", "interrupted"})

_QUIET_TURNS = 5
"""A project in which nothing runs is asked for every so many turns."""


class Experiments(Polled[list[dict[str, Any]]]):
    """Rows of experiments, newest first.

    Attributes:
        project: Name of the only project shown, or None for all.
    """

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub, self._list)
        self.project: str | None = None
        self._by_project: dict[str, list[dict[str, Any]]] = {}
        self._turn = 0

    async def _list(self) -> list[dict[str, Any]]:
        detailed = "experiment_rows" in await self.hub.known_features()
        names = await self._projects()
        full = self._turn % _QUIET_TURNS == 0 or self._asked.is_set()
        self._turn += 1
        wanted = [name for name in names if full or self._is_busy(name)]
        gate = asyncio.Semaphore(4)

        async def ask(name: str) -> None:
            async with gate:
                rows = await self.hub.client.list_experiments(name, details=detailed)
            self._by_project[name] = [{"project": name, **dict(row)} for row in rows]

        await asyncio.gather(*(ask(name) for name in wanted))
        for name in self._by_project.keys() - set(names):
            del self._by_project[name]
        rows = [row for name in names for row in self._by_project.get(name, ())]
        return sorted(rows, key=lambda row: str(row.get("created_at") or ""), reverse=True)

    async def _projects(self) -> list[str]:
        if self.project is not None:
            return [self.project]
        if self.hub.projects.value is None:
            # Asked for here, so that a refusal is this store's too, and not an empty list.
            return [str(row.get("name")) for row in await self.hub.client.list_projects()]
        return self.hub.projects.names

    def _is_busy(self, project: str) -> bool:
        if project not in self._by_project or project == self.hub.projects.default:
            return True
        return any(row.get("state") in ACTIVE for row in self._by_project[project])

    def show_project(self, project: str | None) -> None:
        """Show one project only, or all."""
        self.project = project
        self._by_project.clear()
        self.refresh()

    def refresh(self) -> None:
        """Ask for all projects again."""
        self._turn = 0
        super().refresh()

    @property
    def active(self) -> list[dict[str, Any]]:
        """Those that run, wait or are stopping."""
        return [row for row in self.value or () if row.get("state") in ACTIVE]

    def named(self, name: str) -> dict[str, Any] | None:
        """Return the row of one experiment."""
        return next((row for row in self.value or () if row.get("name") == name), None)

    def submit(
        self,
        manifest: dict[str, Any] | Path,
        *,
        resource_id: str,
        num_nodes: int,
        project: str | None,
        name: str | None,
    ) -> Job:
        """Submit a manifest; the job's result is the service's last word."""

        async def do(job: Job) -> Any:
            try:
                return await self.hub.streamed(
                    job,
                    "submit_experiment",
                    manifest=manifest,
                    resource_id=resource_id,
                    num_nodes=num_nodes,
                    project=project,
                    experiment_name=name,
                )
            finally:
                self.refresh()

        return self.hub.work.start("submit", (name or "experiment",), do)

    async def stop(self, name: str) -> None:
        """Stop a run; it leaves a checkpoint."""
        await self.hub.call(lambda: self.hub.client.stop_experiment(name))
        self.refresh()

    async def resume(self, name: str, max_steps: int) -> None:
        """Go on with a run up to a new number of steps."""
        await self.hub.call(lambda: self.hub.client.resume_experiment(name, max_steps))
        self.refresh()
        self.hub.run(name).refresh()

    async def delete(self, name: str) -> None:
        """Delete a run with its metrics, checkpoints and log."""
        await self.hub.call(lambda: self.hub.client.delete_experiment(name, confirm=True))
        self.hub.marks.drop(name)
        self.hub.forget_run(name)
        self.refresh()

    def download_metrics(self, name: str, path: Path) -> Job:
        """Write the metrics of a run into a CSV file."""

        async def do(job: Job) -> Any:
            return await self.hub.client.download_experiment_metrics(name, output_path=path)

        return self.hub.work.start("download", ("metrics of", name), do)
