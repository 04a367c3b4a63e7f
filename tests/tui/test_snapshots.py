"""How the main screens look, as pictures that are compared; `--snapshot-update` takes them anew."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest
from tui_canned import DATASET, MANIFEST, TOKEN, Canned, metrics, serve
from tui_looking import screen_text

from arena_sdk import AsyncArenaClient
from arena_sdk.config import ConfigFile
from arena_tui.app import ArenaApp
from arena_tui.screens.base import ArenaScreen
from arena_tui.stores.hub import Hub

pytestmark = pytest.mark.usefixtures("frozen")
LARGE, SMALL = (120, 36), (80, 24)


@pytest.fixture
def threaded_url(canned: Canned) -> Iterator[str]:
    """The small Arena on a thread of its own, since a picture is taken in a loop of its own."""
    started, ended = threading.Event(), threading.Event()
    found: list[str] = []

    def run() -> None:
        async def main() -> None:
            async with serve(canned) as base_url:
                found.append(base_url)
                started.set()
                while not ended.is_set():  # noqa: ASYNC110
                    await asyncio.sleep(0.02)

        asyncio.run(main())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert started.wait(20)
    yield found[0]
    ended.set()
    thread.join(10)


@pytest.fixture
def picture(threaded_url: str, snap_compare: Callable[..., bool]) -> Callable[..., bool]:
    """Compare the screen after some keys, once certain words are on it."""

    def compare(keys, *words, size=LARGE, experiment=None, token=TOKEN) -> bool:
        ConfigFile().set_default_project("hosted", "merge-ppo")
        hub = Hub(lambda: AsyncArenaClient(token, base_url=threaded_url), refresh_seconds=60)
        app = ArenaApp(hub, experiment=experiment)

        async def wait(pilot) -> None:
            async def sees(*wanted) -> None:
                for _ in range(500):
                    if all(word in screen_text(app) for word in wanted):
                        return
                    await pilot.pause(0.02)
                raise AssertionError(f"{wanted} did not come:\n{screen_text(app)}")

            if token == TOKEN:
                await sees("● live")
                await pilot.pause(0.3)
            for key in keys:
                await pilot.press(key)
                await pilot.pause(0.3)
            await sees(*words)
            hub.machine.cpu_history = [10.0, 40.0, 90.0, 60.0]
            for screen in app.screen_stack:
                # At once, also behind a dialog.
                screen.show() if isinstance(screen, ArenaScreen) else None
            for typed in app.screen.query("TextArea, Input"):
                typed.cursor_blink = False
            await pilot.pause(0.8)

        return snap_compare(app, terminal_size=size, run_before=wait)

    return compare


@pytest.mark.parametrize("size", [LARGE, SMALL], ids=["large", "small"])
@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("1", ("grid-dqn", "CPU")),
        ("2", ("merge",)),
        ("6", ("merge-bad",)),
        ("7", ("grid-old",)),
    ],
    ids=["overview", "environments", "experiments", "agents"],
)
def test_full(picture, key, words, size):
    if key == "2" and size == LARGE:
        words = (*words, "Discrete")  # the details, which come after the list
    assert picture([key], *words, size=size)


@pytest.mark.parametrize(
    ("key", "words"),
    [("3", ("offers no datasets",)), ("4", ("scratch",)), ("5", ("arena-medium",))],
    ids=["datasets", "projects", "resources"],
)
def test_full_large(picture, key, words):
    assert picture([key], *words)


@pytest.mark.parametrize("size", [LARGE, SMALL], ids=["large", "small"])
def test_experiment_charts(picture, size):
    assert picture([], "fitness", "best", size=size, experiment="grid-dqn")


@pytest.mark.parametrize(
    ("tabs", "words"),
    [(1, ("Lineage",)), (3, ("step_12000",)), (4, ("generation 12",)), (5, ("algorithm:",))],
    ids=["population", "checkpoints", "logs", "manifest"],
)
def test_experiment_tabs(picture, tabs, words):
    assert picture(["tab"] * tabs, *words, experiment="grid-dqn")


@pytest.mark.parametrize(
    ("tabs", "words", "size"),
    [
        (0, ("◆ grid-old", "page 1"), LARGE),
        (0, ("◆ grid-old", "page 1"), SMALL),
        (1, ("★",), LARGE),
        (2, ("algorithm.lr",), LARGE),
    ],
    ids=["charts", "charts-small", "runs", "manifests"],
)
def test_compare(picture, canned, tabs, words, size):
    canned.manifests["grid-old"] = {**MANIFEST, "algorithm": {"name": "DQN", "lr": 0.002}}
    canned.records_by_run["grid-old"] = metrics(7)
    assert picture(["6", "space", "space", "c", *["tab"] * tabs], *words, size=size)


def test_new_experiment(picture):
    assert picture(["6", "n"], "It is good")


def test_new_experiment_with_an_offer_and_a_problem(picture):
    keys = ["6", "n", "e", "down", "end", "enter", "l"]
    assert picture(keys, "learn_step", "1 to mend")


@pytest.mark.parametrize("size", [LARGE, SMALL], ids=["large", "small"])
def test_settings(picture, size):
    assert picture(["f10"], "app.overview", size=size)


def test_jump(picture):
    assert picture(["ctrl+o"], " a ", " s ")


@pytest.mark.parametrize("keys", [["3"], ["3", "enter"]], ids=["large", "alone"])
def test_datasets(picture, canned, keys):
    canned.datasets, canned.dataset = [DATASET], DATASET
    canned.features["dataset_details"] = {}
    assert picture(keys, "what is 3 + 1?", size=SMALL if len(keys) > 1 else LARGE)


def test_playground(picture):
    assert picture(["7", "p"], "episode 3 step 12", "agent mean")


def test_help(picture):
    assert picture(["4", "question_mark"], "projects.default")


@pytest.mark.parametrize(
    ("key", "words"),
    [("1", "No experiment yet"), ("2", "No environment yet"), ("7", "No agent is deployed")],
    ids=["overview", "environments", "agents"],
)
def test_empty(picture, canned, key, words):
    canned.experiments, canned.deployments, canned.environments = [], [], {}
    assert picture([key], words)


def test_signed_out(picture):
    assert picture(["escape", "6"], "signed out", "not known", token="wrong", size=SMALL)


WIDE = (240, 70)
SCREENS = {
    "1": "CPU",
    "2": "Discrete",
    "4": "scratch",
    "5": "arena-medium",
    "6": "grid",
    "7": "grid",
}


@pytest.mark.parametrize("key", SCREENS)
def test_full_wide(picture, key):
    assert picture([key], SCREENS[key], size=WIDE)


@pytest.mark.parametrize("key", "234567")
def test_a_service_that_fails(picture, canned, key):
    canned.broken = True
    assert picture([key], "It is broken", size=SMALL)


@pytest.mark.parametrize("key", "234567")
def test_loading(picture, canned, key):
    canned.hanging = True
    assert picture([key], "Loading", size=SMALL)
