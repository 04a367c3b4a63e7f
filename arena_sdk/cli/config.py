"""`arena config`: each setting, where it came from, and how to change it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from arena_sdk.cli.commands import Group
from arena_sdk.cli.context import Globals, pass_globals
from arena_sdk.cli.exits import NOT_FOUND, Failure
from arena_sdk.cli.output import Sink, note, with_sink

if TYPE_CHECKING:
    from arena_sdk.config import Settings, Value

SECRETS = ("api_key", "org_key", "access_token", "refresh_token", "token")
"""Names that people try to set, and that no settings file should hold."""


@click.group(cls=Group)
def config() -> None:
    """Show and change settings, and where each came from.

    A flag goes before the environment, that before the profile's section of config.json, and that
    before the default.

    Example: arena config show
    """


@config.command()
@with_sink
@pass_globals
def show(flags: Globals, sink: Sink) -> None:
    """Show every setting that is in force, and where it came from; secrets are masked.

    Example: arena config show -o json
    """
    sink.rows(_in_force(flags), ("key", "value", "origin"))


@config.command()
@click.argument("key")
@with_sink
@pass_globals
def get(flags: Globals, sink: Sink, key: str) -> None:
    """Print one setting that is in force; exit 4 when it has no value.

    Example: arena config get base_url
    """
    rows = _in_force(flags)
    found = next((row for row in rows if row["key"] == key), None)
    if found is None:
        raise click.UsageError(
            f"There is no setting {key!r}; there are: {', '.join(row['key'] for row in rows)}."
        )
    if found["value"] is None:
        raise Failure(f"{key} has no value.", NOT_FOUND)
    if sink.format == "table":
        sink.value(str(found["value"]))
    else:
        sink.one(found)


@config.command(name="set")
@click.argument("key")
@click.argument("value")
@pass_globals
def set_(flags: Globals, key: str, value: str) -> None:
    """Give the profile a value; a profile of your own is made by its first one.

    Example: arena --profile work config set base_url https://arena.example
    """
    from arena_sdk.config import LOCAL, ConfigFile, checked_value, profile_name_problem

    _check_key(key)
    profile = _changed_profile(flags)
    problem = profile_name_problem(profile)
    if problem is not None:
        raise click.UsageError(problem)
    if profile == LOCAL and key == "base_url":
        raise click.UsageError(
            "The address of the Arena on this machine is read from its files; to keep another one,"
            " use a profile of your own: arena --profile NAME config set base_url URL"
        )
    checked = checked_value(key, value, "the value given")
    file = ConfigFile()
    file.set(profile, key, _tidy(checked))
    note(f"{key} is now {_tidy(checked)} in profile {profile} ({file.path}).")
    _warn_of_variable(key)


@config.command()
@click.argument("key")
@pass_globals
def unset(flags: Globals, key: str) -> None:
    """Take a value from the profile, so that the default holds again.

    Example: arena config unset request_timeout
    """
    from arena_sdk.config import ConfigFile

    _check_key(key)
    profile, file = _changed_profile(flags), ConfigFile()
    if not file.unset(profile, key):
        raise Failure(f"Profile {profile} does not set {key} ({file.path}).", NOT_FOUND)
    note(f"{key} is no longer set in profile {profile} ({file.path}).")
    _warn_of_variable(key)


@config.command()
@with_sink
@pass_globals
def profiles(flags: Globals, sink: Sink) -> None:
    """List the profiles and what each sets; the one in use is marked.

    Example: arena config profiles
    """
    from arena_sdk.config import KEYS, ConfigFile

    file, used = ConfigFile(), flags.settings().profile
    rows = []
    for name in file.profiles():
        values = file.values(name)
        rows.append(
            {"name": name, "in_use": name == used, **{key: values.get(key) for key in KEYS}}
        )
    sink.rows(rows, ("name", "in_use", "base_url", "default_project"))


def _check_key(key: str) -> None:
    from arena_sdk.config import KEYS

    if key in SECRETS:
        raise click.UsageError(
            f"{key} is a secret and belongs in no settings file; set ARENA_API_KEY, or run"
            " `arena login`."
        )
    if key not in KEYS:
        raise click.UsageError(f"There is no setting {key!r}; there are: {', '.join(KEYS)}.")


def _changed_profile(flags: Globals) -> str:
    """Return the profile that a change is for: the named one, else the hosted one.

    What commands would find out today may be another one tomorrow.
    """
    from arena_sdk.config import HOSTED

    return flags.profile or os.environ.get("ARENA_PROFILE") or HOSTED


def _in_force(flags: Globals) -> list[dict[str, Any]]:
    from arena_sdk._stored import arena_home
    from arena_sdk.config import KEYS, ConfigFile

    settings = flags.settings()
    identity = settings.identity
    values: dict[str, Value | None] = {
        "base_url": settings.base_url,
        "keycloak_url": identity.url,
        "realm": identity.realm,
        "client_id": identity.client_id,
        "request_timeout": _tidy(settings.request_timeout),
        "upload_timeout": _tidy(settings.upload_timeout),
        "default_project": ConfigFile().default_project(settings.profile),
    }
    rows = [_row("profile", settings.profile, settings.profile_origin)]
    rows += [_row(key, values[key], settings.origins.get(key)) for key in KEYS]
    rows += _credential(flags, settings)
    given = os.environ.get("ARENA_HOME")
    rows.append(_row("home", str(arena_home()), "ARENA_HOME" if given else "default"))
    rows.append(_row("log", os.environ.get("ARENA_LOG") or None, "ARENA_LOG"))
    return rows


def _credential(flags: Globals, settings: Settings) -> list[dict[str, Any]]:
    from arena_sdk.credentials import find

    found = find(
        settings,
        api_key=flags.api_key,
        org_key=flags.org_key,
        external_user_id=flags.external_user_id,
    )
    if found is None:
        return [_row("credential", None, None)]
    rows = [_row("credential", found.masked, found.origin)]
    if found.external_user_id is not None:
        rows.append(_row("external_user_id", found.external_user_id, found.origin))
    return rows


def _row(key: str, value: Value | None, origin: str | None) -> dict[str, Any]:
    return {"key": key, "value": value, "origin": None if value is None else origin}


def _tidy(value: Value) -> Value:
    """Return a whole number of seconds without a point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _warn_of_variable(key: str) -> None:
    from arena_sdk.config import KEYS

    variable = KEYS[key].variable
    if variable and os.environ.get(variable):
        note(f"{variable} is set and goes before the profile.")
