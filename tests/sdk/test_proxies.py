"""The variables for proxies and certificates hold, and an error says which were used."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trustme
from sdk_faults import CLOSE, answer, faulty
from sdk_service import Service, running
from sdk_tunnel import Tunnel, tunnel_to
from starlette.websockets import WebSocket

from arena_sdk import (
    Agent,
    ArenaAPIError,
    ArenaClient,
    ArenaConfigError,
    ArenaInferenceError,
    AsyncArenaClient,
)

HOST = "arena.test"
"""A name that no resolver knows: whoever reaches it went through a proxy."""
PROJECTS = [{"name": "p"}]
VARIABLES = (
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip


@pytest.fixture(autouse=True)
def quick_and_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the proxies of this machine, and make no pauses between tries."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setattr("random.uniform", lambda low, high: 0.0)


@dataclass(frozen=True)
class Secure:
    """A service over TLS behind a proxy.

    Attributes:
        service: The service.
        url: Its address, which only the proxy reaches.
        local_url: Its address on this machine.
        tunnel: The proxy.
        authority: File of the certificate that its own was signed with.
    """

    service: Service
    url: str
    local_url: str
    tunnel: Tunnel
    authority: Path


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    """A service whose certificate a private authority has signed, and a proxy to it."""
    folder = tmp_path_factory.mktemp("certificates")
    authority = trustme.CA()
    certificate = authority.issue_cert(HOST, "127.0.0.1")
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))
    certificate.private_key_and_cert_chain_pem.write_to_path(str(folder / "server.pem"))
    service = Service()
    service.on("GET", "/projects", PROJECTS)
    service.on("GET", "//status", {"success": True, "agent": None})
    service.on("POST", "//get_action", {"message": "no agent"}, 500)
    with running(service, ssl_certfile=str(folder / "server.pem")) as url:
        port = int(url.rpartition(":")[2])
        with tunnel_to(port) as tunnel:
            yield Secure(
                service, f"https://{HOST}:{port}", f"https://127.0.0.1:{port}", tunnel,
                folder / "authority.pem",
            )  # fmt: skip


@pytest.fixture
def trusted(secure: Secure, monkeypatch: pytest.MonkeyPatch) -> Secure:
    """That service, with the variables set that lead to it."""
    monkeypatch.setenv("HTTPS_PROXY", secure.tunnel.url)
    monkeypatch.setenv("SSL_CERT_FILE", str(secure.authority))
    secure.tunnel.asked.clear()
    return secure


# --- proxies --------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_http_goes_through_the_proxy(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with faulty([answer(200, b"[]")]) as proxy:
        monkeypatch.setenv(variable, proxy.url)
        with ArenaClient("a-key", base_url=f"http://{HOST}") as client:
            assert client.list_projects() == []
        assert [asked.path for asked in proxy.asked] == [f"http://{HOST}/api/cli/v1/projects"]


async def test_https_goes_through_a_tunnel(trusted: Secure) -> None:
    with ArenaClient("a-key", base_url=trusted.url) as client:
        assert client.list_projects() == PROJECTS
    async with AsyncArenaClient("a-key", base_url=trusted.url) as async_client:
        assert await async_client.list_projects() == PROJECTS
    with Agent(trusted.url, api_key="k") as agent:
        assert agent.metadata.success
    connect = f"CONNECT {trusted.url.removeprefix('https://')} HTTP/1.1"
    assert trusted.tunnel.asked == [connect] * 3


async def test_live_sockets_go_through_the_tunnel_too(trusted: Secure) -> None:
    async def greet(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_json({"kind": "ready"})
        await socket.close()

    trusted.service.on_socket("/play", greet)
    with (
        ArenaClient("a-key", base_url=trusted.url) as client,
        client.play("anybody") as game,
    ):
        assert next(iter(game)) == {"kind": "ready"}
    async with (
        AsyncArenaClient("a-key", base_url=trusted.url) as async_client,
        async_client.play("anybody") as async_game,
    ):
        assert await anext(aiter(async_game)) == {"kind": "ready"}
    assert len(trusted.tunnel.asked) == 2


@pytest.mark.parametrize("exempt", [HOST, f".{HOST}", "*", f"other.example, {HOST}"])
def test_no_proxy_exempts(exempt: str, monkeypatch: pytest.MonkeyPatch, service: Service) -> None:
    port = service.url.rpartition(":")[2]
    service.on("GET", "/projects", PROJECTS)
    look_up = socket.getaddrinfo

    def resolve(host: Any, *options: Any, **more: Any) -> Any:
        return look_up("127.0.0.1" if host == HOST else host, *options, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with faulty([CLOSE]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", exempt)
        with ArenaClient("a-key", base_url=f"http://{HOST}:{port}") as client:
            assert client.list_projects() == PROJECTS
        assert proxy.asked == []


def test_this_machine_is_never_reached_through_a_proxy(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.on("GET", "/projects", PROJECTS)
    with faulty([CLOSE]) as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        with ArenaClient("a-key", base_url=service.url) as client:
            assert client.list_projects() == PROJECTS
        assert proxy.asked == []


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_an_error_names_the_proxy_and_not_its_password(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with faulty([answer(407, b"", "proxy-authenticate: Basic")]) as proxy:
        address = proxy.url.replace("http://", "http://ada:lovelace@")
        monkeypatch.setenv(variable, address)
        with ArenaClient("a-key", base_url=f"https://{HOST}") as client:
            for call in (client.list_projects, lambda: client.create_project("p")):
                with pytest.raises(ArenaAPIError) as caught:
                    call()
                masked = proxy.url.replace("http://", "http://…@")
                assert f"went through the proxy {masked} ({variable})" in caught.value.detail
                assert "lovelace" not in caught.value.detail
                assert caught.value.is_network
        with pytest.raises(ArenaInferenceError, match="went through the proxy"):
            Agent(f"https://{HOST}", api_key="k").status()


@pytest.mark.parametrize("address", ["ftp://x", "http://[::1", "socks5://x:1"])
def test_a_proxy_that_is_none_is_named_at_once(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    for make in (
        lambda: ArenaClient("a-key", base_url=f"https://{HOST}"),
        lambda: Agent(f"https://{HOST}", api_key="k"),
    ):
        with pytest.raises(ArenaConfigError, match=r"HTTPS_PROXY is '.*no proxy that can be used"):
            make()


# --- certificates ---------------------------------------------------------------------------------


def test_an_authority_that_is_named_is_trusted(
    secure: Secure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(secure.authority))
    with ArenaClient("a-key", base_url=secure.local_url) as client:
        assert client.list_projects() == PROJECTS


def test_an_unknown_authority_is_refused_and_what_was_asked_is_said(
    secure: Secure, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    for variable, value, said in (
        ("", "", "the certificates that come with the SDK; SSL_CERT_FILE names others"),
        ("SSL_CERT_FILE", str(other), f"SSL_CERT_FILE={other}"),
    ):
        if variable:
            monkeypatch.setenv(variable, value)
        calls = len(secure.service.calls)
        with (
            ArenaClient("a-key", base_url=secure.local_url) as client,
            pytest.raises(ArenaAPIError, match="cannot be reached") as caught,
        ):
            client.list_projects()
        assert f"checked against {said}" in caught.value.detail
        assert len(secure.service.calls) == calls
        with (
            ArenaClient("a-key", base_url=secure.local_url) as client,
            pytest.raises(ArenaInferenceError, match="checked against"),
            client.play("anybody"),
        ):
            pass


@pytest.mark.parametrize(
    ("variable", "content"),
    [("SSL_CERT_FILE", None), ("SSL_CERT_FILE", "no certificate"), ("SSL_CERT_DIR", None)],
)
def test_certificates_that_are_none_are_named_at_once(
    variable: str, content: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "x.pem"
    if content is not None:
        path.write_text(content)
    monkeypatch.setenv(variable, str(path))
    for make in (
        lambda: ArenaClient("a-key", base_url=f"https://{HOST}"),
        lambda: Agent(f"https://{HOST}", api_key="k"),
    ):
        with pytest.raises(ArenaConfigError, match=f"{variable} is ") as caught:
            make()
        assert str(path) in caught.value.detail
