"""All other screens in every state and at three sizes, as text; `--snapshot-update` renews it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import pytest
from tui_canned import DATASET, Canned
from tui_tour import SIZES, Tour, app_on

from arena_sdk.config import ConfigFile
from arena_tui import registry
from arena_tui.screens.playground import PlaygroundScreen
from arena_tui.stores.base import Polled

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
