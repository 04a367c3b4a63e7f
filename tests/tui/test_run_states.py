"""The screens of runs in every state and at three sizes, as text; `--snapshot-update` renews it."""

from __future__ import annotations

import copy

import pytest
from tui_canned import MANIFEST, Canned, metrics, serve
from tui_tour import SIZES, Tour, app_on

from arena_tui.stores import connection
from arena_tui.stores.base import Polled

pytestmark = [pytest.mark.usefixtures("frozen"), pytest.mark.slow]
ALL = ("charts", "population", "hyperparameters", "checkpoints", "logs", "manifest")
FEW = ("charts", "checkpoints", "logs")
"""Tabs that are looked at in other states than full; the rest say what the charts say."""
COMPARE = ("charts", "runs", "manifests")


class RunTour(Tour):
    """Looks at both screens tab by tab."""

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


@pytest.fixture
def two(canned: Canned) -> Canned:
    other = copy.deepcopy(MANIFEST)
    other["algorithm"]["lr"] = 0.002
    canned.manifests["grid-old"] = other
    canned.records_by_run["grid-old"] = metrics(7)
    return canned


async def test_full(two, url, snapshot):
    app = app_on(url)
    async with app.run_test(size=SIZES[0]) as pilot:
        tour = RunTour(app, pilot, snapshot)
        await tour.experiment("● live", "best", "target", tabs=ALL)
        await tour.compare("◆ grid-old", "target")


async def test_empty(two, url, snapshot):
    two.records, two.checkpoints, two.log_lines = [], [], []
    two.records_by_run = {}
    app = app_on(url)
    async with app.run_test(size=SIZES[0]) as pilot:
        tour = RunTour(app, pilot, snapshot)
        await tour.experiment("● live", "first generation is under way")
        await tour.compare("None of them has reported")


async def test_loading(two, url, snapshot):
    two.records, two.records_by_run, two.hanging = [], {}, True
    app = app_on(url)
    async with app.run_test(size=SIZES[0]) as pilot:
        tour = RunTour(app, pilot, snapshot)
        tour.loads = True
        await tour.experiment("● live", "Loading")
        await tour.compare("Loading")


async def test_error(two, url, snapshot):
    two.records, two.records_by_run, two.broken = [], {}, True
    app = app_on(url)
    async with app.run_test(size=SIZES[0]) as pilot:
        tour = RunTour(app, pilot, snapshot)
        await tour.experiment("● live", "It is broken")
        await tour.compare("It is broken")


async def test_missing(two, url, snapshot):
    two.experiments, two.records, two.records_by_run = [], [], {}
    app = app_on(url)
    async with app.run_test(size=SIZES[0]) as pilot:
        tour = RunTour(app, pilot, snapshot)
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
        tour = RunTour(app, pilot, snapshot)
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
        tour = RunTour(app, pilot, snapshot)
        await tour.sees("signed out")
        await pilot.press("escape")
        await tour.experiment("signed out", "not known")
        await tour.compare("signed out", "not known")
