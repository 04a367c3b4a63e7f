"""A small real identity server for tests, with the routes of the contract.

It issues unsigned JWTs and refresh tokens that are good for one use, as a strict Keycloak does, so
that two processes that renew at once would log one of them out if they did not take turns. What a
poll answers is scripted: `pending`, `slow_down`, `expired_token`, `access_denied`, `busy` (a 503),
`hangup` (the connection is closed without an answer) or `ok`.
"""

from __future__ import annotations

import base64
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from tests.sdk.sdk_service import running

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def jwt(**claims: Any) -> str:
    """Return an unsigned token with these claims."""

    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    return f"{part({'alg': 'none'})}.{part(claims)}.c2lnbmF0dXJl"


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    path: str
    form: dict[str, str]
    headers: dict[str, str]


@dataclass
class Keycloak:
    """The identity server.

    Attributes:
        script: What the polls of a device code answer, in turn; the last answer is repeated.
        lifetime: Seconds that an access token is good for.
        ahead: Seconds that its clock is ahead of this machine's.
        interval: Seconds between polls that a device answer asks for.
        device: Further keys of, or changes to, the answer to a device request.
    """

    realm: str = "arena"
    client_id: str = "arena-cli"
    script: list[str] = field(default_factory=lambda: ["ok"])
    lifetime: float = 300.0
    ahead: float = 0.0
    interval: float = 0.02
    device: dict[str, Any] = field(default_factory=dict)
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    valid: set[str] = field(default_factory=set)
    refreshers: set[str] = field(default_factory=set)
    revoked: list[str] = field(default_factory=list)
    broken: bool = False

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._codes: set[str] = set()
        self.renewing = threading.Event()

    @property
    def grants(self) -> list[str]:
        """What tokens were asked for with, in order."""
        return [asked.form.get("grant_type", "") for asked in self.asked if "/token" in asked.path]

    def tokens(self) -> dict[str, Any]:
        """Issue a pair of tokens."""
        now = time.time() + self.ahead
        access = jwt(
            exp=now + self.lifetime, iat=now, iss=f"{self.url}/realms/{self.realm}",
            preferred_username="ada", jti=secrets.token_hex(4),
        )  # fmt: skip
        refresh = jwt(typ="Refresh", jti=secrets.token_hex(8))
        self.valid.add(access)
        self.refreshers.add(refresh)
        return {
            "access_token": access,
            "expires_in": int(self.lifetime),
            "refresh_expires_in": 1800,
            "refresh_token": refresh,
            "token_type": "Bearer",
            "not-before-policy": 0,
            "session_state": "0b1c",
            "scope": "openid profile email",
        }

    def accepts(self, request: Request) -> bool:
        """Tell whether a request to the service carries an access token that is good."""
        return request.headers.get("authorization", "").removeprefix("Bearer ") in self.valid

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        form = dict(parse_qsl((await request.body()).decode()))
        self.asked.append(Asked(request.url.path, form, dict(request.headers)))
        with self._lock:
            answer = self._answer(request, form)
        if answer is None:
            raise ConnectionResetError  # the server closes the connection without an answer
        await answer(scope, receive, send)

    def _answer(self, request: Request, form: dict[str, str]) -> Response | None:
        below = f"/realms/{self.realm}/protocol/openid-connect"
        if not request.url.path.startswith(below) or request.method != "POST":
            return JSONResponse({"error": "Realm does not exist"}, 404)
        if self.broken:
            return Response("<html>Bad gateway</html>", 502)
        if form.get("client_id") != self.client_id:
            return _refusal("invalid_client", "Invalid client credentials", 401)
        handler = {
            "/auth/device": self._device,
            "/token": self._token,
            "/logout": self._logout,
        }.get(request.url.path.removeprefix(below))
        return handler(form) if handler else JSONResponse({"error": "not found"}, 404)

    def _device(self, form: dict[str, str]) -> Response:
        code = secrets.token_hex(8)
        page = f"{self.url}/realms/{self.realm}/device"
        self._codes.add(code)
        return JSONResponse(
            {
                "device_code": code,
                "user_code": "WDJB-MJHT",
                "verification_uri": page,
                "verification_uri_complete": f"{page}?user_code=WDJB-MJHT",
                "expires_in": 600,
                "interval": self.interval,
                **self.device,
            }
        )

    def _token(self, form: dict[str, str]) -> Response | None:
        if form.get("grant_type") == "refresh_token":
            self.renewing.set()
            if form.get("refresh_token") not in self.refreshers:
                return _refusal("invalid_grant", "Token is not active")
            self.refreshers.discard(form["refresh_token"])
            return JSONResponse(self.tokens())
        if form.get("grant_type") != DEVICE_GRANT or form.get("device_code") not in self._codes:
            return _refusal("invalid_grant", "Invalid device code")
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if step == "hangup":
            return None
        if step == "busy":
            return Response("busy", 503)
        if step != "ok":
            return _refusal({"pending": "authorization_pending"}.get(step, step), "")
        return JSONResponse(self.tokens())

    def _logout(self, form: dict[str, str]) -> Response:
        self.revoked.append(form.get("refresh_token", ""))
        self.refreshers.discard(form.get("refresh_token", ""))
        return Response(status_code=204)


def _refusal(error: str, description: str, status: int = 400) -> Response:
    return JSONResponse({"error": error, "error_description": description}, status)


@contextmanager
def keycloak_running(made: Keycloak | None = None) -> Iterator[Keycloak]:
    """Serve an identity server on a free port of this machine."""
    made = made or Keycloak()
    with running(made) as url:
        made.url = url
        yield made
