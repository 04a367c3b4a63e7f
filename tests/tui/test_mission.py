"""The main job on a real embedded Arena, by keys alone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from rich.cells import cell_len
from tui_looking import screen_lines, screen_text

from arena_sdk import AsyncArenaClient
from arena_tui.app import ArenaApp
from arena_tui.launch import ensure
from arena_tui.settings import Memory
from arena_tui.stores.hub import Hub

pytestmark = pytest.mark.slow


@pytest.fixture
def arena(tmp_path: Path):
    """An embedded Arena of its own, ended afterwards."""
    local = ensure(tmp_path / "arena")
    assert local.started
    yield local
    local.stop()


class Driver:
    """Presses keys, waits for what must then be seen, and checks that every line is whole."""

    def __init__(self, app, pilot):
        self.app, self.pilot = app, pilot

    async def press(self, *keys):
        await self.pilot.press(*keys)

    async def type(self, text):
        named = {"-": "minus", "/": "slash", ".": "full_stop", "_": "underscore"}
        for character in text:
            await self.pilot.press(named.get(character, character))

    async def sees(self, *words, seconds=60.0):
        deadline = asyncio.get_running_loop().time() + seconds
        while not all(word in screen_text(self.app) for word in words):
            if asyncio.get_running_loop().time() > deadline:
                raise AssertionError(f"{words} did not come:\n{screen_text(self.app)}")
            await self.pilot.pause(0.1)
        lines = screen_lines(self.app)
        width, height = self.app.size
        assert len(lines) == height
        assert {cell_len(line) for line in lines} == {width}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_the_whole_job_by_keys(arena, tmp_path, size):
    memory = Memory(tmp_path / "state.json")
    memory.set("folder", str(tmp_path))

    def client():
        return AsyncArenaClient(arena.token, base_url=arena.current_url(), profile="local")

    app = ArenaApp(Hub(client, refresh_seconds=0.5), memory=memory)
    async with app.run_test(size=size, notifications=True) as pilot:
        user = Driver(app, pilot)
        await user.sees("local", "live", "No experiment yet")
        # An environment: scaffolded, validated, its checks seen.
        await user.press("2")
        await user.sees("No environment yet")
        await user.press("n")
        await user.sees("Scaffold an environment")
        await user.press("enter")
        await user.sees("Validate it now?")
        await user.press("enter")
        await user.sees("Uploads 5 files")
        await user.press("enter")
        await user.sees("Episode lifecycle", "It is valid")
        # A run: its manifest comes from the folder; the first project is asked for.
        await user.press("e")
        await user.sees("my-env", "It is good")
        await user.press("ctrl+s")
        await user.sees("A first project")
        await user.press("enter")
        await user.sees("dqn-my-env", "running", "fitness", seconds=90)
        # Stopped, it leaves a checkpoint; resumed, it goes on to its end.
        await user.press("s")
        await user.sees("Stop dqn-my-env")
        await user.press("enter")
        await user.sees("stopped")
        await user.press("tab", "tab", "tab")
        await user.sees("step_", "best")
        await user.press("u")
        await user.sees("Steps of each member in all")
        await user.press("enter")
        await user.sees("completed", "100%", seconds=300)
        # Deployed, it acts: from the charts, where no checkpoint is in hand, it is asked which.
        await user.press("shift+tab", "shift+tab", "shift+tab", "d")
        await user.sees("the fittest checkpoint")
        await user.press("enter")
        await user.sees("▶ running", "7 Agents")
        assert app.current_mode == "agents"
        await user.sees("▶ running")
        await user.press("p")
        await user.sees("playing", "return so far")
        await user.press("space")
        await user.sees("paused")
        await user.press("full_stop")
        await user.press("space")
        await user.sees("playing")
        await user.press("c")
        await user.sees("of 10  random mean", "of 10  ") if size[0] > 100 else await user.sees(
            "agent mean"
        )
        await user.sees("comparison has ended", seconds=60) if size[0] > 100 else None
        game = app.screen.game
        while game.summary is None:
            await pilot.pause(0.1)
        assert game.summary["agent"]["mean"] > game.summary["random"]["mean"]
        # What is no longer wanted goes.
        await user.press("escape")
        await user.sees("dqn-my-env", "▶ running")
        await user.press("s")
        await user.sees("Stop agent")
        await user.press("tab", "enter")
        await user.sees("■ stopped")
        await user.press("2")
        await user.sees("validate my-env")
        await user.press("escape")
        await user.sees("profiled", "my-env")
        await user.press("x")
        await user.sees("Delete my-env v1?")
        await user.press("tab", "enter")
        await user.sees("No environment yet")
        await user.press("1")
        await user.sees("completed")
