"""`arena-tui --web`: the same dashboard in a browser of this machine, through `textual-serve`.

Whoever can see the page can do all that the dashboard can, so it is bound to the loopback address,
every request must carry a secret that was printed at the start, and requests that another site's
page makes in the same browser are refused (by their Host and Origin).
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aiohttp import web

HOST = "127.0.0.1"
MISSING = "--web needs the extra `web` ({name} is missing): python -m pip install 'arena-tui[web]'"
DENIED = "Open the address that arena-tui printed: it has the token that this page needs.\n"
LIFETIME = 12 * 3600
"""Seconds that a browser keeps the token."""

Handler = Callable[["web.Request"], Awaitable["web.StreamResponse"]]


class WebError(Exception):
    """The dashboard cannot be served; the message is one sentence."""


def open_socket(port: int) -> socket.socket:
    """Return a listening socket of the loopback address.

    Raises:
        WebError: The port is taken, or may not be used.
    """
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port))
        made.listen(64)
    except OSError as error:
        made.close()
        raise WebError(f"Port {port} of {HOST} cannot be used: {error.strerror}.") from error
    return made


def guard(token: str, port: int) -> Any:
    """Return the middleware that lets nothing through without the token.

    Args:
        token: The secret.
        port: Where the page is served; part of the cookie's name, as cookies know no ports.
    """
    from aiohttp import web

    cookie = f"arena_tui_{port}"
    hosts = {f"{HOST}:{port}", f"localhost:{port}"}
    origins = {f"http://{host}" for host in hosts}

    # The page of textual-serve would fetch a font from elsewhere: nobody else needs to know of it.
    policy = (
        "default-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' data: blob:;"
        f" connect-src 'self' {' '.join(f'ws://{host}' for host in sorted(hosts))}"
    )

    def matches(told: str | None) -> bool:
        return told is not None and hmac.compare_digest(told.encode(), token.encode())

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.headers.get("Host") not in hosts:
            return web.Response(status=403, text="This page is for this machine only.\n")
        origin = request.headers.get("Origin")
        if origin is not None and origin not in origins:
            return web.Response(status=403, text="Another site's page may not ask this.\n")
        if request.path == "/" and matches(request.query.get("token")):
            # The token goes into a cookie, out of the address line and the history.
            answer: web.StreamResponse = web.Response(status=303, headers={"Location": "/"})
            answer.set_cookie(
                cookie, token, max_age=LIFETIME, httponly=True, samesite="Strict", path="/"
            )
        elif matches(request.cookies.get(cookie)) or matches(request.query.get("token")):
            answer = await handler(request)
        else:
            answer = web.Response(status=401, text=DENIED)
        if not answer.prepared:
            answer.headers["Cache-Control"] = "no-store"
            answer.headers["Referrer-Policy"] = "no-referrer"
            answer.headers["X-Frame-Options"] = "DENY"
            answer.headers["Content-Security-Policy"] = policy
            answer.headers["X-Content-Type-Options"] = "nosniff"
        return answer

    return check


async def make_app(command: Sequence[str], port: int, token: str) -> web.Application:
    """Return the application that serves the dashboard.

    Args:
        command: Runs the dashboard; once for every page that is opened.
        port: Where it will be served.
        token: What every request must carry.
    """
    import shlex

    from textual_serve.server import Server

    server = Server(
        shlex.join(command),
        host=HOST,
        port=port,
        title="Arena",
        public_url=f"http://{HOST}:{port}",
    )
    app = await server._make_app()
    # It would print a banner; what is printed is ours to say.
    app.on_startup.clear()
    app.middlewares.append(guard(token, port))
    return app


async def _serve(command: Sequence[str], listening: socket.socket, token: str) -> None:
    from aiohttp import web

    port = listening.getsockname()[1]
    runner = web.AppRunner(await make_app(command, port, token), access_log=None)
    await runner.setup()
    await web.SockSite(runner, listening, shutdown_timeout=2).start()
    print(f"http://{HOST}:{port}/?token={token}", flush=True)
    print("Ctrl+C ends it. The address lets in whoever has it.", file=sys.stderr, flush=True)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):
            loop.add_signal_handler(number, ended.set)
    await ended.wait()
    await runner.cleanup()


def serve(arguments: Sequence[str], port: int = 0) -> int:
    """Serve the dashboard until it is told to end; returns the exit code.

    Args:
        arguments: Those of `arena-tui` for each page.
        port: Where; a free one when 0.

    Raises:
        WebError: The extra `web` is missing, or the port cannot be used.
    """
    try:
        import textual_serve  # noqa: F401
    except ImportError as error:
        raise WebError(MISSING.format(name=error.name)) from error
    listening = open_socket(port)
    command = [sys.executable, "-m", "arena_tui", *arguments]
    asyncio.run(_serve(command, listening, secrets.token_urlsafe(24)))
    return 0
