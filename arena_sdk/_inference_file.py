"""`inference.json`: where deployments are, and which one commands use when none is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena_sdk._stored import arena_home, read_json, section, update_json

HOSTED_URL = "https://arena.agilerl.com"


class InferenceFile:
    """`inference.json`: addresses of deployments, the active agent; never a credential.

    Names are unique per service only, so each one but the hosted has a section of its own: the
    credential of one service must not go to an agent of another that has the same name.

    Args:
        home: Folder of settings.
        service: Base URL of the service whose deployments are meant.
    """

    def __init__(self, home: Path | None = None, *, service: str = HOSTED_URL) -> None:
        self.path = (home or arena_home()) / "inference.json"
        self._service = service

    def url(self, deployment: str) -> str | None:
        """Return the remembered address of a deployment."""
        deployments = self._own(read_json(self.path)).get("deployments")
        entry = deployments.get(deployment) if isinstance(deployments, dict) else None
        value = entry.get("url") if isinstance(entry, dict) else None
        return value if isinstance(value, str) and value else None

    def remember_url(self, deployment: str, url: str) -> None:
        """Remember where a deployment is."""

        def change(content: dict[str, Any]) -> None:
            section(self._own(content), "deployments")[deployment] = {"url": url}

        update_json(self.path, change)

    def _own(self, content: dict[str, Any]) -> dict[str, Any]:
        if self._service == HOSTED_URL:
            return content
        return section(section(content, "services"), self._service)

    def set_active_agent(
        self,
        deployment: str,
        *,
        experiment_name: str | None = None,
        project_name: str | None = None,
    ) -> None:
        """Make a deployment the one that commands use when none is named."""
        active = {
            "deployment": deployment,
            "experiment_name": experiment_name,
            "project_name": project_name,
        }
        named = {key: value for key, value in active.items() if value}
        update_json(self.path, lambda content: content.update(active_agent=named))

    def active_agent(self) -> dict[str, Any] | None:
        """Return the active agent, or None."""
        value = read_json(self.path).get("active_agent")
        return value if isinstance(value, dict) else None
