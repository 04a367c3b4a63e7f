"""`arena login`, `arena logout`, `arena whoami`, `arena user`."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import click

from arena_sdk.cli.commands import Command, Group
from arena_sdk.cli.context import Globals, pass_globals
from arena_sdk.cli.output import Sink, note, with_sink

NOTHING_TO_LOG_IN_TO = "The Arena on this machine needs no login: its token is read from its files."


def _for_login(flags: Globals) -> Globals:
    """Return the flags for logging in or out, which nobody does at the Arena on this machine.

    That one is meant when it is named; without a name it would be found only because there is no
    login yet.
    """
    if flags.profile or os.environ.get("ARENA_PROFILE"):
        return flags
    return dataclasses.replace(flags, profile="hosted")


@click.command(cls=Command)
@click.option("--force", is_flag=True, help="Log in again even when there is a good credential.")
@click.option(
    "--timeout", type=click.IntRange(min=1), default=300, show_default=True, help="Seconds to wait."
)
@click.option(
    "--browser/--no-browser",
    default=None,
    help="Whether to open a browser; else where one would be seen.",
)
@pass_globals
def login(flags: Globals, force: bool, timeout: int, browser: bool | None) -> None:
    """Log in to hosted Arena; the address and the code are printed first.

    Open the address in any browser, on this machine or another one.

    Example: arena login --no-browser
    """
    from arena_sdk.config import LOCAL

    with _for_login(flags).client() as client:
        if client.profile == LOCAL:
            note(NOTHING_TO_LOG_IN_TO)
            return
        before = client.credential_origin
        client.login(force=force, timeout=timeout, open_browser=browser)
        after, where = client.credential_origin, client.base_url
    if before == after and not force:
        note(f"Already logged in at {where}, with the credential from {after}.")
        return
    note(f"Logged in at {where}; the tokens are in {after}.")
    _warn_of_keys()


def _warn_of_keys() -> None:
    """Say which variable goes before a login, so that nobody is surprised who they are."""
    for name in ("ARENA_ORG_KEY", "ARENA_API_KEY"):
        if os.environ.get(name):
            note(f"{name} is set and goes before this login; unset it to use the login.")
            return


@click.command(cls=Command)
@pass_globals
def logout(flags: Globals) -> None:
    """Log out: forget the stored tokens and revoke them.

    Example: arena logout
    """
    from arena_sdk.config import LOCAL
    from arena_sdk.credentials import TokenStore

    flags = _for_login(flags)
    with flags.client() as client:
        if client.profile == LOCAL:
            note(NOTHING_TO_LOG_IN_TO)
            return
        there = TokenStore(client.settings).path.exists()
        client.logout()
    note("Logged out." if there else "There was no login to forget.")
    for name in ("ARENA_ORG_KEY", "ARENA_API_KEY"):
        if os.environ.get(name):
            note(f"{name} is still set and will be used.")


@click.command(cls=Command)
@with_sink
@pass_globals
def whoami(flags: Globals, sink: Sink) -> None:
    """Show which Arena is in use, with which credential, and as whom.

    Example: arena whoami -o json
    """
    with flags.client() as client:
        account = client.get_current_user()
        found: dict[str, Any] = {
            "profile": client.profile,
            "profile_origin": client.settings.profile_origin,
            "base_url": client.base_url,
            "base_url_origin": client.settings.url_origin,
            "credential": client.credential_masked,
            "credential_origin": client.credential_origin,
        }
        if client.external_user_id is not None:
            found["external_user_id"] = client.external_user_id
    names = [account.get("first_name"), account.get("last_name")]
    found["name"] = " ".join(str(name) for name in names if name) or None
    found["email"] = account.get("email")
    found["account"] = account
    sink.one(found, [key for key in found if key != "account"])


@click.group(cls=Group)
def user() -> None:
    """Show who you are and what credits are left.

    Example: arena user credits
    """


@user.command()
@with_sink
@pass_globals
def profile(flags: Globals, sink: Sink) -> None:
    """Show your account.

    Example: arena user profile -o json
    """
    with flags.client() as client:
        sink.one(client.get_current_user())


@user.command(name="credits")
@with_sink
@pass_globals
def credits_(flags: Globals, sink: Sink) -> None:
    """Show the credits that are left.

    Example: arena user credits
    """
    with flags.client() as client:
        answer = client.get_user_credits()
    if isinstance(answer, dict):
        sink.one(answer)
    else:
        sink.value(answer)
