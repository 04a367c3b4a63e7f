"""Device login at a real server: what is shown, polled and stored, and what goes wrong."""

from __future__ import annotations

import json
import os
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sdk_keycloak import DEVICE_GRANT, Keycloak
from sdk_service import Service

from arena_sdk import (
    ArenaAPIError,
    ArenaAuthError,
    ArenaClient,
    ArenaConfigError,
    ArenaTimeoutError,
    AsyncArenaClient,
    oauth,
)
from arena_sdk._sync import identity
from arena_sdk.oauth import DeviceCode


@pytest.fixture
def client(service: Service, keycloak: Keycloak) -> Iterator[ArenaClient]:
    """A client without a credential."""
    with ArenaClient(base_url=service.url) as made:
        yield made


def seen(codes: list[DeviceCode]) -> Any:
    """Return options that keep what is to be shown and open no browser."""
    return {"on_code": codes.append, "open_browser": False}


def test_a_login_is_shown_polled_stored_and_used(
    client: ArenaClient, keycloak: Keycloak, service: Service, arena_home: Path
) -> None:
    keycloak.script = ["pending", "pending", "ok"]
    codes: list[DeviceCode] = []
    client.login(**seen(codes))
    (code,) = codes
    assert code.user_code == "WDJB-MJHT"
    assert code.address == f"{keycloak.url}/realms/arena/device?user_code=WDJB-MJHT"
    assert keycloak.asked[0].form == {"client_id": "arena-cli", "scope": "openid profile email"}
    assert keycloak.grants == [DEVICE_GRANT] * 3
    path = arena_home / "credentials.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(arena_home.stat().st_mode) == 0o700
    stored = json.loads(path.read_text())
    assert stored["access_token"] in keycloak.valid
    assert stored["session_state"] == "0b1c"  # the whole answer is kept
    service.on("GET", "/projects", [])
    client.list_projects()
    assert service.calls[-1].headers["authorization"] == f"Bearer {stored['access_token']}"
    assert client.is_authenticated
    assert client.credential_origin == str(path)


async def test_a_login_async(service: Service, keycloak: Keycloak) -> None:
    keycloak.script = ["pending", "ok"]
    codes: list[DeviceCode] = []
    async with AsyncArenaClient(base_url=service.url) as client:
        await client.login(**seen(codes))
        assert client.is_authenticated
    assert len(codes) == 1


def test_address_and_code_are_written_before_a_browser_is_tried(
    client: ArenaClient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written: list[str] = []

    def browser(address: str) -> bool:
        written.append(capsys.readouterr().err)
        return False

    monkeypatch.setattr(oauth, "open_browser", browser)
    client.login(open_browser=True)
    assert "WDJB-MJHT" in written[0]
    assert "/realms/arena/device?user_code=WDJB-MJHT" in written[0]


@pytest.mark.parametrize(
    ("variables", "opened"),
    [
        ({"DISPLAY": ":0"}, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, True),
        ({}, False),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "10.0.0.1 22"}, False),
        ({"DISPLAY": "localhost:10.0", "SSH_TTY": "/dev/pts/0"}, False),
    ],
)
def test_a_browser_is_tried_only_where_it_would_be_seen(
    variables: dict[str, str], opened: bool, monkeypatch: pytest.MonkeyPatch, client: ArenaClient
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", "linux")
    tried: list[str] = []
    monkeypatch.setattr(oauth, "open_browser", lambda address: bool(tried.append(address)))
    client.login(on_code=lambda code: None)
    assert bool(tried) is opened


@pytest.mark.parametrize("address", ["file:///etc/passwd", "javascript:alert(1)", "--version"])
def test_what_is_no_page_is_not_given_to_a_browser(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbrowser.open", lambda url: pytest.fail(f"opened {url}"))
    assert oauth.open_browser(address) is False


def test_what_the_server_says_cannot_change_the_terminal(keycloak: Keycloak) -> None:
    code = DeviceCode("http://x/\x1b[2J", "AB\r\x07CD", 60, 5, "d")
    assert "\x1b" not in code.instructions()
    assert "\r" not in code.instructions()
    assert "\\x1b[2J" in code.instructions()


def test_slow_down_makes_the_wait_five_seconds_longer_each_time(
    client: ArenaClient, keycloak: Keycloak, monkeypatch: pytest.MonkeyPatch
) -> None:
    keycloak.script = ["pending", "slow_down", "pending", "slow_down", "ok"]
    keycloak.interval = 2
    waits: list[float] = []
    monkeypatch.setattr(identity, "blocking_sleep", waits.append)
    client.login(**seen([]))
    assert waits == [2, 2, 7, 7, 12]


def test_without_an_interval_five_seconds_are_waited(
    client: ArenaClient, keycloak: Keycloak, monkeypatch: pytest.MonkeyPatch
) -> None:
    keycloak.device = {"interval": None}
    waits: list[float] = []
    monkeypatch.setattr(identity, "blocking_sleep", waits.append)
    client.login(**seen([]))
    assert waits == [5]


def test_hiccups_of_the_network_and_the_server_are_waited_out(
    client: ArenaClient, keycloak: Keycloak
) -> None:
    keycloak.script = ["hangup", "busy", "pending", "hangup", "ok"]
    client.login(**seen([]))
    assert client.is_authenticated
    assert len(keycloak.grants) == 5


@pytest.mark.parametrize(
    ("step", "kind", "words"),
    [
        ("expired_token", ArenaTimeoutError, "WDJB-MJHT is no longer good"),
        ("access_denied", ArenaAuthError, "denied"),
        ("invalid_grant", ArenaAuthError, "has ended the login: invalid_grant"),
    ],
)
def test_a_login_that_fails_says_why_and_what_to_do(
    client: ArenaClient,
    keycloak: Keycloak,
    arena_home: Path,
    step: str,
    kind: type[ArenaAuthError],
    words: str,
) -> None:
    keycloak.script = ["pending", step]
    with pytest.raises(kind, match=words) as caught:
        client.login(**seen([]))
    assert caught.value.hint_cli
    assert not (arena_home / "credentials.json").exists()
    assert not client.is_authenticated


def test_nobody_approves_in_time(client: ArenaClient, keycloak: Keycloak) -> None:
    keycloak.script = ["pending"]
    with pytest.raises(ArenaTimeoutError, match=r"within 0\.2 seconds") as caught:
        client.login(timeout=0.2, **seen([]))
    assert "--timeout" in (caught.value.hint_cli or "")


def test_a_code_is_not_polled_longer_than_it_is_good_for(
    client: ArenaClient, keycloak: Keycloak
) -> None:
    keycloak.script = ["pending"]
    keycloak.device = {"expires_in": 0.1}
    with pytest.raises(ArenaTimeoutError, match=r"within 0\.1 seconds"):
        client.login(**seen([]))


def test_a_wrong_realm_or_client_is_named(service: Service, keycloak: Keycloak) -> None:
    with (
        ArenaClient(base_url=service.url, realm="other") as client,
        pytest.raises(ArenaAuthError, match="Realm does not exist") as caught,
    ):
        client.login(**seen([]))
    assert "--realm (other)" in (caught.value.hint_cli or "")
    with (
        ArenaClient(base_url=service.url, client_id="nobody") as client,
        pytest.raises(ArenaAuthError, match="Invalid client credentials"),
    ):
        client.login(**seen([]))


@pytest.mark.parametrize("missing", ["device_code", "user_code", "verification_uri"])
def test_an_answer_without_what_is_needed_is_an_error(
    client: ArenaClient, keycloak: Keycloak, missing: str
) -> None:
    keycloak.device = {missing: None}
    with pytest.raises(ArenaAuthError, match=f"has no {missing}"):
        client.login(**seen([]))


def test_an_identity_server_in_trouble_or_away_is_told(
    service: Service, keycloak: Keycloak
) -> None:
    keycloak.broken = True
    with (
        ArenaClient(base_url=service.url) as client,
        pytest.raises(ArenaAPIError, match="refuses to begin a login: HTTP 502"),
    ):
        client.login(**seen([]))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with (
            ArenaClient(base_url=service.url, keycloak_url=url) as client,
            pytest.raises(ArenaAPIError, match="cannot be reached") as caught,
        ):
            client.login(**seen([]))
    assert caught.value.is_network


def test_who_has_a_credential_is_not_asked_to_log_in(service: Service, keycloak: Keycloak) -> None:
    with ArenaClient("a-key", base_url=service.url) as client:
        client.login(**seen([]))
        assert keycloak.asked == []
        client.login(force=True, **seen([]))
        assert client.credential_origin != "argument"
    with ArenaClient(base_url=service.url) as client:
        before = len(keycloak.asked)
        client.login(**seen([]))
        assert len(keycloak.asked) == before


def test_a_login_that_has_ended_is_made_again(
    service: Service, keycloak: Keycloak, client: ArenaClient
) -> None:
    keycloak.lifetime = 10
    client.login(**seen([]))
    keycloak.refreshers.clear()
    with ArenaClient(base_url=service.url) as later:
        codes: list[DeviceCode] = []
        later.login(**seen(codes))
        assert len(codes) == 1


def test_a_login_is_made_when_one_is_needed_and_somebody_is_there(
    service: Service, keycloak: Keycloak, capsys: pytest.CaptureFixture[str]
) -> None:
    service.on("GET", "/projects", [])
    with ArenaClient(base_url=service.url, interactive=True) as client:
        client.list_projects()
    assert "WDJB-MJHT" in capsys.readouterr().err


def test_a_login_on_top_of_a_corrupt_file_mends_it(
    service: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    arena_home.mkdir(mode=0o700)
    (arena_home / "credentials.json").write_text("{half")
    with ArenaClient(base_url=service.url) as client:
        with pytest.raises(ArenaConfigError, match=r"credentials\.json cannot be read"):
            client.list_projects()
        client.login(**seen([]))
        assert client.is_authenticated
    assert json.loads((arena_home / "credentials.json").read_text())["access_token"]


def test_a_logout_revokes_and_forgets(
    client: ArenaClient, keycloak: Keycloak, arena_home: Path
) -> None:
    client.login(**seen([]))
    refresh = json.loads((arena_home / "credentials.json").read_text())["refresh_token"]
    client.logout()
    assert keycloak.revoked == [refresh]
    assert keycloak.asked[-1].form == {"client_id": "arena-cli", "refresh_token": refresh}
    assert not (arena_home / "credentials.json").exists()
    assert not client.is_authenticated


@pytest.mark.parametrize("trouble", ["broken", "away"])
def test_a_logout_forgets_whatever_the_network_does(
    service: Service,
    keycloak: Keycloak,
    arena_home: Path,
    trouble: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with ArenaClient(base_url=service.url) as client:
        client.login(**seen([]))
    keycloak.broken = True
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        away = f"http://127.0.0.1:{taken.getsockname()[1]}"
        stored = arena_home / "credentials.json"
        stored.write_text(stored.read_text().replace("identity_server", "somewhere"))
        url = keycloak.url if trouble == "broken" else away
        with ArenaClient(base_url=service.url, keycloak_url=url) as client:
            client.logout()
    assert not stored.exists()
    assert "were not revoked" in caplog.text


def test_a_logout_removes_a_corrupt_file(
    client: ArenaClient, keycloak: Keycloak, arena_home: Path
) -> None:
    arena_home.mkdir(mode=0o700)
    (arena_home / "credentials.json").write_text("\x00")
    client.logout()
    assert not (arena_home / "credentials.json").exists()


def test_neither_waits_on_the_arena_of_this_machine(arena_home: Path, keycloak: Keycloak) -> None:
    folder = arena_home / "local"
    folder.mkdir(parents=True)
    (folder / "server.json").write_text(
        json.dumps({"url": "http://127.0.0.1:5", "pid": os.getpid()})
    )
    (folder / "token").write_text("arena_local_secret\n")
    (arena_home / "credentials.json").write_text('{"access_token": "hosted"}')
    with ArenaClient(profile="local") as client:
        client.login(force=True)
        client.logout()
        assert client.is_authenticated
    assert keycloak.asked == []
    assert (arena_home / "credentials.json").exists()


def test_two_logins_at_once_leave_one_whole_file(
    service: Service, keycloak: Keycloak, arena_home: Path
) -> None:
    def log_in() -> None:
        with ArenaClient(base_url=service.url) as client:
            client.login(**seen([]))

    threads = [threading.Thread(target=log_in) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    stored = json.loads((arena_home / "credentials.json").read_text())
    assert stored["access_token"] in keycloak.valid
    assert stored["refresh_token"] in keycloak.refreshers
