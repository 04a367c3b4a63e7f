"""What commands that talk to a deployed agent share: which one is meant, and an open connection."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arena_sdk.cli.context import Globals
from arena_sdk.cli.names import complete

if TYPE_CHECKING:
    from arena_sdk import Agent

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True)
class Meant:
    """Which deployment is meant; the names narrow down where several are called alike."""

    name: str
    experiment_name: str | None = None
    project_name: str | None = None
    refresh: bool = False


def deployment_options(command: Decorated) -> Decorated:
    """Add the options that narrow a deployment down and look its address up afresh."""
    for option in (
        click.option("--refresh", is_flag=True, help="Look the address up afresh."),
        click.option(
            "--experiment-name",
            shell_complete=complete("experiment"),
            help="Only an agent of this experiment.",
        ),
        click.option(
            "--project-name",
            shell_complete=complete("project"),
            help="Only an agent of this project.",
        ),
    ):
        command = option(command)
    return command


def meant(
    deployment: str | None,
    *,
    refresh: bool = False,
    experiment_name: str | None = None,
    project_name: str | None = None,
) -> Meant:
    """Return the deployment that was named, or the active one.

    Raises:
        click.UsageError: None was named and none is active.
    """
    if deployment is not None:
        return Meant(deployment, experiment_name, project_name, refresh)
    from arena_sdk.config import InferenceFile

    active = InferenceFile().active_agent() or {}
    name = active.get("deployment")
    if not isinstance(name, str) or not name:
        raise click.UsageError(
            "No agent is active: name a deployment, or choose one with `arena agent run NAME`."
        )
    return Meant(
        name,
        experiment_name or active.get("experiment_name"),
        project_name or active.get("project_name"),
        refresh,
    )


@contextlib.contextmanager
def opened(flags: Globals, which: Meant) -> Iterator[Agent]:
    """Connect to a deployed agent; what kind it is is known then."""
    with (
        flags.client() as client,
        client.open_inference_agent(
            which.name,
            refresh=which.refresh,
            experiment_name=which.experiment_name,
            project_name=which.project_name,
        ) as agent,
    ):
        yield agent


class Conversations:
    """Which conversation goes on with each deployment: `active_sessions` of `inference.json`.

    The published client keeps it there too. The name of a conversation is no secret, so unlike
    addresses it is not kept apart by service.
    """

    KEY = "active_sessions"

    def __init__(self) -> None:
        from arena_sdk.config import InferenceFile

        self._path = InferenceFile().path

    def current(self, deployment: str) -> str | None:
        """Return the conversation that goes on with a deployment, or None."""
        value = self._sessions(self._read()).get(deployment)
        return value if isinstance(value, str) and value else None

    def remember(self, deployment: str, session_id: str) -> None:
        """Let a conversation be the one that goes on."""
        self._update(lambda sessions: sessions.update({deployment: session_id}))

    def forget(self, deployment: str) -> str | None:
        """Let the next prompt begin a new conversation; return the one that went on."""
        found = self.current(deployment)
        if found is not None:
            self._update(lambda sessions: sessions.pop(deployment, None))
        return found

    def _sessions(self, content: dict[str, Any]) -> dict[str, Any]:
        sessions = content.get(self.KEY)
        return sessions if isinstance(sessions, dict) else {}

    def _read(self) -> dict[str, Any]:
        from arena_sdk.config import read_json

        return read_json(self._path)

    def _update(self, change: Callable[[dict[str, Any]], Any]) -> None:
        from arena_sdk._stored import section, update_json

        update_json(self._path, lambda content: change(section(content, self.KEY)))
