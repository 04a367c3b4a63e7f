"""Where settings come from: flag or argument, then environment, then profile file, then default.

Files below `~/.arena` (`ARENA_HOME` moves it) are those of the published client: `config.json`,
`credentials.json`, `inference.json`. A profile says which Arena is meant: `hosted`, `local` (the
one on this machine), or one of your own, a section `profiles.<name>` of `config.json`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena_sdk._inference_file import HOSTED_URL, InferenceFile
from arena_sdk._local_server import LocalServer, local_data_dir, local_info_path, local_server
from arena_sdk._stored import arena_home, read_json, section, update_json, write_json
from arena_sdk.errors import ArenaConfigError, ArenaNotRunningError
from arena_sdk.names import name_problem

__all__ = [
    "HOSTED",
    "HOSTED_URL",
    "KEYS",
    "LOCAL",
    "PROFILES",
    "ConfigFile",
    "Identity",
    "InferenceFile",
    "LocalServer",
    "Settings",
    "arena_home",
    "local_data_dir",
    "local_server",
    "read_json",
    "resolve",
    "write_json",
]

HOSTED = "hosted"
LOCAL = "local"
PROFILES = (HOSTED, LOCAL)
"""The profiles that need no section of their own."""
HOSTED_VARIABLES = ("ARENA_BASE_URL", "ARENA_API_KEY", "ARENA_ORG_KEY")
"""Each of these in the environment means that the hosted service is meant."""

MOST_SECONDS = 1e9
"""What a time-out must be below, in seconds: some thirty years, which every clock can add."""

Value = str | float


@dataclass(frozen=True)
class Key:
    """One setting that a profile may hold.

    Attributes:
        what: `address`, `name` or `seconds`.
        default: None where there is none.
        variable: The variable of the environment that goes before the profile.
        help: For people.
    """

    what: str
    default: Value | None
    variable: str | None
    help: str


KEYS: dict[str, Key] = {
    "base_url": Key("address", HOSTED_URL, "ARENA_BASE_URL", "the Arena"),
    "keycloak_url": Key(
        "address", "https://arena-auth.agilerl.com", "ARENA_KEYCLOAK_URL", "its identity server"
    ),
    "realm": Key("name", "arena", None, "realm on the identity server"),
    "client_id": Key("name", "arena-cli", None, "client id on the identity server"),
    "request_timeout": Key("seconds", 30.0, "ARENA_REQUEST_TIMEOUT", "seconds for a request"),
    "upload_timeout": Key("seconds", 300.0, "ARENA_UPLOAD_TIMEOUT", "seconds for an upload"),
    "default_project": Key("name", None, None, "project of commands that name none"),
}


@dataclass(frozen=True)
class Identity:
    """An identity server, and as which client of it people log in."""

    url: str = str(KEYS["keycloak_url"].default)
    realm: str = str(KEYS["realm"].default)
    client_id: str = str(KEYS["client_id"].default)

    def endpoint(self, path: str) -> str:
        """Return the address of one of its OpenID Connect endpoints, as `/token`."""
        from urllib.parse import quote

        return f"{self.url}/realms/{quote(self.realm, safe='')}/protocol/openid-connect{path}"


@dataclass(frozen=True)
class Settings:
    """Which Arena to talk to, and why that one.

    Attributes:
        profile: `hosted`, `local`, or one of your own.
        base_url: Without a slash at its end.
        profile_origin: Where the profile came from, for people.
        url_origin: Where the base URL came from, for people.
        identity: Where people log in.
        request_timeout: Seconds that a request may take.
        upload_timeout: Seconds that an upload may take.
        origins: Where each setting came from, by its key, for people.
        chosen: Whether somebody named the profile; otherwise it was found out.
    """

    profile: str
    base_url: str
    profile_origin: str
    url_origin: str
    identity: Identity = field(default_factory=Identity)
    request_timeout: float = 30.0
    upload_timeout: float = 300.0
    origins: Mapping[str, str] = field(default_factory=dict)
    chosen: bool = False


def resolve(
    profile: str | None = None,
    *,
    base_url: str | None = None,
    has_credential: bool = False,
    **given: Value | None,
) -> Settings:
    """Decide which Arena to talk to, and how.

    Args:
        profile: As given by the caller.
        base_url: As given by the caller.
        has_credential: Whether the caller gave a credential for the hosted Arena.
        **given: Other `KEYS`, as given by the caller.

    Raises:
        ArenaConfigError: An unknown profile, a value that is none, or (`ArenaNotRunningError`)
            `local` with no server.
    """
    config = ConfigFile()
    chosen, origin, named = _profile(config, profile, base_url, has_credential)
    stored = config.values(chosen)
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    for name, key in KEYS.items():
        argument = base_url if name == "base_url" else given.get(name)
        variable = None if chosen == LOCAL and name == "base_url" else key.variable
        value, where = _first(
            (argument, "argument"),
            (os.environ.get(variable) if variable else None, variable or ""),
            (stored.get(name), f"{config.path}, profile {chosen}"),
            (key.default, "default"),
        )
        if value is None:
            continue
        if name == "base_url" and chosen == LOCAL and where != "argument":
            value, where = _running_url(), str(local_info_path())
        values[name], origins[name] = checked_value(name, value, where), where
    return Settings(
        chosen,
        str(values["base_url"]),
        origin,
        origins["base_url"],
        Identity(*(str(values[name]) for name in ("keycloak_url", "realm", "client_id"))),
        float(values["request_timeout"]),
        float(values["upload_timeout"]),
        origins,
        named,
    )


def _first(*candidates: tuple[Any, str]) -> tuple[Any, str]:
    """Return the first value that is given, with where it came from."""
    return next((each for each in candidates if each[0] not in (None, "")), (None, ""))


def _running_url() -> str:
    server = local_server()
    if server is None:
        raise ArenaNotRunningError(
            f"No Arena runs on this machine (looked in {local_data_dir()}).",
            hint_python="Start one: `arena local up --detach`.",
        )
    return server.url


def _profile(
    config: ConfigFile, given: str | None, base_url: str | None, has_credential: bool
) -> tuple[str, str, bool]:
    for value, origin in ((given, "argument"), (os.environ.get("ARENA_PROFILE"), "ARENA_PROFILE")):
        if not value:
            continue
        known = config.profiles()
        if value not in known:
            raise ArenaConfigError(
                f"There is no profile {value!r} ({origin}); there are: {', '.join(known)}.",
                hint_cli=f"`arena --profile {value} config set base_url URL` makes it."
                if profile_name_problem(value) is None
                else None,
            )
        return value, origin, True
    for given_one, origin in (
        (bool(base_url), "a base URL was given"),
        (has_credential, "a credential was given"),
        *((bool(os.environ.get(name)), f"{name} is set") for name in HOSTED_VARIABLES),
        ((arena_home() / "credentials.json").exists(), "there are stored credentials"),
    ):
        if given_one:
            return HOSTED, origin, False
    if local_server() is not None:
        origin = "an Arena runs on this machine and there is no credential for the hosted one"
        return LOCAL, origin, False
    return HOSTED, "default", False


def profile_name_problem(name: str) -> str | None:
    """Return what is wrong with the name of a profile, as a sentence, or None."""
    return name_problem("profile", name)


def checked_value(name: str, value: Any, origin: str) -> Value:
    """Return a setting's value in its type.

    Raises:
        ArenaConfigError: It cannot be the value of that setting; the message says where it is.
    """
    what = KEYS[name].what
    if what == "seconds":
        return seconds(name, value, origin)
    if not isinstance(value, str):
        raise ArenaConfigError(f"{name} must be text, not {value!r} ({origin}).")
    if what == "address":
        return _address(name, value, origin)
    if not value.strip() or not value.isprintable():
        raise ArenaConfigError(f"{value!r} cannot be the {name} ({origin}).")
    return value.strip()


def seconds(name: str, value: Any, origin: str) -> float:
    """Return a time-out as a number.

    Raises:
        ArenaConfigError: It is none above 0; the message says which, and where it is from.
    """
    try:
        number = float(value) if not isinstance(value, bool) else -1.0
    except (TypeError, ValueError):
        number = -1.0
    if not 0 < number < MOST_SECONDS:
        raise ArenaConfigError(
            f"{name} must be a number of seconds above 0 and below {MOST_SECONDS:g}, not {value!r}"
            f" ({origin})."
        )
    return number


def _address(name: str, url: str, origin: str) -> str:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        _check_host(parts.hostname or "")
        usable = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0
            and url.isprintable()
            and " " not in url
        )
    except ValueError:
        usable = False
    what = "base URL" if name == "base_url" else name
    if usable and "@" in parts.netloc:  # httpx would send it in place of the credential
        raise ArenaConfigError(
            f"A {what} holds no user name or password ({origin}); what requests carry to say who"
            " you are is a credential."
        )
    if not usable:
        raise ArenaConfigError(
            f"{url!r} is no {what} ({origin}); it must be like https://arena.example or"
            " http://127.0.0.1:8765."
        )
    return url.rstrip("/")


def _check_host(host: str) -> None:
    """Refuse a host that the system or the HTTP client would stumble over.

    Raises:
        ValueError: It has labels that are empty, too long, or encoded names that are none.
    """
    host.encode("idna")
    if "xn--" in host:
        import idna

        idna.decode(host)


class ConfigFile:
    """`config.json`: the settings of each profile; keys of others are kept.

    The plain `default_project` key is the hosted profile's, as the published client has it;
    everything else lies in `profiles.<name>`.
    """

    def __init__(self, home: Path | None = None) -> None:
        self.path = (home or arena_home()) / "config.json"

    def profiles(self) -> list[str]:
        """Return the names of all profiles, those that always are first."""
        own = read_json(self.path).get("profiles")
        named = sorted(own) if isinstance(own, dict) else []
        return [*PROFILES, *(name for name in named if name not in PROFILES)]

    def values(self, profile: str) -> dict[str, Any]:
        """Return what a profile's section holds of our keys."""
        content = read_json(self.path)
        found = content.get("profiles")
        own = found.get(profile) if isinstance(found, dict) else None
        values = {key: own[key] for key in KEYS if key in own} if isinstance(own, dict) else {}
        if profile == HOSTED:
            values.pop("default_project", None)
            if "default_project" in content:
                values["default_project"] = content["default_project"]
        return values

    def set(self, profile: str, name: str, value: Value) -> None:
        """Give a profile a value; the profile is made when there is none of that name."""

        def change(content: dict[str, Any]) -> None:
            self._section(content, profile, name)[name] = value

        update_json(self.path, change)

    def unset(self, profile: str, name: str) -> bool:
        """Take a value from a profile; tell whether it had it.

        A profile of your own goes with its last value.
        """
        if name not in self.values(profile):
            return False

        def change(content: dict[str, Any]) -> None:
            self._section(content, profile, name).pop(name, None)
            if not section(section(content, "profiles"), profile):
                del content["profiles"][profile]
            if not content["profiles"]:
                del content["profiles"]

        update_json(self.path, change)
        return True

    @staticmethod
    def _section(content: dict[str, Any], profile: str, name: str) -> dict[str, Any]:
        """Return where a value of a profile lies; it is made where there is none."""
        if profile == HOSTED and name == "default_project":
            return content
        return section(section(content, "profiles"), profile)

    def default_project(self, profile: str) -> str | None:
        """Return the default project of a profile."""
        value = self.values(profile).get("default_project")
        return value if isinstance(value, str) and value else None

    def set_default_project(self, profile: str, name: str) -> None:
        """Remember the default project of a profile."""
        self.set(profile, "default_project", name)
