"""Experiments by name, on services that have details of one and on those that only list them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena_sdk.cli.exits import NOT_FOUND, Failure

if TYPE_CHECKING:
    from arena_sdk import ArenaClient


def experiment(client: ArenaClient, name: str) -> dict[str, Any]:
    """Return one experiment: with its manifest where the service gives it, else its row.

    Raises:
        Failure: No project has an experiment of that name.
    """
    if "experiment_details" in client.capabilities():
        return dict(client.get_experiment(name))
    default = client.get_default_project()
    projects = [default] if default else []
    projects += [
        project
        for project in (row.get("name") for row in client.list_projects())
        if isinstance(project, str) and project != default
    ]
    for project in projects:
        for row in client.list_experiments(project):
            if row.get("name") == name:
                return {"project": project, **row}
    raise Failure(
        f"No experiment is named {name!r}: `arena experiments list` shows them.", NOT_FOUND
    )


def state_of(row: dict[str, Any]) -> str:
    """Return an experiment's state, whatever the service calls the key and however it spells it."""
    return str(row.get("state") or row.get("status") or "").lower()
