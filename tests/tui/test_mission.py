"""The main job on a real embedded Arena, by keys alone."""

from __future__ import annotations

import asyncio
import csv
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


@pytest.fixture
def app(arena, tmp_path: Path):
    """The dashboard on it, whose pickers begin in a folder of the test."""
    memory = Memory(tmp_path / "state.json")
    memory.set("folder", str(tmp_path))
    memory.set("recordings", str(tmp_path / "recordings"))

    def client():
        return AsyncArenaClient(arena.token, base_url=arena.current_url(), profile="local")

    return ArenaApp(Hub(client, refresh_seconds=0.5), memory=memory)


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

    async def until(self, holds, what, seconds=60.0):
        deadline = asyncio.get_running_loop().time() + seconds
        while not holds():
            if asyncio.get_running_loop().time() > deadline:
                raise AssertionError(f"{what} did not come:\n{screen_text(self.app)}")
            await self.pilot.pause(0.1)

    async def sees(self, *words, seconds=60.0):
        await self.until(
            lambda: all(word in screen_text(self.app) for word in words), words, seconds
        )
        lines = screen_lines(self.app)
        width, height = self.app.size
        assert len(lines) == height
        assert {cell_len(line) for line in lines} == {width}


@pytest.mark.timeout(600)
async def test_the_whole_job_by_keys_on_a_small_terminal(app):
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
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
        await user.sees("agent mean")
        game = app.screen.game
        await user.until(lambda: game.summary is not None, "the end of the comparison")
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


class Mission:
    """The steps of the mission, each begun where the one before has ended."""

    def __init__(self, user, folder):
        self.user, self.folder = user, folder

    async def scaffold_with_a_fault(self):
        user, source = self.user, self.folder / "my-env" / "my_env.py"
        await user.press("2")
        await user.sees("No environment yet")
        await user.press("n")
        await user.sees("Scaffold an environment")
        await user.press("enter")
        await user.sees("Validate it now?")
        await user.press("escape")
        text = source.read_text()
        assert FAULT[0] in text
        source.write_text(text.replace(*FAULT))

    async def validate(self):
        user = self.user
        await user.press("v")
        await user.sees("Validate which folder?")
        await user.type("/my-env")
        await user.press("enter")
        await user.sees("Uploads 5 files", "my-env")
        await user.press("enter")

    async def mend_what_the_check_says(self):
        user, source = self.user, self.folder / "my-env" / "my_env.py"
        await user.sees("Not valid:", "✗", "float64")
        await user.press("enter")  # the failed check is in hand: all of what it found
        await user.until(lambda: user.app.screen.is_modal, "the whole of it")
        await user.sees("float32")
        await user.press("escape", "escape")
        await user.sees("my-env", "·")
        source.write_text(source.read_text().replace(*reversed(FAULT)))
        await self.validate()
        await user.sees("It is valid")

    async def profile(self):
        user = self.user
        await user.press("escape", "G", "p")
        await user.sees("profile my-env", "✓ done", seconds=90)
        await user.press("escape")
        await user.sees("steps/s", "my-env", "Discrete")

    async def submit_after_a_typo(self):
        user = self.user
        await user.press("e")
        await user.sees("It is good", "my-env")
        await user.press("e")
        line = user.app.screen.text.splitlines().index("  tau: 0.01")
        await user.press("ctrl+home", *["down"] * line, *["right"] * 5, "y")
        await user.sees("1 to mend", "algorithm.tauy", "Did you mean 'tau'?", f"{line + 1}✗")
        await user.press("ctrl+s")
        await user.sees(f"Mend the manifest first: line {line + 1}")
        await user.press("escape", "f8")
        assert user.app.screen.editor.cursor_location[0] == line
        await user.press("home", *["right"] * 5, "delete")
        await user.sees("It is good")
        await self.submit_as("first")

    async def submit_as(self, name):
        user = self.user
        await user.press("escape")
        await user.press("p")
        await user.sees("How to run it")
        await user.type(name)
        await user.press("enter")
        await user.sees(name, "nothing to mend")
        await user.press("ctrl+s")

    async def watch_to_the_end(self, name):
        user = self.user
        await user.sees(name, "running", "fitness", seconds=90)
        columns = user.app.hub.run(name).columns
        await user.until(lambda: columns.generation >= 2, "the second generation", 90)
        seen = columns.count
        await user.until(lambda: columns.count > seen, "more of the live charts", 90)
        await user.sees("completed", "100%", seconds=300)

    async def second_run(self):
        user = self.user
        await user.press("2", "e")
        await user.sees("It is good")
        await user.press("e")
        line = user.app.screen.text.splitlines().index("  lr: 0.001")
        await user.press("ctrl+home", *["down"] * line, "end", "5")
        await user.sees("It is good")
        await self.submit_as("second")

    async def compare(self):
        user = self.user
        await user.press("6")
        await user.press("escape")
        await user.sees("first", "second")
        await user.press("g", "space", "space", "c")
        await user.sees("second · first", "fitness", "Runs")
        await user.press("tab")
        await user.sees("★", "first", "second")
        await user.press("tab")
        await user.sees("algorithm.lr", "0.0015")

    async def deploy(self, name):
        user = self.user
        await user.press("6", "g")
        await user.until(lambda: user.app.screen.selected is not None, "a selected run")
        while user.app.screen.selected["name"] != name:
            await user.press("j")
        await user.press("d")
        await user.sees("the fittest checkpoint")
        await user.press("enter")
        await user.sees("7 Agents", "▶ running", name)

    async def play_and_record(self):
        user = self.user
        await user.press("p")
        await user.sees("playing", "return so far", "action")
        await user.press("v")
        await user.sees("Record an episode")
        await user.press("enter")
        await user.sees("recording")
        files = self.folder / "recordings"
        await user.until(lambda: len(list(files.glob("[!.]*"))) == 2, "the recording", 90)
        await user.sees("Recorded")
        return {path.suffix: path for path in files.iterdir()}

    async def clean_up(self):
        user = self.user
        await user.press("escape")
        await user.sees("▶ running")
        await user.press("s")
        await user.sees("Stop agent")
        await user.press("tab", "enter")
        await user.sees("■ stopped")
        await user.press("6", "x")
        await user.sees("Delete which?")
        await user.press("down", "enter")
        await user.sees("Delete 2 experiments?", "checkpoints of")
        await user.type(user.app.hub.marks.names[0])
        await user.press("enter")
        await user.sees("No experiment yet")


FAULT = ("dtype=np.float32)", "dtype=np.float64)")
"""What is right in the scaffold, and a mistake that everyone makes once."""


@pytest.mark.timeout(900)
async def test_the_whole_mission_by_keys(app, tmp_path):
    from PIL import Image

    async with app.run_test(size=(200, 50), notifications=True) as pilot:
        user = Driver(app, pilot)
        mission = Mission(user, tmp_path)
        await user.sees("local", "live", "No experiment yet")
        await mission.scaffold_with_a_fault()
        await mission.validate()
        await mission.mend_what_the_check_says()
        await mission.profile()
        await mission.submit_after_a_typo()
        await user.sees("A first project")
        await user.press("enter")
        await mission.watch_to_the_end("first")
        await mission.second_run()
        await mission.watch_to_the_end("second")
        await mission.compare()
        best = max("first", "second", key=lambda name: app.hub.run(name).figures["best_fitness"])
        await mission.deploy(best)
        files = await mission.play_and_record()
        with files[".csv"].open(newline="") as file:
            steps = list(csv.DictReader(file))
        assert steps[0]["step"] == "1"
        assert {"observation[0]", "action", "reward", "return"} <= set(steps[0])
        assert float(steps[-1]["return"]) == pytest.approx(sum(float(s["reward"]) for s in steps))
        with Image.open(files[".gif"]) as image:
            assert image.size == (240, 60)
            # Two looks that are the same are one frame of an animation.
            assert 1 < image.n_frames <= len(steps) + 1
        await mission.clean_up()
