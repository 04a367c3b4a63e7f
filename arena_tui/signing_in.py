"""Getting in: an Arena on this machine, a login to a hosted one, or a token that was pasted.

Asked once at a first start, and offered again whenever the service no longer knows us.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from arena_tui.launch import LaunchError, LocalArena, ensure
from arena_tui.stores.connection import Link

if TYPE_CHECKING:
    from arena_sdk import AsyncArenaClient
    from arena_tui.app import ArenaApp

HERE, DEVICE, TOKEN = "here", "device", "token"

ClientMaker = Callable[[], "AsyncArenaClient"]


def local_client_maker(local: LocalArena) -> ClientMaker:
    """Return what makes clients of the Arena on this machine, wherever it is by then."""

    def make() -> AsyncArenaClient:
        from arena_sdk import AsyncArenaClient

        return AsyncArenaClient(local.token, base_url=local.current_url(), profile="local")

    return make


class SignIn:
    """Offers the ways in when the service does not know us; once each time that it ceases to."""

    def __init__(self, app: ArenaApp) -> None:
        self._app = app
        self._offered = False

    def watch(self) -> None:
        """Look at the connection; offer the ways in when it is signed out."""
        link = self._app.hub.connection.link
        if link in (Link.LIVE, Link.POLLING):
            self._offered = False
        elif link is Link.SIGNED_OUT and not self._offered and not self._app.screen.is_modal:
            self._offered = True
            self._app.run_worker(self.offer(), group="sign-in", exclusive=True)

    async def offer(self) -> None:
        """Ask which way, and go it."""
        # Dialogs are imported when they are needed, which at most starts they are not.
        from arena_tui.widgets.dialogs import ChoiceDialog

        app = self._app
        connection = app.hub.connection
        where = connection.url or "the hosted Arena"
        answer = await app.push_screen_wait(
            ChoiceDialog(
                "Where is your Arena?" if connection.age is None else "Signed out",
                [
                    ("This machine: start an Arena here, for nothing", HERE),
                    (f"{where}: log in with a browser, on any machine", DEVICE),
                    (f"{where}: paste a token", TOKEN),
                    ("Neither now; ctrl+l asks again", None),
                ],
                text=connection.failure or "",
            )
        )
        if answer == HERE:
            await self._here()
        elif answer == DEVICE:
            await self._device(where)
        elif answer == TOKEN:
            await self._token(where)

    async def _here(self) -> None:
        app = self._app
        app.tell("Starting an Arena on this machine…")
        try:
            local = await asyncio.to_thread(ensure)
        except LaunchError as error:
            app.tell(str(error), "error")
            return
        app.local = local
        self._enter(local_client_maker(local))
        app.tell("The Arena on this machine is ready.")

    async def _device(self, where: str) -> None:
        from arena_tui.widgets.login_dialog import DeviceLoginDialog

        app = self._app

        async def begin(show: Callable[[Any], None]) -> None:
            async with app.hub.new_client() as client:
                await client.login(force=True, on_code=show, timeout=1800)

        done = await app.push_screen_wait(DeviceLoginDialog(where, begin, app.hub.sentence))
        if done:
            self._enter()
            app.tell(f"Logged in to {where}.")

    async def _token(self, where: str) -> None:
        from arena_tui.widgets.form_dialog import Field, FormDialog

        app = self._app
        answer = await app.push_screen_wait(
            FormDialog(
                f"A token for {where}",
                [
                    Field("token", "Token", "password", required=True),
                    Field("keep", "Keep it on this machine, in a file only you can read", "switch"),
                ],
                submit="Use it",
                intro="It is sent to that address and to no other.",
                check=_check_token,
            )
        )
        if answer is None:
            return
        token = str(answer["token"]).strip()
        client = app.hub.new_client()
        base_url, profile, settings = client.base_url, client.profile, client.settings
        await client.aclose()
        if answer["keep"]:
            from arena_sdk.credentials import TokenStore

            TokenStore(settings).write({"access_token": token})

        def make() -> AsyncArenaClient:
            from arena_sdk import AsyncArenaClient

            return AsyncArenaClient(token, base_url=base_url, profile=profile)

        self._enter(make)

    def _enter(self, make: ClientMaker | None = None) -> None:
        """Connect with what was given; if that is refused, the ways in are offered again."""
        self._offered = False
        self._app.hub.sign_in(make)


def _check_token(values: dict[str, Any]) -> dict[str, str] | None:
    token = str(values["token"]).strip()
    if not token.isascii() or not token.isprintable() or " " in token:
        return {"token": "That is no token: a token is letters, digits and signs, without spaces."}
    return None
