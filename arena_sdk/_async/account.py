"""Who you are, what credits are left, what the service offers."""

from __future__ import annotations

from typing import Any

from arena_sdk._async.base import PREFIX, AsyncEndpoints
from arena_sdk.answers import User
from arena_sdk.errors import ArenaAPIError, ArenaAuthError

CAPABILITIES_TIMEOUT = 5.0


class AsyncAccount(AsyncEndpoints):
    """The user's own endpoints."""

    _features: dict[str, Any] | None = None

    async def get_current_user(self) -> User:
        """Return your account: `first_name`, `last_name`, `email` and more.

        Example:
            >>> (await client.get_current_user()).email
        """
        return User(await self._transport.document("GET", "/api/users/current"))

    async def get_user_credits(self) -> Any:
        """Return the credits that are left: a number, or an object with more.

        Example:
            >>> await client.get_user_credits()
        """
        return await self._transport.json("GET", "/api/users/credits")

    async def capabilities(self) -> dict[str, Any]:
        """Return what the service offers beyond the contract, by feature name.

        A service that says nothing, or nothing readable, offers none. Asked once a client.

        Example:
            >>> "live_metrics" in await client.capabilities()
        """
        if self._features is None:
            try:
                answer = await self._transport.json(
                    "GET", f"{PREFIX}/capabilities", timeout=CAPABILITIES_TIMEOUT
                )
            except ArenaAuthError:
                raise
            except ArenaAPIError as error:
                if error.status_code == 0:
                    raise
                answer = None
            features = answer.get("features") if isinstance(answer, dict) else None
            self._features = features if isinstance(features, dict) else {}
        return self._features

    async def health(self) -> dict[str, Any]:
        """Return the embedded Arena's health: `status`, `version`, `pid`.

        Example:
            >>> (await client.health())["status"]
        """
        return await self._transport.document("GET", "/health")

    async def get_machine(self) -> dict[str, Any]:
        """Return the load of the embedded Arena's machine and the work that runs on it.

        Example:
            >>> (await client.get_machine())["cpu_percent"]
        """
        async with self._beyond_contract("machine", "a look at its machine"):
            return await self._transport.document("GET", f"{PREFIX}/machine")

    async def list_activity(self, limit: int = 50) -> list[dict[str, Any]]:
        """Return what happened lately on the embedded Arena, newest first.

        Example:
            >>> [event["message"] for event in await client.list_activity(5)]
        """
        async with self._beyond_contract("activity", "a list of what happened lately"):
            return await self._transport.rows(
                "GET", f"{PREFIX}/activity", params=[("limit", str(limit))]
            )
