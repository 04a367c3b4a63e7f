"""The identity server: device login (RFC 8628), renewal and revocation of tokens."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

import httpx

from arena_sdk._logs import logger
from arena_sdk._network import client_options, network_problem
from arena_sdk._pause import async_sleep
from arena_sdk.config import Identity
from arena_sdk.errors import ArenaAPIError, ArenaAuthError, ArenaLoginTimeoutError
from arena_sdk.oauth import DEVICE_GRANT, SCOPE, SLOW_DOWN, DeviceCode


class AsyncIdentityServer:
    """A connection to an identity server; use it as a context manager.

    Args:
        identity: Which one, and as which client of it.
        timeout: Seconds that a request may take.
    """

    def __init__(self, identity: Identity, timeout: float) -> None:
        self._identity = identity
        self._client = httpx.AsyncClient(**client_options(identity.url, timeout))

    async def __aenter__(self) -> AsyncIdentityServer:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.aclose()

    async def begin(self) -> DeviceCode:
        """Begin a login on this device.

        Raises:
            ArenaAuthError: The server refuses; the message says why.
            ArenaAPIError: It cannot be reached.
        """
        status, answer = await self._post("/auth/device", scope=SCOPE)
        if status != 200:
            raise self._refusal("refuses to begin a login", status, answer)
        return DeviceCode.read(answer, self._identity.url)

    async def approved(self, code: DeviceCode, timeout: float) -> dict[str, Any]:
        """Wait until somebody has approved a login; return the answer with the tokens.

        A poll that gets no answer, or one of a server in trouble, is only made again.

        Args:
            code: What `begin` returned.
            timeout: Seconds that this may take; no longer than the code is good for.

        Raises:
            ArenaTimeoutError: Nobody approved it in time.
            ArenaAuthError: It was denied, or the server refuses.
        """
        limit = min(timeout, code.expires_in)
        deadline = time.monotonic() + limit
        interval = code.interval
        while (left := deadline - time.monotonic()) > 0:
            await async_sleep(min(interval, left))
            try:
                status, answer = await self._post(
                    "/token", grant_type=DEVICE_GRANT, device_code=code.device_code
                )
            except ArenaAPIError as error:
                logger.info("%s The login is asked for again.", error)
                continue
            if status == 200:
                return answer
            error_code = answer.get("error")
            if error_code == "slow_down":
                interval += SLOW_DOWN
            elif error_code == "expired_token":
                raise _too_late(f"The code {code.user_code} is no longer good")
            elif error_code == "access_denied":
                raise ArenaAuthError(
                    "The login was denied.",
                    hint_python="Call client.login() again and approve it.",
                    hint_cli="Run `arena login` again and approve it.",
                )
            elif error_code != "authorization_pending" and status < 500 and status != 429:
                raise self._refusal("has ended the login", status, answer)
        raise _too_late(f"Nobody approved the login within {limit:g} seconds")

    async def renew(self, refresh_token: str) -> dict[str, Any]:
        """Return the answer with new tokens.

        Raises:
            ArenaAuthError: The refresh token is no longer good.
            ArenaAPIError: The server cannot be reached, or is in trouble.
        """
        status, answer = await self._post(
            "/token", grant_type="refresh_token", refresh_token=refresh_token
        )
        if status != 200 or not isinstance(answer.get("access_token"), str):
            raise self._refusal("does not renew the login", status, answer)
        return answer

    async def revoke(self, refresh_token: str) -> None:
        """End a login at the server.

        Raises:
            ArenaAuthError: The server refuses.
            ArenaAPIError: The server cannot be reached, or is in trouble.
        """
        status, answer = await self._post("/logout", refresh_token=refresh_token)
        if status >= 300:
            raise self._refusal("does not revoke the login", status, answer)

    async def _post(self, path: str, **fields: str) -> tuple[int, dict[str, Any]]:
        """Post a form; return the status and the JSON object of the answer, if it is one."""
        url = self._identity.endpoint(path)
        try:
            answer = await self._client.post(
                url, data={"client_id": self._identity.client_id, **fields}
            )
        except httpx.RequestError as error:
            raise network_problem(ArenaAPIError, self._identity.url, error) from None
        logger.debug("POST %s: %d", url, answer.status_code)
        try:
            value = answer.json()
        except ValueError:
            value = None
        return answer.status_code, value if isinstance(value, dict) else {}

    def _refusal(self, what: str, status: int, answer: dict[str, Any]) -> ArenaAPIError | Any:
        reason = answer.get("error_description") or answer.get("error") or f"HTTP {status}"
        message = f"{self._identity.url} {what}: {str(reason).rstrip('.')}."
        if status >= 500 or status == 429:
            return ArenaAPIError(
                message, status_code=status, hint_python="Try again in a few minutes."
            )
        return ArenaAuthError(
            message,
            status_code=status,
            extras={"error_code": answer.get("error")},
            hint_python=f"Check keycloak_url, realm ({self._identity.realm}) and client_id"
            f" ({self._identity.client_id}).",
            hint_cli=f"Check --keycloak-url, --realm ({self._identity.realm}) and --client-id"
            f" ({self._identity.client_id}).",
        )


def _too_late(what: str) -> ArenaLoginTimeoutError:
    return ArenaLoginTimeoutError(
        f"{what}.",
        hint_python="Call client.login() again; timeout=… gives more time.",
        hint_cli="Run `arena login` again; --timeout gives more time.",
    )
