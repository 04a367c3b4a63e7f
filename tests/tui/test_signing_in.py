"""Getting in by keys: a login by device, a pasted token, an Arena on this machine."""

from __future__ import annotations

import json
import stat
import sys

import pytest
from sdk_keycloak import Keycloak, keycloak_running
from tui_canned import TOKEN
from tui_looking import screen_lines, screen_text

from arena_sdk import AsyncArenaClient
from arena_tui.app import ArenaApp
from arena_tui.settings import Memory
from arena_tui.stores.hub import Hub


@pytest.fixture
def keycloak(monkeypatch):
    """The identity server that clients use."""
    with keycloak_running(Keycloak(script=["pending"])) as made:
        monkeypatch.setenv("ARENA_KEYCLOAK_URL", made.url)
        yield made


@pytest.fixture
def fresh_app(url, tmp_path):
    """A dashboard at its first start: an address, and no credential."""
    hub = Hub(lambda: AsyncArenaClient(base_url=url), refresh_seconds=0.3)
    return ArenaApp(hub, memory=Memory(tmp_path / "state.json"))


async def type_text(pilot, text):
    for character in text:
        await pilot.press({"-": "minus", " ": "space"}.get(character, character))


async def test_a_first_start_asks_once_and_a_device_login_is_shown_and_used(
    fresh_app, keycloak, canned, until, arena_home
):
    app = fresh_app
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, lambda: "Where is your Arena?" in screen_text(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: "WDJB-MJHT" in screen_text(app))
        assert "/realms/arena/device?user_code=" in screen_text(app)
        await until(pilot, lambda: "the code is good for 9:5" in screen_text(app))
        assert "signed out" in screen_lines(app)[0] or "Log in to" in screen_text(app)
        keycloak.script[:] = ["ok"]
        canned.accepts = keycloak.valid.__contains__
        await until(pilot, lambda: "● live" in screen_lines(app)[0])
        await until(pilot, lambda: "grid-dqn" in screen_text(app))
    path = arena_home / "credentials.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["access_token"] in keycloak.valid


async def test_a_login_can_be_broken_off_and_is_not_asked_for_again_by_itself(
    fresh_app, keycloak, until, arena_home
):
    app = fresh_app
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Where is your Arena?" in screen_text(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: "WDJB-MJHT" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: "signed out" in screen_lines(app)[0])
        polls = len(keycloak.grants)
        await pilot.pause(1.2)
        assert len(keycloak.grants) == polls
        assert not app.screen.is_modal
        await pilot.press("ctrl+l")
        await until(pilot, lambda: "Where is your Arena?" in screen_text(app))
    assert not (arena_home / "credentials.json").exists()


async def test_a_login_that_is_denied_says_so(fresh_app, keycloak, until):
    keycloak.script = ["access_denied"]
    app = fresh_app
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "Where is your Arena?" in screen_text(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: "denied" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: not app.screen.is_modal)


@pytest.mark.parametrize("keep", [False, True])
async def test_a_pasted_token_is_used_and_kept_only_when_asked(fresh_app, until, arena_home, keep):
    app = fresh_app
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "Where is your Arena?" in screen_text(app))
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: "A token for" in screen_text(app))
        await type_text(pilot, TOKEN)
        assert TOKEN not in screen_text(app)
        await pilot.press("tab", *(["space"] if keep else []), "tab", "tab", "enter")
        await until(pilot, lambda: "● live" in screen_lines(app)[0])
    assert (arena_home / "credentials.json").exists() is keep


async def test_a_wrong_token_leads_back_to_the_question(fresh_app, until):
    app = fresh_app
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "Where is your Arena?" in screen_text(app))
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: "A token for" in screen_text(app))
        await type_text(pilot, "wrong")
        await pilot.press("enter")
        await until(pilot, lambda: "This token is not known" in screen_text(app))
        assert "log in with a browser" in screen_text(app)


async def test_a_token_that_ceases_to_be_good_is_told_and_the_question_asked(
    make_app, canned, until
):
    app = make_app()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "● live" in screen_lines(app)[0])
        canned.token = "another"
        await until(pilot, lambda: "log in with a browser" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: "signed out" in screen_lines(app)[0])
        canned.token = TOKEN
        await until(pilot, lambda: "● live" in screen_lines(app)[0], 30)


async def test_this_machine_without_the_extra_says_what_to_install(fresh_app, until, monkeypatch):
    monkeypatch.setitem(sys.modules, "arena_sdk.local", None)
    app = fresh_app
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await until(pilot, lambda: "Where is your Arena?" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "pip install" in screen_text(app))


async def test_this_machine_starts_an_arena_and_shows_it(fresh_app, until):
    app = fresh_app
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "Where is your Arena?" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "local ● live" in screen_lines(app)[0], 60)
        await until(pilot, lambda: "No experiment yet" in screen_text(app))
    assert app.local is not None
    assert app.local.started
    app.local.stop()
