# Made by `python -m arena_sdk._unasync` from arena_sdk/_async/keeper.py; change that one.
"""The keeper of a client's credential: renews it in time, and knows what to do when it is rejected.

A login is renewed under a lock on its file, and the file is read again under that lock: whoever
comes second, in this process or another one, finds the new tokens there and asks for none.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from arena_sdk import oauth
from arena_sdk._local_server import has_died, local_info_path
from arena_sdk._logs import logger
from arena_sdk._pause import Action, blocking_shielded, blocking_sleep
from arena_sdk._sync.identity import IdentityServer
from arena_sdk.config import LOCAL, Settings
from arena_sdk.credentials import KEY, LOGIN, Credential, Tokens, TokenStore, is_embedded, stored
from arena_sdk.errors import (
    ArenaAPIError,
    ArenaAuthError,
    ArenaConfigError,
    ArenaError,
    ArenaNotRunningError,
)

LONGEST_RENEWAL = 60.0
"""Seconds to wait while another process renews the same login."""
REVOCATION_TIMEOUT = 5.0


class Keeper:
    """Keeps the credential of one client.

    Args:
        settings: Which Arena, and which identity server.
        credential: What requests carry at first, or None.
        problem: Why there is none, when it is more than that nobody gave one.

    Attributes:
        credential: What requests carry now.
        on_missing: Called when there is no credential and one is needed; it logs in.
    """

    def __init__(
        self,
        settings: Settings,
        credential: Credential | None,
        problem: ArenaConfigError | None = None,
    ) -> None:
        self.credential = credential
        self.on_missing: Action | None = None
        self._settings = settings
        self._problem = problem
        self._store = TokenStore(settings)
        self._skew = 0.0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.credential!r})"

    def current(self) -> Credential:
        """Return the credential as it is.

        Raises:
            ArenaAuthError: There is none.
            ArenaConfigError: The file that should hold it cannot be read.
        """
        if self._problem is not None:
            raise self._problem
        if self.credential is None:
            self._look_for_a_dead_arena()
            raise ArenaAuthError(
                f"There is no credential for {self._settings.base_url}.",
                hint_python="Pass api_key=…, set ARENA_API_KEY, or call client.login().",
                hint_cli="Set ARENA_API_KEY or run `arena login`; or start an Arena on this"
                " machine: `arena local up --detach`.",
            )
        return self.credential

    def _look_for_a_dead_arena(self) -> None:
        """Say so where the Arena of this machine was meant, and it has ended unexpectedly.

        It is meant where nothing names another one and it has not been ended with `arena local
        down`, which would have removed its file.
        """
        origins = (self._settings.profile_origin, self._settings.url_origin)
        if origins == ("default", "default") and has_died():
            raise ArenaNotRunningError(
                "The Arena of this machine is not running: it ended unexpectedly"
                f" (its file {local_info_path()} is still there).",
                hint_python="Start it again: `arena local up --detach`. For the hosted Arena"
                " name a credential, or profile='hosted'.",
                hint_cli="Start it again: `arena local up --detach`. For the hosted Arena run"
                " `arena login`.",
            )

    def ready(self) -> Credential:
        """Return the credential for a request that is about to be sent; renew it when it is due.

        Raises:
            ArenaAuthError: There is none, or it is a login that has ended.
            ArenaAPIError: It has ended, and the identity server cannot be reached.
        """
        if self.credential is None and self._problem is None and self.on_missing is not None:
            self._look_for_a_dead_arena()
            self.on_missing()
        credential = self.current()
        if credential.kind == LOGIN and oauth.is_due(credential.secret, self._skew):
            try:
                self._renew(credential)
            except ArenaAPIError as error:
                if oauth.has_ended(credential.secret, self._skew):
                    raise
                logger.info("%s The access token is still good and is used.", error)
        return self.current()

    def recover(self, rejected: Credential) -> bool:
        """Find another credential than one that the service has rejected.

        A login is renewed; a key gives way to the login that is stored. On the Arena of this
        machine neither is done: its token is all there is.

        Returns:
            Whether the request is worth sending again.

        Raises:
            ArenaAuthError: It was a login, and it has ended.
        """
        if self.credential is not rejected:
            return True  # somebody else has seen to it
        if rejected.kind == LOGIN:
            self._renew(rejected)
            return self.credential is not rejected
        if rejected.kind != KEY or is_embedded(self._settings):
            return False
        login = stored(self._settings)
        if login is None:
            return False
        logger.warning(
            "%s rejects the key from %s; going on with the login stored in %s.",
            self._settings.base_url,
            rejected.origin,
            login.origin,
        )
        self.credential = login
        return True

    def explain(self, error: ArenaError) -> None:
        """Say in an error's hints which credential was rejected."""
        if self.credential is None or error.hint_python is None:
            return
        which = f"The credential from {self.credential.origin} was rejected."
        error.hint_cli = f"{which} {error.hint_cli}"
        error.hint_python = f"{which} {error.hint_python}"

    def keep(self, answer: dict[str, Any]) -> None:
        """Store the tokens of a login that was just made, and use them from now on."""
        with self._locked():
            tokens = self._store.write(answer)
        if tokens is None:
            raise ArenaAuthError(f"{self._settings.identity.url} gave no access token.")
        self._problem = None
        self._skew = oauth.skew_of(tokens.access)
        self._adopt(tokens)

    def forget(self) -> bool:
        """Remove the tokens of a login from this machine, then revoke them; tell if there were any.

        They are removed first, and whatever the network does.
        """
        if self._settings.profile == LOCAL:
            return False
        with self._locked():
            try:
                tokens = self._store.read()
            except ArenaConfigError:
                tokens = None  # whatever is in there, it is to go
            was_there = self._store.remove()
        self._problem = None
        if self.credential is not None and self.credential.kind == LOGIN:
            self.credential = None
        if tokens is not None and tokens.refresh is not None:
            self._revoke(tokens.refresh)
        return was_there

    def _revoke(self, refresh_token: str) -> None:
        try:
            identity = self._settings.identity
            with IdentityServer(identity, REVOCATION_TIMEOUT) as server:
                server.revoke(refresh_token)
        except (ArenaAPIError, ArenaAuthError, ArenaConfigError) as error:
            logger.warning(
                "The tokens are gone from this machine, but were not revoked: %s They end by"
                " themselves.",
                error,
            )

    def _renew(self, ending: Credential) -> None:
        """Replace a login's access token by a new one, or by what another process has stored.

        Whoever is cancelled while this goes on does not end it: a refresh token that has been used
        may be worth nothing, so what came for it must be stored.
        """
        self._adopt(blocking_shielded(self._renewed_login(ending)))

    def _renewed_login(self, ending: Credential) -> Tokens:
        with self._locked():
            tokens = self._usable(self._store.read(), ending)
            if tokens.access == ending.secret or oauth.is_due(tokens.access, self._skew):
                tokens = self._renewed(tokens)
        return tokens

    def _renewed(self, tokens: Tokens) -> Tokens:
        """Ask for new tokens and store them; the lock is held."""
        if tokens.refresh is None:
            raise self._ended("it cannot be renewed: there is no refresh token")
        logger.info("Renewing the login stored in %s.", self._store.path)
        identity = self._settings.identity
        try:
            with IdentityServer(identity, self._settings.request_timeout) as server:
                answer = server.renew(tokens.refresh)
        except ArenaAuthError as error:
            # A program that does not know of our lock may have been quicker with the same token.
            newer = self._store.read()
            if newer is not None and newer.access != tokens.access:
                return newer
            raise self._ended(str(error).rstrip(".")) from None
        renewed = self._store.write({**tokens.answer, **answer})
        if renewed is None:
            raise self._ended("the identity server gave no access token")
        self._skew = oauth.skew_of(renewed.access)
        return renewed

    def _usable(self, tokens: Tokens | None, ending: Credential) -> Tokens:
        if tokens is None:
            raise self._ended(f"there are no tokens in {ending.origin} any more")
        return tokens

    def _ended(self, reason: str) -> ArenaAuthError:
        return ArenaAuthError(
            f"The login stored in {self._store.path} has ended: {reason}.",
            status_code=401,
            hint_python="Call client.login() to log in again.",
            hint_cli="Run `arena login` to log in again.",
        )

    def _adopt(self, tokens: Tokens) -> None:
        self.credential = tokens.credential(str(self._store.path))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock on the tokens' file."""
        lock = self._store.lock()
        deadline = time.monotonic() + LONGEST_RENEWAL
        while not lock.take():
            if time.monotonic() > deadline:
                raise ArenaConfigError(
                    f"Another process keeps {lock.path} locked; end it, or try again."
                )
            blocking_sleep(0.02)
        try:
            yield
        finally:
            lock.release()
