# Made by `python -m arena_sdk._unasync` from arena_sdk/_async/projects.py; change that one.
"""Projects, the default one, and resources."""

from __future__ import annotations

from arena_sdk._http import mapping_of_objects
from arena_sdk._sync.base import PREFIX, Endpoints
from arena_sdk.answers import Project, Resources, Tier
from arena_sdk.errors import ArenaAPIError, ArenaValidationError
from arena_sdk.names import name_problem


class Projects(Endpoints):
    """Projects and resources."""

    def list_projects(self) -> list[Project]:
        """Return your projects: rows with `name`, `type`, `description`.

        Example:
            >>> [project.name for project in client.list_projects()]
        """
        return Project.each(self._transport.rows("GET", f"{PREFIX}/projects"))

    def create_project(
        self, name: str, description: str | None = None, llm_based: bool = False
    ) -> Project:
        """Create a project.

        Example:
            >>> client.create_project("walk", "first steps")

        Args:
            name: 1 to 100 characters.
            description: What it is for.
            llm_based: Whether language models are trained in it.

        Raises:
            ArenaValidationError: The name cannot be used, or is taken.
        """
        problem = name_problem("project", name)
        if problem:
            raise ArenaValidationError(problem)
        body = {"name": name, "description": description, "llm_based": llm_based}
        return Project(
            self._transport.document(
                "POST", f"{PREFIX}/projects/create", kind=ArenaValidationError, body=body
            )
        )

    def delete_project(self, name: str) -> None:
        """Delete a project with its experiments.

        Example:
            >>> client.delete_project("walk")
        """
        self._transport.json(
            "DELETE", f"{PREFIX}/projects/delete", kind=ArenaValidationError, body={"name": name}
        )

    def get_default_project(self) -> str | None:
        """Return the project that is used when none is named, or None.

        Example:
            >>> client.get_default_project()
        """
        return self._config.default_project(self._settings.profile)

    def set_default_project(self, name: str) -> None:
        """Remember the project that is used when none is named, for this profile.

        Example:
            >>> client.set_default_project("walk")
        """
        self._config.set_default_project(self._settings.profile, name)

    def list_resources(self) -> Resources:
        """Return what experiments can run on: `{"tiers": {resource_id: {…}}}`.

        Example:
            >>> client.list_resources().tiers["arena-medium"].price_per_node_hour
        """
        path = f"{PREFIX}/resources/list"
        answer = Resources(self._transport.document("GET", path))
        if "tiers" in answer:
            tiers = mapping_of_objects(ArenaAPIError, path, answer.tiers)
            answer.tiers = {key: Tier(tier) for key, tier in tiers.items()}
        return answer
