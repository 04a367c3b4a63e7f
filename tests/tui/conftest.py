"""The dashboard on a small Arena with canned answers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from tui_canned import NOW, TOKEN, Canned, serve
from tui_looking import screen_text

from arena_sdk import AsyncArenaClient
from arena_sdk.config import ConfigFile
from arena_tui import format
from arena_tui.app import ArenaApp
from arena_tui.launch import LocalArena, ensure
from arena_tui.screens.frame import HeaderLine
from arena_tui.settings import Memory, Settings
from arena_tui.signing_in import local_client_maker
from arena_tui.stores.hub import Hub

# The identity server of the client's tests and the language model of the command line's serve here.
sys.path.append(str(Path(__file__).parents[1] / "sdk"))


@pytest.fixture(autouse=True)
def locale(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that shows UTF-8, whatever the one is that the tests run in."""
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture
def canned() -> Canned:
    """The state of the small Arena."""
    return Canned()


@pytest.fixture
async def url(canned: Canned) -> AsyncIterator[str]:
    """Its base URL, while it answers."""
    async with serve(canned) as base_url:
        yield base_url


@pytest.fixture
def make_hub(url: str) -> Callable[..., Hub]:
    """Make a hub of a client of the small Arena."""

    def make(**options: Any) -> Hub:
        def client() -> AsyncArenaClient:
            return AsyncArenaClient(options.get("token", TOKEN), base_url=url)

        ConfigFile().set_default_project("hosted", "merge-ppo")
        return Hub(client, refresh_seconds=0.3, readonly=options.get("readonly", False))

    return make


@pytest.fixture
def make_app(make_hub: Callable[..., Hub], tmp_path: Path) -> Callable[..., ArenaApp]:
    """Make the dashboard on the small Arena."""

    def make(settings: Settings | None = None, **options: Any) -> ArenaApp:
        memory = Memory(tmp_path / "state.json")
        memory.set("folder", str(tmp_path))
        memory.set("manifest-folder", str(tmp_path))
        experiment = options.pop("experiment", None)
        hub = make_hub(**options)
        return ArenaApp(hub, settings=settings, memory=memory, experiment=experiment)

    return make


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock that is shown, and the ages."""
    monkeypatch.setattr(
        HeaderLine, "_clock", lambda self: datetime.fromtimestamp(NOW, UTC).strftime("%H:%M:%S UTC")
    )
    monkeypatch.setattr(format.time, "time", lambda: NOW)


Wait = Callable[[Pilot[Any], Callable[[], Any]], Any]


@pytest.fixture
def until() -> Wait:
    """Wait until something holds, redrawing all the while."""

    async def wait(pilot: Pilot[Any], holds: Callable[[], Any], seconds: float = 10.0) -> None:
        deadline = asyncio.get_running_loop().time() + seconds
        while not holds():
            if asyncio.get_running_loop().time() > deadline:
                raise AssertionError(f"It did not come true:\n{screen_text(pilot.app)}")
            await pilot.pause(0.02)
        await pilot.pause()

    return wait


@pytest.fixture(scope="session")
def local_arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalArena]:
    """An embedded Arena for all tests of this process that want a real one."""
    local = ensure(tmp_path_factory.mktemp("arena") / "data")
    yield local
    local.stop()


@pytest.fixture
def local_app(local_arena: LocalArena, tmp_path: Path) -> ArenaApp:
    """The dashboard on the embedded Arena."""
    memory = Memory(tmp_path / "state.json")
    for name in ("folder", "manifest-folder", "data-folder"):
        memory.set(name, str(tmp_path))
    return ArenaApp(Hub(local_client_maker(local_arena), refresh_seconds=0.5), memory=memory)
