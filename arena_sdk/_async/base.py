"""What the groups of endpoints share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

from arena_sdk._async.transport import AsyncTransport, EventHandler
from arena_sdk._http import not_offered
from arena_sdk.config import ConfigFile, Settings
from arena_sdk.errors import ArenaAPIError

if TYPE_CHECKING:
    from arena_sdk._async.client import AsyncArenaClient

PREFIX = "/api/cli/v1"


class AsyncEndpoints:
    """The base of every group of endpoints: a transport, settings, a handler of events."""

    _transport: AsyncTransport
    _settings: Settings
    _config: ConfigFile
    _on_event: EventHandler | None

    @asynccontextmanager
    async def _beyond_contract(self, feature: str, what: str) -> AsyncIterator[None]:
        """Make a request that only some services know; say so where this one does not.

        Its own answer would be that it has nothing at that address, as if a name were wrong. What
        it offers is asked only then.

        Args:
            feature: Under which services announce it.
            what: What is not offered then, for people.

        Raises:
            ArenaAPIError: The service does not offer it; its `error_code` is `NOT_OFFERED`.
        """
        try:
            yield
        except ArenaAPIError as error:
            if error.status_code not in (404, 405):
                raise
            if feature in await cast("AsyncArenaClient", self).capabilities():
                raise
            raise not_offered(type(error), self._transport.base_url, what) from None
