"""What can be done in the playground beside playing: ask, measure, record."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from arena_tui import format
from arena_tui.screens.base import ArenaScreen
from arena_tui.screens.environment_actions import absolute_path
from arena_tui.screens.readout import readout
from arena_tui.stores.asking import Asking, read_observation
from arena_tui.stores.play import Game
from arena_tui.stores.recording import FRAMES_A_SECOND, Recording
from arena_tui.widgets.ask_dialog import AskDialog
from arena_tui.widgets.dialogs import MessageDialog
from arena_tui.widgets.form_dialog import Field, FormDialog


class PlayActions(ArenaScreen):
    """Mixed into the playground.

    Attributes:
        deployment: Whose agent it is.
        game: The game that goes on.
        asking: Asks the agent by hand.
    """

    deployment: str
    game: Game | None
    asking: Asking | None = None

    @property
    def observation(self) -> Any:
        """What the agent saw last, or None."""
        return self.game.step.get("observation") if self.game is not None else None

    def _connected(self) -> Asking:
        if self.asking is None:
            self.asking = Asking(self.hub, self.deployment)
        return self.asking

    def act_ask(self) -> None:
        """Ask for the action on an observation, the last one to begin with."""
        from arena_sdk.errors import ArenaError

        async def ask(text: str) -> str:
            observation = read_observation(text)
            try:
                action, milliseconds = await self._connected().act(observation)
            except ArenaError as error:
                raise ValueError(self.hub.sentence(error)) from None
            return f"action: {readout(action)}\nanswered in {milliseconds:.1f} ms"

        start = "" if self.observation is None else json.dumps(self.observation)
        self.app.push_screen(
            AskDialog(
                f"Ask {self.deployment}",
                "An observation in JSON, as in [0.1, -0.2]; enter asks.",
                start,
                ask,
            )
        )

    def _why_no_observation(self) -> str | None:
        return None if self.observation is not None else "No observation has come yet: space plays."

    def why_not_throughput(self) -> str | None:
        """Say why nothing can be measured."""
        return self._why_no_observation()

    async def act_throughput(self) -> None:
        """Ask for batch and time, measure, and tell the figures."""
        answer = await self.app.push_screen_wait(
            FormDialog(
                "How fast does it answer?",
                [
                    Field("batch", "Observations in a request", "integer", 64,
                          required=True, minimum=1, maximum=65_536),
                    Field("seconds", "Seconds", "number", 3.0,
                          required=True, minimum=0.1, maximum=600),
                ],
                submit="Measure",
                intro="The last observation is sent again and again, over one connection.",
            )
        )  # fmt: skip
        if answer is None:
            return
        job = self._connected().measure(
            self.observation, int(answer["batch"]), float(answer["seconds"])
        )
        self.tell(f"Asking for {answer['seconds']:g} s; the Overview can cancel it.")
        if job.task is not None:
            await asyncio.wait([job.task])
        if job.state == "done":
            await self.app.push_screen(
                MessageDialog(f"Throughput of {self.deployment}", _figures(job.result))
            )
        elif job.error:
            self.tell(job.error, "error")

    async def act_record(self) -> None:
        """Record the next episode, from its beginning to its end."""
        game = self.game
        if game is None:
            return
        memory = self.arena.memory
        start = (memory.get("recordings") if memory else None) or str(Path.cwd())
        answer = await self.app.push_screen_wait(
            FormDialog(
                "Record an episode",
                [
                    Field("folder", "Folder", "path", start, required=True),
                    Field("name", "Name", value=f"{self.deployment}-episode", required=True),
                ],
                submit="Record",
                intro="A new episode begins; its frames become a GIF, its steps a CSV file.",
                check=_check_name,
            )
        )
        if answer is None:
            return
        folder = absolute_path(answer["folder"])
        if memory is not None:
            memory.set("recordings", str(folder))
        recording = Recording(folder, str(answer["name"]))
        if game.speed == 0 or game.speed > FRAMES_A_SECOND:
            # Frames come thirty times a second at most; faster play would leave some out.
            game.speed = FRAMES_A_SECOND
            await game.send({"cmd": "speed", "steps_per_second": game.speed})
        game.recording, game.on_recorded = recording, self._recorded
        if not game.is_open:
            await game.start()
        else:
            await game.send({"cmd": "reset", "seed": game.seed})
            if game.state == "paused":
                await game.send({"cmd": "resume"})
        self.tell("Recording until the episode ends.")

    def why_not_record(self) -> str | None:
        """Say why nothing can be recorded."""
        recording = self.game is not None and self.game.recording is not None
        return "An episode is being recorded." if recording else None

    def _recorded(self, paths: list[Path] | None, problem: str | None) -> None:
        """Say where the files are."""
        if problem:
            self.tell(problem, "error")
        else:
            self.tell(f"Recorded {' and '.join(map(str, paths or ()))}.")


def _check_name(values: dict[str, Any]) -> dict[str, str] | None:
    name = str(values["name"])
    if Path(name).name != name or name.startswith("."):
        return {"name": "A name without a folder, please."}
    return None


def _figures(found: dict[str, Any]) -> str:
    """Return what was measured, a line a figure."""
    rows = [
        ("requests", f"{found['requests']:,} in {found['seconds']:.1f} s"),
        ("batch", f"{found['batch']:,} observations"),
        ("requests/s", format.count(found["requests_per_second"])),
        ("observations/s", format.count(found["observations_per_second"])),
        ("half of them within", f"{found['p50']:.2f} ms"),
        ("99 of 100 within", f"{found['p99']:.2f} ms"),
    ]
    return "\n".join(f"{name:<20} {value}" for name, value in rows)
