"""All other screens in every state and at three sizes, as text; `--snapshot-update` renews it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping

import pytest
from sdk_service import running
from tui_canned import DATASET, Canned, serve
from tui_tour import SIZES, Tour, app_on

from arena_sdk.config import ConfigFile
from arena_tui import registry
from arena_tui.screens.chat import ChatScreen
from arena_tui.screens.playground import PlaygroundScreen
from arena_tui.screens.validation import ValidationScreen
from arena_tui.stores import connection
from arena_tui.stores.base import Polled
from arena_tui.stores.chat import Chat
from tests.cli.llm_service import LanguageService

pytestmark = [pytest.mark.usefixtures("frozen"), pytest.mark.slow]
FULL = {
    "overview": ("grid-dqn", "not red", "CPU"),
    "environments": ("merge", "Discrete"),
    "datasets": ("what is 3 + 1?",),
    "projects": ("scratch",),
    "resources": ("arena-medium", "copies"),
    "experiments": ("merge-bad",),
    "agents": ("grid-old",),
    "new": ("DQN", "It is good"),
    "playground": ("episode 3 step 12",),
}


class ScreenTour(Tour):
    """Goes through the main screens, and those that are opened from them."""

    async def tabs(self, words: Mapping[str, tuple[str, ...]], *everywhere: str) -> None:
        for spec in registry.TABS:
            await self.app.go(spec.id)
            await self.sees(*words.get(spec.id, ()), *everywhere)
            await self.take(spec.id)

    async def others(self, words: Mapping[str, tuple[str, ...]], *everywhere: str) -> None:
        await self.app.open_new()
        await self.sees(*words.get("new", ()), *everywhere)
        await self.take("new")
        await self.app.open("agents", lambda: PlaygroundScreen("grid-old"))
        await self.sees(*words.get("playground", ()), *everywhere)
        await self.take("playground")


@pytest.fixture
def stocked(canned: Canned, monkeypatch) -> Canned:
    """An Arena with something of everything, at which time stands still."""
    ConfigFile().set_default_project("hosted", "merge-ppo")
    canned.datasets, canned.dataset = [DATASET], DATASET
    canned.features["dataset_details"] = {}
    monkeypatch.setattr(Polled, "age", property(lambda store: store.fetched_at and 5.0))
    return canned


@pytest.fixture
async def tour(url, stocked, snapshot) -> AsyncIterator[ScreenTour]:
    """A tour of the dashboard on it."""
    app = app_on(url)
    async with app.run_test(size=SIZES[-1]) as pilot:
        yield ScreenTour(app, pilot, snapshot)


async def test_full(tour):
    await tour.sees("● live")
    await tour.tabs(FULL)
    await tour.others(FULL)
    await tour.app.act_settings()
    await tour.sees("app.overview")
    await tour.take("settings")


@pytest.fixture
def emptied(stocked: Canned) -> None:
    """Nothing at all in it."""
    stocked.experiments, stocked.deployments, stocked.environments = [], [], {}
    stocked.projects, stocked.datasets, stocked.tiers = [], [], {}


async def test_empty(emptied, tour):
    await tour.sees("● live")
    await tour.tabs({"datasets": ("No dataset",), "agents": ("No agent",)})
    await tour.others({"new": ("DQN",)})


@pytest.fixture
def hanging(stocked: Canned) -> None:
    """It answers nothing."""
    stocked.hanging = True


async def test_loading(hanging, tour):
    tour.loads = True
    await tour.sees("● live")
    await tour.tabs({})
    await tour.others({})


@pytest.fixture
def broken(stocked: Canned) -> None:
    """It answers with errors."""
    stocked.broken = True


async def test_error(broken, tour):
    await tour.sees("● live")
    seen = {spec.id: ("It is broken",) for spec in registry.TABS}
    await tour.tabs(seen)
    await tour.others({"playground": ("It is broken",)})


async def test_offline(stocked, snapshot, monkeypatch):
    monkeypatch.setattr(connection, "OFFLINE_AFTER", -1)
    async with serve(stocked) as url:
        app = app_on(url)
        context = app.run_test(size=SIZES[-1])
        pilot = await context.__aenter__()
        tour = ScreenTour(app, pilot, snapshot)
        for spec in registry.TABS:
            await app.go(spec.id)
            await tour.sees("● live", *FULL[spec.id])
    try:
        app.hub.refresh()
        await tour.sees("offline")
        await tour.tabs(FULL, "Shown as of")
        await tour.others({"playground": ("cannot be reached",)})
    finally:
        await context.__aexit__(None, None, None)


async def test_signed_out(url, stocked, snapshot):
    app = app_on(url, "wrong")
    async with app.run_test(size=SIZES[-1]) as pilot:
        tour = ScreenTour(app, pilot, snapshot)
        await tour.sees("Where is your Arena?")
        await tour.take("overview-asked")
        await pilot.press("escape")
        await tour.tabs({}, "signed out")
        await tour.others({}, "signed out")


DIALOGS = {
    "overview": (("palette", ("ctrl+p",), "Go to"), ("jump", ("ctrl+o",), " a ")),
    "environments": (
        ("scaffold", ("n",), "Scaffold an environment"),
        ("delete", ("x",), "Delete"),
        ("help", ("question_mark",), "environments.validate"),
    ),
    "projects": (("form", ("n",), "New project"), ("typed", ("x",), "to confirm")),
    "experiments": (("stop", ("s",), "Stop grid-dqn"),),
    "agents": (("deploy", ("n",), "of which experiment"),),
}
"""By screen: the name of a dialog, its keys, and what it says."""


async def test_dialogs(tour, monkeypatch):
    monkeypatch.chdir("/")  # new folders are offered where one is
    await tour.sees("● live")
    for screen, dialogs in DIALOGS.items():
        await tour.app.go(screen)
        await tour.sees(*FULL[screen])
        for name, keys, words in dialogs:
            await tour.pilot.press(*keys)
            await tour.sees(words)
            await tour.take(f"{screen}-{name}")
            await tour.pilot.press("escape")


async def test_validation(canned, tour, tmp_path):
    (tmp_path / "grid.py").write_text("class Grid: ...\n")
    await tour.sees("● live")
    canned.delay = 3600.0
    job = tour.app.hub.environments.validate_folder("grid", "v1", tmp_path)
    await tour.app.open("environments", lambda: ValidationScreen(job))
    await tour.sees("1 in progress")
    await tour.take("running")
    job.cancel()
    await tour.sees("cancelled", "credits")
    await tour.take("cancelled")
    canned.delay = 0.0
    job = tour.app.hub.environments.validate_folder("grid", "v1", tmp_path)
    await tour.app.open("environments", lambda: ValidationScreen(job))
    await tour.sees("Not valid", "credits")
    await tour.take("not-valid")


async def talk(tour: ScreenTour, *words: str) -> Chat:
    """Open the chat anew, and wait for what it says."""
    await tour.app.open("agents", lambda: ChatScreen("chatter"))
    await tour.sees(*words)
    return tour.app.screen.chat


async def test_chat(snapshot):
    model = LanguageService()
    model.on("GET", "//api/users/current", {"first_name": "Ada"})
    model.on("GET", "//api/users/credits", {"credits": 3})
    model.on("GET", "/projects", [])
    row = "/inference/deployments/one"
    with contextlib.ExitStack() as stack:
        url = model.url = stack.enter_context(running(model))
        app = app_on(url, "a-key")
        async with app.run_test(size=SIZES[-1]) as pilot:
            tour = ScreenTour(app, pilot, snapshot)
            await tour.sees("polling")
            chat = await talk(tour, "Say something", "temperature")
            chat.session_id = "a-session"
            await tour.take("empty")
            for prompt, end in (("hello", "is turn 1"), ("please fail", "It broke off")):
                chat.ask(prompt)
                await tour.sees(end)
                while chat.is_generating:
                    await pilot.pause(0.02)
                chat.turns[-1].seconds = 2.0
            await tour.take("full")
            for name, status in (("error", 500), ("signed-out", 401)):
                model.on("GET", row, {"message": "It will not."}, status)
                await talk(tour, "It will not")
                await tour.take(name)
            stack.close()
            await talk(tour, "cannot be reached")
            await tour.take("offline")
