"""Which credential a request carries, in the order of the contract, and where it came from.

    1  an organisation key with an external user id, or the `api_key` argument
    2  the embedded Arena's token, when the profile is `local`
    3  `ARENA_ORG_KEY` with `ARENA_EXTERNAL_USER_ID`, then `ARENA_API_KEY`
    4  the embedded Arena's token, when its address was given in another way
    5  the tokens of an earlier login (`credentials.json`)

A key for the hosted Arena that lies in the environment is so never sent to the embedded one when
that one was asked for by name. What is left when there is none of these is a login.

The tokens of a login are kept here; getting and renewing them belongs to `_async/keeper.py`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena_sdk._stored import FileLock, arena_home, read_json, write_json
from arena_sdk.config import HOSTED, LOCAL, Identity, Settings, local_server, resolve
from arena_sdk.errors import ArenaAuthError, ArenaConfigError

KEY, ORGANISATION, EMBEDDED, LOGIN = "key", "organisation", "embedded", "login"
"""Kinds of credentials."""


@dataclass(frozen=True)
class Credential:
    """A secret and where it came from.

    Attributes:
        secret: What follows `Bearer`; not shown in representations.
        origin: For people.
        external_user_id: Goes with an organisation key.
        kind: `key`, `organisation`, `embedded` (this machine's Arena) or `login`.
    """

    secret: str = field(repr=False)
    origin: str
    external_user_id: str | None = None
    kind: str = KEY

    def headers(self) -> dict[str, str]:
        """Return the headers that a request carries."""
        found = {"Authorization": f"Bearer {self.secret}"}
        if self.external_user_id is not None:
            found["X-External-User-Id"] = self.external_user_id
        return found

    @property
    def masked(self) -> str:
        """The secret as it may be shown: enough to tell it from another, not to use it."""
        return masked(self.secret)


def masked(secret: str) -> str:
    """Return a secret as it may be shown: its kind and, of a long one, its last characters."""
    kind = next(
        (mark for mark in ("arena_pat_", "arena_org_", "eyJ") if secret.startswith(mark)), ""
    )
    return f"{kind}…{secret[-4:]}" if len(secret) >= len(kind) + 16 else f"{kind}…"


def find(
    settings: Settings,
    *,
    api_key: str | None = None,
    org_key: str | None = None,
    external_user_id: str | None = None,
) -> Credential | None:
    """Return the credential for an Arena, or None when there is none.

    Raises:
        ArenaConfigError: Half of an organisation's pair, a secret that no header can carry, or a
            credentials file that cannot be read.
    """
    found = (
        _organisation(org_key, external_user_id, "argument")
        or _plain(api_key, "argument")
        or (_embedded(settings) if settings.profile == LOCAL else None)
        or _organisation(
            os.environ.get("ARENA_ORG_KEY"),
            os.environ.get("ARENA_EXTERNAL_USER_ID"),
            "ARENA_ORG_KEY",
        )
        or _plain(os.environ.get("ARENA_API_KEY"), "ARENA_API_KEY")
        or _embedded(settings)
        or stored(settings)
    )
    if found is not None and not all(map(_fits_a_header, found.headers().values())):
        raise ArenaConfigError(
            f"The credential from {found.origin} has characters that no HTTP header can carry."
        )
    return found


def for_agent(
    endpoint: str, api_key: str | None, org_key: str | None, external_user_id: str | None
) -> Credential:
    """Return the credential for an agent whose address is all that is known.

    Raises:
        ArenaAuthError: There is none.
    """
    found = find(
        resolve(base_url=endpoint),
        api_key=api_key,
        org_key=org_key,
        external_user_id=external_user_id,
    )
    if found is None:
        raise ArenaAuthError(
            f"There is no credential for the agent at {endpoint}.",
            hint_python="Pass api_key=…, or open it with client.open_inference_agent(name).",
        )
    return found


def _fits_a_header(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _plain(secret: str | None, origin: str, kind: str = KEY) -> Credential | None:
    if not secret or not secret.strip():
        return None
    return Credential(secret.strip(), origin, kind=kind)


def _organisation(key: str | None, user: str | None, origin: str) -> Credential | None:
    if not key and not user:
        return None
    if not (key and user):
        missing = "an organisation key" if user else "an external user id"
        raise ArenaConfigError(
            f"An organisation key and an external user id go together; {missing} is missing"
            f" ({origin}).",
            hint_python="Pass org_key and external_user_id, or neither.",
            hint_cli="Give --org-key and --external-user-id, or set ARENA_ORG_KEY and"
            " ARENA_EXTERNAL_USER_ID.",
        )
    return Credential(key.strip(), origin, user.strip(), ORGANISATION)


def is_embedded(settings: Settings) -> bool:
    """Tell whether these settings mean this machine's Arena, whichever way its address came."""
    if settings.profile == LOCAL:
        return True
    server = local_server()
    return server is not None and server.url == settings.base_url


def _embedded(settings: Settings) -> Credential | None:
    """Return the embedded Arena's token when it is that Arena that will be talked to."""
    server = local_server()
    if server is None or server.url != settings.base_url:
        return None
    return _plain(server.token, "the token of the Arena on this machine", EMBEDDED)


def stored(settings: Settings) -> Credential | None:
    """Return the access token of an earlier login to an Arena, or None.

    Raises:
        ArenaConfigError: The file that would hold it cannot be read.
    """
    if settings.profile == LOCAL:
        return None
    store = TokenStore(settings)
    tokens = store.read()
    return None if tokens is None else tokens.credential(str(store.path))


@dataclass(frozen=True)
class Tokens:
    """The tokens of a login, as the identity server gave them.

    Attributes:
        access: What requests carry.
        refresh: What renews it; None where the server gives none.
        answer: The whole answer.
    """

    access: str = field(repr=False)
    refresh: str | None = field(repr=False)
    answer: dict[str, Any] = field(repr=False)

    @classmethod
    def read(cls, answer: dict[str, Any]) -> Tokens | None:
        """Read an answer of the identity server, or a file; None when it has no access token."""
        access, refresh = answer.get("access_token"), answer.get("refresh_token")
        if not isinstance(access, str) or not access.strip():
            return None
        if not isinstance(refresh, str) or not refresh:
            refresh = None
        return cls(access.strip(), refresh, answer)

    def credential(self, origin: str) -> Credential:
        """Return what requests carry."""
        return Credential(self.access, origin, kind=LOGIN)


ISSUED_BY = "identity_server"
"""Key of a credentials file for where its tokens are from, when that is not the hosted one.

The published client leaves it alone.
"""


class TokenStore:
    """The file that keeps the tokens of a profile's login.

    The plain `credentials.json` is the hosted profile's, in the published client's format, and of
    those profiles whose identity server is the hosted one. Every other profile has a file of its
    own, and tokens that another identity server issued are not there at all: they would only be
    given away.

    Args:
        settings: Which profile, and which identity server.
    """

    def __init__(self, settings: Settings) -> None:
        self._identity = settings.identity
        shared = settings.profile == HOSTED or settings.identity == Identity()
        name = "credentials.json" if shared else f"credentials-{settings.profile}.json"
        self.path: Path = arena_home() / name

    def read(self) -> Tokens | None:
        """Return the tokens; None when there are none, or they are another server's.

        Raises:
            ArenaConfigError: The file cannot be read.
        """
        content = read_json(self.path)
        if content.get(ISSUED_BY, self._issuer) != self._issuer:
            return None
        return Tokens.read(content)

    def write(self, answer: dict[str, Any]) -> Tokens | None:
        """Keep an answer of the identity server.

        Raises:
            ArenaConfigError: The file cannot be written.
        """
        content = dict(answer)
        if self._identity != Identity():
            content[ISSUED_BY] = self._issuer
        write_json(self.path, content)
        return Tokens.read(content)

    def remove(self) -> bool:
        """Forget the tokens; tell whether there were any.

        Raises:
            ArenaConfigError: The file cannot be removed.
        """
        try:
            self.path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise ArenaConfigError(f"{self.path} cannot be removed: {error.strerror}.") from None
        return True

    def lock(self) -> FileLock:
        """Return the lock to hold while tokens are renewed."""
        return FileLock(self.path)

    @property
    def _issuer(self) -> str:
        return self._identity.endpoint("")
