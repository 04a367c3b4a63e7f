"""Projects, and which is the default."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from arena_tui.stores.base import Polled

if TYPE_CHECKING:
    from arena_tui.stores.hub import Hub


class Projects(Polled[list[dict[str, Any]]]):
    """Rows of projects.

    Attributes:
        default: Name of the default project, or None.
    """

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub, self._list, every=3)
        self.default: str | None = None
        self.override: str | None = None

    async def _list(self) -> list[dict[str, Any]]:
        self.default = self.override or await self._read_default()
        return [dict(row) for row in await self.hub.client.list_projects()]

    async def _read_default(self) -> str | None:
        outcome: Any = self.hub.client.get_default_project()
        name = await outcome if inspect.isawaitable(outcome) else outcome
        return str(name) if name else None

    @property
    def names(self) -> list[str]:
        """Names of all projects."""
        return [str(row.get("name")) for row in self.value or ()]

    async def create(self, name: str, description: str, llm_based: bool = False) -> None:
        """Make a project."""
        await self.hub.call(lambda: self.hub.client.create_project(name, description, llm_based))
        await self.load()

    async def delete(self, name: str) -> None:
        """Delete a project and what it holds."""
        await self.hub.call(lambda: self.hub.client.delete_project(name))
        self.hub.experiments.refresh()
        await self.load()

    async def set_default(self, name: str) -> None:
        """Make a project the default."""
        outcome: Any = self.hub.client.set_default_project(name)
        if inspect.isawaitable(outcome):
            await outcome
        self.override = None
        self.default = name
        self.changed()
