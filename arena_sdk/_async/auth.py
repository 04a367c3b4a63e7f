"""Login and logout."""

from __future__ import annotations

from collections.abc import Callable

from arena_sdk import oauth
from arena_sdk._async.base import AsyncEndpoints
from arena_sdk._async.identity import AsyncIdentityServer
from arena_sdk._logs import logger
from arena_sdk._pause import async_call
from arena_sdk.credentials import LOGIN, is_embedded
from arena_sdk.errors import ArenaAuthError
from arena_sdk.oauth import DeviceCode


class AsyncLogin(AsyncEndpoints):
    """Who may use the service on whose behalf."""

    async def login(
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
        if not force and await self._is_logged_in():
            return
        keeper = self._transport.keeper
        identity = self._settings.identity
        async with AsyncIdentityServer(identity, self._transport.request_timeout) as server:
            code = await server.begin()
            (on_code or oauth.print_instructions)(code)
            if oauth.may_open_browser() if open_browser is None else open_browser:
                opened = await async_call(oauth.open_browser, code.address)
                logger.info("A browser %s.", "was opened" if opened else "could not be opened")
            answer = await server.approved(code, timeout)
        await keeper.keep(answer)

    async def _is_logged_in(self) -> bool:
        """Tell whether there is a credential; of a login, whether it can still be renewed."""
        credential = self._transport.credential
        if credential is None:
            return False
        if credential.kind == LOGIN:
            try:
                await self._transport.keeper.ready()
            except ArenaAuthError:
                return False
        return True

    async def logout(self) -> None:
        """Forget the tokens of an earlier login on this machine, and revoke them.

        They are removed here whatever the network does. A key that was given stays what it is.

        Raises:
            ArenaConfigError: Their file cannot be removed.
        """
        await self._transport.keeper.forget()
