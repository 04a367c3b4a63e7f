"""Who may talk to an embedded Arena: bearers of its token, through its own names."""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
OPEN_PATHS = frozenset({"/health"})
FORBIDDEN_CLOSE = 4403
UNAUTHENTICATED_CLOSE = 4401


def ensure_token(path: Path) -> str:
    """Return the token in a file, made there (0600) when there is none.

    Raises:
        OSError: The file cannot be read or made.
    """
    try:
        token = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        token = ""
    if token:
        path.chmod(0o600)  # whatever a copy or a backup has made of it
        return token
    token = f"arena_local_{secrets.token_urlsafe(32)}"
    # mkstemp makes the file 0600, so it is never readable by others, not even for a moment.
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".token-")
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token + "\n")
    os.replace(temporary, path)
    return token


def allowed_hosts(bound: str) -> frozenset[str]:
    """Return the names under which a server bound to that address may be addressed.

    Args:
        bound: The address that it binds to; every address of the machine for `0.0.0.0` or `::`.
    """
    names = {*LOOPBACK_NAMES, bound}
    if bound in ("0.0.0.0", "::"):
        import psutil

        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
        for addresses in psutil.net_if_addrs().values():
            names |= {address.address.split("%")[0].lower() for address in addresses}
    return frozenset(names)


def _host_name(value: str) -> str:
    """Return the host of `host`, `host:port` or `[v6]:port`, in lower case."""
    return (urlsplit(f"//{value}").hostname or "").lower()


class Guard:
    """ASGI middleware in front of every route.

    A foreign `Host` is refused since a web page can point a name of its own at this machine (DNS
    rebinding); a foreign `Origin`, since a browser sends cross-site requests on its own.

    Args:
        app: What it guards.
        token: The bearer token.
        hosts: Names under which this server may be addressed.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: frozenset[str]) -> None:
        self.app = app
        self._token = token.encode()
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        problem = self._problem(scope)
        if problem is None:
            await self.app(scope, receive, send)
            return
        status, body = problem
        if scope["type"] == "websocket":
            await _refuse_websocket(status, body, scope, receive, send)
        else:
            headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
            await JSONResponse(body, status, headers)(scope, receive, send)

    def _problem(self, scope: Scope) -> tuple[int, dict[str, str]] | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if _safe_host_name(host) not in self._hosts:
            return 403, _body(f"This Arena is not known as {host!r}.", "FOREIGN_HOST")
        origin = headers.get("origin")
        if origin is not None and _origin_name(origin) not in self._hosts:
            return 403, _body(
                f"Requests from pages of {origin!r} are not accepted.", "FOREIGN_ORIGIN"
            )
        if scope["path"] in OPEN_PATHS:
            return None
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and hmac.compare_digest(
            given.strip().encode("utf-8", "replace"), self._token
        ):
            return None
        if not given:
            return 401, _body(
                "This Arena wants its token: `arena local token` prints it.", "UNAUTHENTICATED"
            )
        return 401, _body(
            "The token is not this Arena's: `arena local token` prints the right one.",
            "UNAUTHENTICATED",
        )


def _safe_host_name(value: str) -> str:
    try:
        return _host_name(value)
    except ValueError:
        return ""


def _origin_name(value: str) -> str:
    try:
        return (urlsplit(value).hostname or "").lower()
    except ValueError:
        return ""


def _body(message: str, code: str) -> dict[str, str]:
    return {"message": message, "error_code": code}


async def _refuse_websocket(
    status: int, body: dict[str, str], scope: Scope, receive: Receive, send: Send
) -> None:
    """Answer the handshake with an HTTP error where the server can, else close."""
    await receive()
    if "websocket.http.response" in scope.get("extensions", {}):
        response: Response = JSONResponse(body, status)
        await response(scope, receive, send)
        return
    code = UNAUTHENTICATED_CLOSE if status == 401 else FORBIDDEN_CLOSE
    await send({"type": "websocket.close", "code": code, "reason": body["message"][:120]})
