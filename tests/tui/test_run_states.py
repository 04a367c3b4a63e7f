"""The screens of runs in every state and at three sizes, as text; `--snapshot-update` renews it."""

from __future__ import annotations

import copy
import re

import pytest
from textual.pilot import Pilot
from tui_canned import MANIFEST, TOKEN, Canned, metrics, serve
from tui_looking import screen_text

from arena_sdk import AsyncArenaClient
from arena_tui.app import ArenaApp
from arena_tui.stores import connection
from arena_tui.stores.base import Polled
from arena_tui.stores.hub import Hub

pytestmark = [pytest.mark.usefixtures("frozen"), pytest.mark.slow]
SIZES = ((80, 24), (120, 36), (240, 70))
ALL = ("charts", "population", "hyperparameters", "checkpoints", "logs", "manifest")
FEW = ("charts", "checkpoints", "logs")
"""Tabs that are looked at in other states than full; the rest say what the charts say."""
COMPARE = ("charts", "runs", "manifests")


class Tour:
    """Looks at both screens tab by tab, each at every size."""

    def __init__(self, app: ArenaApp, pilot: Pilot, snapshot) -> None:
        self.app, self.pilot, self.snapshot = app, pilot, snapshot
        self.loads = False

    async def take(self, name: str) -> None:
        while not self.loads and "Loading" in screen_text(self.app):
            await self.pilot.pause(0.05)
        for width, height in SIZES:
            await self.pilot.resize_terminal(width, height)
            assert await self.settled() == self.snapshot(name=f"{name}-{width}x{height}")

    async def settled(self) -> str:
        """Return what is on the screen once it has stood still for a while."""
        seen, since = "", 0
        for _ in range(400):
            await self.pilot.pause(0.05)
            now = steady(screen_text(self.app))
            since = since + 1 if now == seen else 0
            if since == 4:
                return now
            seen = now
        raise AssertionError(f"It does not stand still:\n{seen}")

    async def sees(self, *words: str) -> None:
        for _ in range(500):
            if all(word in screen_text(self.app) for word in words):
                return
            await self.pilot.pause(0.02)
        raise AssertionError(f"{words} did not come:\n{screen_text(self.app)}")

    async def experiment(self, *words: str, tabs: tuple[str, ...] = FEW) -> None:
        await self.app.open_experiment("grid-dqn")
        await self.sees(*words)
        for tab in ALL:
            if tab in tabs:
                await self.take(f"experiment-{tab}")
            await self.pilot.press("tab")

    async def compare(self, *words: str) -> None:
        await self.app.open_compare(["grid-dqn", "grid-old"])
        await self.sees(*words)
        for tab in COMPARE:
            await self.take(f"compare-{tab}")
            await self.pilot.press("tab")


def steady(text: str) -> str:
    """Return a screen without what a clock says, and without blanks at the ends of lines."""
    first, *rest = text.split("\n")
    lines = [re.sub(r" +", " ", first), *rest]
    text = "\n".join(re.sub(r"\b\d+s\b( ago)?", r"#s\1", line).rstrip() for line in lines)
    return re.sub(r"(127\.0\.0\.1):\d+", r"\1:#####", text)


@pytest.fixture
def two(canned: Canned) -> Canned:
    other = copy.deepcopy(MANIFEST)
    other["algorithm"]["lr"] = 0.002
    canned.manifests["grid-old"] = other
    canned.records_by_run["grid-old"] = metrics(7)
    return canned


def app_on(url: str, token: str = TOKEN) -> ArenaApp:
    return ArenaApp(Hub(lambda: AsyncArenaClient(token, base_url=url), refresh_seconds=60))


async def test_full(two, url, snapshot):
    app = app_on(url)
    async with app.run_test(size=SIZES[0]) as pilot:
        tour = Tour(app, pilot, snapshot)
        await tour.experiment("● live", "best", "target", tabs=ALL)
        await tour.compare("◆ grid-old", "target")


async def test_empty(two, url, snapshot):
    two.records, two.checkpoints, two.log_lines = [], [], []
    two.records_by_run = {}
    app = app_on(url)
    async with app.run_test(size=SIZES[0]) as pilot:
        tour = Tour(app, pilot, snapshot)
        await tour.experiment("● live", "first generation is under way")
        await tour.compare("None of them has reported")


async def test_loading(two, url, snapshot):
    two.records, two.records_by_run, two.hanging = [], {}, True
    app = app_on(url)
    async with app.run_test(size=SIZES[0]) as pilot:
        tour = Tour(app, pilot, snapshot)
        tour.loads = True
        await tour.experiment("● live", "Loading")
        await tour.compare("Loading")


async def test_error(two, url, snapshot):
    two.records, two.records_by_run, two.broken = [], {}, True
    app = app_on(url)
    async with app.run_test(size=SIZES[0]) as pilot:
        tour = Tour(app, pilot, snapshot)
        await tour.experiment("● live", "It is broken")
        await tour.compare("It is broken")


async def test_missing(two, url, snapshot):
    two.experiments, two.records, two.records_by_run = [], [], {}
    app = app_on(url)
    async with app.run_test(size=SIZES[0]) as pilot:
        tour = Tour(app, pilot, snapshot)
        await app.open_experiment("grid-dqn")
        await tour.sees("There is no experiment grid-dqn")
        await tour.take("experiment-charts")


async def test_offline(two, snapshot, monkeypatch):
    monkeypatch.setattr(connection, "OFFLINE_AFTER", -1)
    # An age of two digits would break lines at another word.
    age = property(lambda store: None if store.fetched_at is None else 5.0)
    monkeypatch.setattr(Polled, "age", age)
    async with serve(two) as url:
        app = app_on(url)
        context = app.run_test(size=SIZES[0])
        pilot = await context.__aenter__()
        tour = Tour(app, pilot, snapshot)
        await app.open_experiment("grid-dqn")
        await tour.sees("● live", "best", "target")
        await app.open_compare(["grid-dqn", "grid-old"])
        await tour.sees("◆ grid-old", "target")
    try:
        app.hub.refresh()
        await tour.sees("offline", "Shown as of")
        await tour.experiment("offline", "Shown as of")
        await tour.compare("offline", "Shown as of")
    finally:
        await context.__aexit__(None, None, None)


async def test_signed_out(two, url, snapshot):
    app = app_on(url, token="wrong")
    async with app.run_test(size=SIZES[0]) as pilot:
        tour = Tour(app, pilot, snapshot)
        await tour.sees("signed out")
        await pilot.press("escape")
        await tour.experiment("signed out", "not known")
        await tour.compare("signed out", "not known")
