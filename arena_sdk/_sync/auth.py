# Made by `python -m arena_sdk._unasync` from arena_sdk/_async/auth.py; change that one.
"""Login and logout."""

from __future__ import annotations

from collections.abc import Callable

from arena_sdk import oauth
from arena_sdk._logs import logger
from arena_sdk._pause import blocking_call
from arena_sdk._sync.base import Endpoints
from arena_sdk._sync.identity import IdentityServer
from arena_sdk.credentials import LOGIN, is_embedded
from arena_sdk.errors import ArenaAuthError
from arena_sdk.oauth import DeviceCode


class Login(Endpoints):
    """Who may use the service on whose behalf."""

    def login(
        self,
        *,
        timeout: float = 300,
        force: bool = False,
        on_code: Callable[[DeviceCode], None] | None = None,
        open_browser: bool | None = None,
    ) -> None:
        """Log in, unless there is a credential already.

        The address to open and the code come first, always: it works over ssh and in a container,
        with a browser on any other machine. Tokens are stored in `credentials.json`.

            client.login(on_code=lambda code: print(code.address, code.user_code))

        Args:
            timeout: Seconds that a login may take.
            force: Log in again although there is a credential.
            on_code: Shows what to do, as `code.instructions()` says it; written to standard error
                when None.
            open_browser: Whether to try to open a browser; when None, where one would be seen.

        Raises:
            ArenaTimeoutError: Nobody approved the login in time.
            ArenaAuthError: It was denied, or the identity server refuses.
            ArenaAPIError: The identity server cannot be reached.
        """
        if is_embedded(self._settings):
            return  # holding the token of this machine's Arena is all there is to it
        if not force and self._is_logged_in():
            return
        keeper = self._transport.keeper
        identity = self._settings.identity
        with IdentityServer(identity, self._transport.request_timeout) as server:
            code = server.begin()
            (on_code or oauth.print_instructions)(code)
            if oauth.may_open_browser() if open_browser is None else open_browser:
                opened = blocking_call(oauth.open_browser, code.address)
                logger.info("A browser %s.", "was opened" if opened else "could not be opened")
            answer = server.approved(code, timeout)
        keeper.keep(answer)

    def _is_logged_in(self) -> bool:
        """Tell whether there is a credential; of a login, whether it can still be renewed."""
        credential = self._transport.credential
        if credential is None:
            return False
        if credential.kind == LOGIN:
            try:
                self._transport.keeper.ready()
            except ArenaAuthError:
                return False
        return True

    def logout(self) -> None:
        """Forget the tokens of an earlier login on this machine, and revoke them.

        They are removed here whatever the network does. A key that was given stays what it is.

        Raises:
            ArenaConfigError: Their file cannot be removed.
        """
        self._transport.keeper.forget()
