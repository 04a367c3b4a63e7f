"""The way to a service: proxies, certificates, and what to say when it is not reached."""

from __future__ import annotations

import os
import platform
import ssl
import urllib.request
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import Any

import httpx

from arena_sdk.errors import ArenaAPIError, ArenaConfigError, timed_out

KEPT_ALIVE = 4.0
"""Seconds for which an idle connection is kept."""


@cache
def user_agent() -> str:
    """Return what requests say of us."""
    from importlib.metadata import version

    return f"arena-tui/{version('arena-tui')} python/{platform.python_version()}"


def is_address(url: object) -> bool:
    """Tell whether something is the address of a service."""
    if not isinstance(url, str):
        return False
    try:
        parts = httpx.URL(url)
        host = parts.host  # refuses an encoded name that is none
        parts.raw_host.decode("ascii").encode("idna")  # refuses labels that are empty or too long
    except (httpx.InvalidURL, ValueError):
        return False
    return parts.scheme in ("http", "https") and bool(host)


def is_loopback(url: str) -> bool:
    """Tell whether a URL is on this machine, which no proxy can reach."""
    return httpx.URL(url).raw_host in (b"127.0.0.1", b"localhost", b"::1")


def client_options(base_url: str, timeout: float) -> dict[str, Any]:
    """Return what every HTTP client of ours is made with.

    The variables for proxies and certificates hold, but not on this machine, which no proxy can
    reach; there, without TLS, the certificates are not even read. Connections that were idle are
    given up before services that close them after five seconds, as uvicorn does, would do so.

    Raises:
        ArenaConfigError: One of those variables cannot be used; the message names it.
    """
    proxy = proxy_for(base_url)
    plain = is_loopback(base_url) and base_url.startswith("http://")
    return {
        "headers": {"User-Agent": user_agent()},
        "timeout": timeout,
        "follow_redirects": False,
        "trust_env": False,  # the proxy is chosen here, so that what an error says of it is true
        "proxy": None if proxy is None else proxy.address,
        "limits": httpx.Limits(
            max_connections=100, max_keepalive_connections=20, keepalive_expiry=KEPT_ALIVE
        ),
        "verify": False if plain else _certificates(),
    }


def socket_options(base_url: str) -> dict[str, Any]:
    """Return what every WebSocket of ours is opened with: the same proxy and certificates.

    Raises:
        ArenaConfigError: A variable for them cannot be used; the message names it.
    """
    proxy = proxy_for(base_url)
    return {
        "user_agent_header": user_agent(),
        "proxy": None if proxy is None else proxy.address,
        "ssl": _certificates() if base_url.startswith("https://") else None,
    }


def _certificates() -> ssl.SSLContext:
    """Return the certificates to check against; `SSL_CERT_FILE` and `SSL_CERT_DIR` hold.

    Raises:
        ArenaConfigError: They name what is not there, or is none.
    """
    return _certificates_of(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _certificates_of(file: str | None, folder: str | None) -> ssl.SSLContext:
    name, where = ("SSL_CERT_FILE", file) if file else ("SSL_CERT_DIR", folder)
    try:
        if where and not os.path.exists(where):
            raise FileNotFoundError(2, "there is no such file or folder")
        return httpx.create_ssl_context()
    except (OSError, ssl.SSLError) as error:
        reason = getattr(error, "reason", None) or error.strerror or error
        raise ArenaConfigError(
            f"{name} is {where!r}, which cannot be used for certificates: {reason}.",
            hint_python=f"Let {name} name a file in PEM format, or unset it.",
        ) from None


@dataclass(frozen=True)
class Proxy:
    """A proxy that requests go through.

    Attributes:
        address: With its scheme; it may hold a password.
        origin: The variable that names it, as it is spelt in the environment.
    """

    address: str = field(repr=False)
    origin: str

    @property
    def masked(self) -> str:
        """The address without the name and password in it."""
        scheme, _, rest = self.address.partition("://")
        _, mark, host = rest.rpartition("@")
        return f"{scheme}://…@{host}" if mark else self.address

    def check(self) -> None:
        """Refuse a proxy that cannot be used, which httpx would do with a traceback.

        Raises:
            ArenaConfigError: The message names the variable.
        """
        try:
            scheme = httpx.Proxy(self.address).url.scheme
            if scheme.startswith("socks") and find_spec("socksio") is None:
                raise ValueError("SOCKS needs the package httpx[socks]")
        except (ValueError, httpx.InvalidURL) as error:
            reason = str(error).replace(self.address, self.masked).rstrip(".")
            raise ArenaConfigError(
                f"{self.origin} is {self.masked!r}, which is no proxy that can be used: {reason}.",
                hint_python="It must be like http://proxy.example:3128.",
            ) from None


def proxy_for(url: str) -> Proxy | None:
    """Return the proxy between here and a URL, by the variables or else the system's settings.

    Raises:
        ArenaConfigError: It cannot be used.
    """
    if is_loopback(url):
        return None
    parts = httpx.URL(url)
    proxies = urllib.request.getproxies()
    address = proxies.get(parts.scheme) or proxies.get("all")
    if not address or urllib.request.proxy_bypass(parts.netloc.decode("ascii")):
        return None
    scheme = parts.scheme if proxies.get(parts.scheme) else "all"
    found = Proxy(address if "://" in address else f"http://{address}", _variable(scheme))
    found.check()
    return found


def _variable(scheme: str) -> str:
    """Return the variable that gives the proxy of a scheme, as it is spelt in the environment."""
    name = f"{scheme}_proxy"
    spelt = (each for each in (name, name.upper()) if os.environ.get(each))
    return next(spelt, "the settings of the system")


def _through_proxy(url: str) -> str:
    """Return a sentence on the proxy that requests to a URL go through; empty without one."""
    proxy = proxy_for(url)
    return f" The request went through the proxy {proxy.masked} ({proxy.origin})." if proxy else ""


def network_problem(kind: type[ArenaAPIError], base_url: str, error: Exception) -> ArenaAPIError:
    """Return the error for a service that did not answer, over HTTP or a WebSocket."""
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        what = f"{base_url} did not answer in time."
        kind = timed_out(kind)
    else:
        what = f"{base_url} cannot be reached: {_reason(error)}."
    return kind(
        what + _through_proxy(base_url),
        status_code=0,
        hint_python="Check the base URL and the network.",
        hint_cli="Check the base URL and the network; `arena doctor` looks at both.",
    )


def _reason(error: BaseException) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return f"{cause.reason or cause} (checked against {_certificates_in_use()})"
        cause = cause.__cause__ or cause.__context__
    return str(error).rstrip(".") or type(error).__name__


def _certificates_in_use() -> str:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        if os.environ.get(name):
            return f"{name}={os.environ[name]}"
    return "the certificates that come with the SDK; SSL_CERT_FILE names others"


def was_never_sent(error: httpx.RequestError) -> bool:
    """Tell whether a request failed before any of it could have reached the service."""
    return isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)


def is_stale_connection(error: httpx.RequestError) -> bool:
    """Tell whether an error is what a connection gives that the service closed while it idled."""
    return isinstance(
        error, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError | httpx.CloseError
    )
