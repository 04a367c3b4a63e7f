"""Device login, renewal and logout at an OAuth server that others wrote: npm's `oidc-provider`.

A login is approved over HTTP as a browser would do it: pages are fetched, their forms filled in.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from renewing import renew_in_processes
from sdk_service import Service
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from arena_sdk import ArenaAuthError, ArenaClient, AsyncArenaClient, oauth
from arena_sdk.oauth import DeviceCode

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

REQUIREMENT = "oidc-provider@9.13.3"
SCRIPT = Path(__file__).with_name("oidc_provider.mjs")


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the identity server, installed into a temporary folder."""
    folder = tmp_path_factory.mktemp("oidc-provider")
    npm, node = shutil.which("npm"), shutil.which("node")
    assert npm is not None, "Node.js with npm is needed for this test"
    assert node is not None
    install = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", REQUIREMENT]
    subprocess.run(install, cwd=folder, check=True, timeout=300)
    shutil.copy(SCRIPT, folder)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [node, SCRIPT.name],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, (folder / "log").read_text()
        yield json.loads(line)["url"]
    finally:
        process.stdin.close()
        process.stdout.close()
        process.kill()
        process.wait(30)


def form_of(page: httpx.Response) -> tuple[str, dict[str, str]] | None:
    """Return where a page's form goes and what it sends, or None for a page without one."""
    found = re.search(r"<form[^>]*>(.*?)</form>", page.text, re.DOTALL)
    if found is None:
        return None
    action = re.search(r'action="([^"]*)"', found[0])
    fields: dict[str, str] = {}
    for tag in re.findall(r"<input[^>]*>", found[1]):
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if "name" in attributes:
            fields[attributes["name"]] = unescape(attributes.get("value", ""))
    return unescape(action[1]) if action else str(page.url), fields


def approve(code: DeviceCode, *, abort: bool = False) -> str:
    """Log in as `ada` and approve a device, or abort; return the text of the last page."""
    with httpx.Client(follow_redirects=True, timeout=30) as browser:
        page = browser.get(code.address)
        for _ in range(10):
            form = form_of(page)
            if form is None:
                return page.text
            action, fields = form
            if abort and fields.pop("confirm", None):
                return browser.post(action, data={**fields, "abort": "yes"}).text
            fields |= {"login": "ada", "password": "x"} if "login" in fields else {}
            page = browser.post(str(page.url.join(action)), data=fields)
    raise AssertionError(f"no end of forms: {page.text[:500]}")


def approving(said: list[str]) -> Any:
    """Return an `on_code` that approves from another thread, as somebody at a browser would."""

    def on_code(code: DeviceCode) -> None:
        threading.Thread(target=lambda: said.append(approve(code)), daemon=True).start()

    return on_code


@pytest.fixture
def arena(service: Service, provider: str, monkeypatch: pytest.MonkeyPatch) -> Service:
    """A service that asks the identity server whose a token is."""
    monkeypatch.setenv("ARENA_BASE_URL", service.url)
    monkeypatch.setenv("ARENA_KEYCLOAK_URL", provider)

    def whose(request: Request) -> Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        known = oauth.claims(token)
        if known.get("iss") != provider or known.get("aud") != "urn:arena":
            return JSONResponse({"message": "who are you?"}, 401)
        return JSONResponse({"email": known["sub"]})

    service.on("GET", "//api/users/current", whose)
    return service


def stored(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home / "credentials.json").read_text())
    return found


def test_log_in_renew_and_log_out(arena: Service, arena_home: Path) -> None:
    said: list[str] = []
    with ArenaClient() as client:
        assert not client.is_authenticated
        client.login(on_code=approving(said), open_browser=False, timeout=120)
        assert "Success" in said[0]
        first = stored(arena_home)
        # Its access tokens end within the minute, so each request renews the login.
        assert client.get_current_user()["email"] == "ada"
        second = stored(arena_home)
        assert second["access_token"] != first["access_token"]
        assert second["refresh_token"] != first["refresh_token"]
    with ArenaClient() as later:
        assert later.get_current_user()["email"] == "ada"
        third = stored(arena_home)
        later.logout()
    assert not (arena_home / "credentials.json").exists()
    # It was revoked there too: what was kept aside is worth nothing.
    (arena_home / "credentials.json").write_text(json.dumps(third))
    with ArenaClient() as thief, pytest.raises(ArenaAuthError, match="has ended"):
        thief.get_current_user()


async def test_log_in_async(arena: Service, arena_home: Path) -> None:
    said: list[str] = []
    async with AsyncArenaClient() as client:
        await client.login(on_code=approving(said), open_browser=False, timeout=120)
        assert (await client.get_current_user())["email"] == "ada"


def test_a_login_that_is_denied_there(arena: Service) -> None:
    def deny(code: DeviceCode) -> None:
        threading.Thread(target=lambda: approve(code, abort=True), daemon=True).start()

    with ArenaClient() as client, pytest.raises(ArenaAuthError, match="denied"):
        client.login(on_code=deny, open_browser=False, timeout=120)


def test_a_client_that_is_not_known_there(arena: Service) -> None:
    with (
        ArenaClient(client_id="another") as client,
        pytest.raises(ArenaAuthError, match="refuses to begin a login"),
    ):
        client.login(open_browser=False)


def test_two_processes_that_renew_at_once_both_stay_logged_in(
    arena: Service, arena_home: Path
) -> None:
    """A refresh token is good for one use here, and a second use ends the whole login."""
    with ArenaClient() as client:
        client.login(on_code=approving([]), open_browser=False, timeout=120)
    assert renew_in_processes(4) == ["ada"] * 4
