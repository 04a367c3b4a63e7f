"""What every command gets: the global flags, and a client made from them when first needed."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena_sdk import ArenaClient
    from arena_sdk.config import Settings
    from arena_sdk.events import StreamEvent


@dataclass
class Globals:
    """The flags before the command, as given."""

    api_key: str | None = None
    org_key: str | None = None
    external_user_id: str | None = None
    base_url: str | None = None
    keycloak_url: str | None = None
    realm: str | None = None
    client_id: str | None = None
    request_timeout: int | None = None
    upload_timeout: int | None = None
    profile: str | None = None
    verbose: bool = False

    def client(self, on_event: Callable[[StreamEvent], None] | None = None) -> ArenaClient:
        """Make the client that the flags, the environment and the files describe.

        On a terminal it logs in when it needs a credential and there is none.
        """
        from arena_sdk import ArenaClient

        self.show_work()
        return ArenaClient(
            self.api_key,
            org_key=self.org_key,
            external_user_id=self.external_user_id,
            on_event=on_event,
            interactive=_somebody_is_there(),
            profile=self.profile,
            **self._places(),
        )

    def settings(self) -> Settings:
        """Return what the flags, the environment and the files come to."""
        from arena_sdk.config import resolve

        given = bool(self.api_key or self.org_key)
        return resolve(self.profile, has_credential=given, **self._places())

    def show_work(self) -> None:
        """Let the SDK write to stderr what it does if that was asked for, and warnings anyway."""
        from arena_sdk._logs import show

        if self.verbose:
            show("info")
        elif not os.environ.get("ARENA_LOG"):
            show("warning")

    def _places(self) -> dict[str, Any]:
        return {
            "base_url": self.base_url,
            "keycloak_url": self.keycloak_url,
            "realm": self.realm,
            "client_id": self.client_id,
            "request_timeout": self.request_timeout,
            "upload_timeout": self.upload_timeout,
        }


def _somebody_is_there() -> bool:
    """Tell whether a person can read what we write and log in; not so while a shell completes."""
    if os.environ.get("_ARENA_COMPLETE"):
        return False
    return sys.stdin.isatty() and sys.stderr.isatty()


pass_globals = click.make_pass_decorator(Globals, ensure=True)


def confirm_or_refuse(question: str, *, yes: bool) -> None:
    """Ask before something is lost; where nobody can answer, `--yes` must have been given.

    Raises:
        click.UsageError: There is no terminal to ask on and `--yes` was not given.
        Failure: The answer was no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} Give --yes to go on without being asked.")
    if not click.confirm(question, err=True):
        from arena_sdk.cli.exits import Failure

        raise Failure("You answered no; nothing was deleted.")
