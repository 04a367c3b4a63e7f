"""See a deployed agent act: its environment's frames, what it sees and does, and its returns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Static

from arena_tui import format
from arena_tui.commands import Action
from arena_tui.safetext import safe_text
from arena_tui.screens.base import style_file
from arena_tui.screens.listing import Facts, colour
from arena_tui.screens.play_actions import PlayActions
from arena_tui.screens.readout import readout
from arena_tui.stores.base import Store
from arena_tui.stores.play import PAUSED, PLAYING, Game
from arena_tui.theme import numbered_style
from arena_tui.widgets.bar_list import BarList
from arena_tui.widgets.chart import Chart
from arena_tui.widgets.form_dialog import Field, FormDialog
from arena_tui.widgets.frame import FrameView

SPEEDS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 0.0)
COMPARE_EPISODES = 10
_MARKS = {"playing": "▶", "paused": "‖", "ended": "■", "failed": "✗", "connecting": "…"}


class PlaygroundScreen(PlayActions):
    """One agent in one environment."""

    SCREEN = "playground"
    TAB = "agents"
    CSS_PATH = [style_file("frame"), style_file("playground")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    ACTIONS: ClassVar[list[Action]] = [
        Action("playground.toggle", "space", "Play/pause", "Play on, or pause.", 1),
        Action("playground.step", "full_stop,right", "Step", "Take one step, then pause.", 2),
        Action("playground.faster", "plus,equals_sign,up", "Faster", "More steps a second.", 3),
        Action("playground.slower", "minus,down", "Slower", "Fewer steps a second.", 4),
        Action("playground.reset", "0,R", "Reset", "Begin a new episode.", 5),
        Action("playground.seed", "s", "Seed", "Begin a new episode with a seed.", 7),
        Action("playground.compare", "c", "Against random", "Both play ten episodes.", 6),
        Action("playground.ask", "a", "Ask", "Edit an observation, ask for the action.", 9),
        Action("playground.throughput", "t", "Throughput", "Measure batched requests.", 10),
        Action("playground.record", "v", "Record", "Keep an episode as GIF and CSV.", 9),
        Action("playground.environment", "e", "Environment", "Play in another environment.", 8),
    ]

    def __init__(self, deployment: str) -> None:
        super().__init__()
        self.deployment = deployment
        self.game: Game | None = None
        self._frames_shown = 0
        self._episodes_shown = -1

    @property
    def trail(self) -> str:
        """The agent."""
        return f"{self.deployment} playground"

    def body(self) -> ComposeResult:
        """Frame at the left; readout and returns at the right."""
        yield Static("", id="status", markup=False)
        with Horizontal(id="halves"):
            with Vertical(classes="pane tight", id="stage") as pane:
                pane.border_title = "Environment"
                yield FrameView(id="frame")
            with Vertical(id="side"):
                with VerticalScroll(classes="pane", id="read-pane", can_focus=True) as pane:
                    pane.border_title = "Observation and action"
                    yield Facts(id="numbers")
                    yield BarList(id="observation")
                chart = Chart("return", x_label="episode", id="returns")
                chart.set_empty_text("no episode has ended yet")
                yield chart

    async def on_mount(self) -> None:
        """Begin to play."""
        self.game = Game(self.hub, self.deployment)
        self.rewatch()
        await self.game.start()

    async def on_unmount(self) -> None:
        """End the game with the screen."""
        self.cease()
        if self.game is not None:
            await self.game.stop()
        if self.asking is not None:
            await self.asking.close()

    def stores(self) -> Iterable[Store]:
        """Return what is watched."""
        return (self.game,) if self.game is not None else ()

    # Show ----------------------------------------------------------------------------------------

    def show(self) -> None:
        """Show the last step, the last frame and the returns."""
        game = self.game
        if game is None:
            return
        self._show_status(game)
        self._show_frame(game)
        self._show_step(game)
        self._show_returns(game)

    def _show_status(self, game: Game) -> None:
        where = game.ready.get("environment") or game.environment or "its own environment"
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(f" {safe_text(self.deployment)}", style="bold")
        text.append(f" in {safe_text(where)}  ", style="dim")
        name = {"playing": "success", "failed": "error"}.get(game.state, "warning")
        mark = _MARKS.get(game.state, "·")
        text.append(f"{mark} {game.state}  ", style=colour(self.app, name))
        if game.error:
            text.append(safe_text(game.error, 300), style=colour(self.app, "error"))
        else:
            unpaced = game.is_comparison or not game.speed
            text.append("as fast as it can" if unpaced else f"{game.speed:g} steps/s")
            text.append(f"  {self._comparison(game)}")
            if game.recording is not None:
                text.append(f"  ● recording {game.recording.steps}", colour(self.app, "error"))
        self.query_one("#status", Static).update(text)

    @staticmethod
    def _comparison(game: Game) -> str:
        parts = []
        for policy in ("agent", "random"):
            returns = game.returns.get(policy) or []
            if returns:
                mean = format.number(float(np.mean(returns)))
                parts.append(f"{policy} mean {mean} of {len(returns)}")
        return "  ".join(parts)

    def _show_frame(self, game: Game) -> None:
        view = self.query_one("#frame", FrameView)
        if game.frame is not None and game.frames != self._frames_shown:
            self._frames_shown = game.frames
            view.set_frame(game.frame)
        elif game.frame is None:
            self._frames_shown = 0
            view.set_frame(None)
            view.set_message(self._no_frame(game))

    @staticmethod
    def _no_frame(game: Game) -> str:
        if game.frame_problem:
            return game.frame_problem
        if game.error:
            return game.error
        if game.summary is not None and game.is_comparison:
            return "The comparison has ended: its returns are in the chart. space plays on."
        if game.is_comparison:
            return "Agent and random actions play their episodes, without frames."
        if game.ready and not game.ready.get("render"):
            return "This environment draws no frames."
        return "Waiting for the first frame…"

    def _show_step(self, game: Game) -> None:
        step = game.step
        pane = self.query_one("#read-pane")
        pane.border_subtitle = (
            f"episode {step.get('episode')} step {step.get('step')}" if step else ""
        )
        self.query_one("#numbers", Facts).set_facts(
            [
                ("action", readout(step.get("action")) if step else None),
                ("reward", format.number(_float(step.get("reward")))),
                ("return so far", format.number(_float(step.get("return")))),
                ("answered in", _milliseconds(step.get("latency_ms"))),
                ("who acts", step.get("policy")),
            ]
        )
        from arena_tui.screens.readout import bars

        self.query_one("#observation", BarList).set_bars(bars(step.get("observation")))

    def _show_returns(self, game: Game) -> None:
        if len(game.episodes) == self._episodes_shown:
            return
        self._episodes_shown = len(game.episodes)
        chart = self.query_one("#returns", Chart)
        if not game.episodes:
            chart.clear()
        for at, policy in enumerate(("agent", "random")):
            returns = game.returns.get(policy) or []
            if returns:
                x = np.arange(1, len(returns) + 1)
                chart.set_series(policy, policy, x, returns, numbered_style(at))

    # Actions -------------------------------------------------------------------------------------

    def _why_no_game(self) -> str | None:
        return None if self.game is not None and self.game.is_open else "No game goes on; 0 begins."

    why_not_step = why_not_seed = _why_no_game

    async def act_toggle(self) -> None:
        """Play on, or pause; a game that has ended begins again."""
        if self.game is None:
            return
        if not self.game.is_open:
            await self._begin()
        else:
            await self.game.send({"cmd": "pause" if self.game.state == PLAYING else "resume"})

    async def act_step(self) -> None:
        """Take one step."""
        if self.game is not None:
            if self.game.state != PAUSED:
                await self.game.send({"cmd": "pause"})
            await self.game.send({"cmd": "step"})

    async def act_faster(self) -> None:
        """Go to the next higher speed."""
        await self._set_speed(1)

    async def act_slower(self) -> None:
        """Go to the next lower speed."""
        await self._set_speed(-1)

    async def _set_speed(self, by: int) -> None:
        game = self.game
        if game is None:
            return
        at = SPEEDS.index(game.speed) if game.speed in SPEEDS else 4
        game.speed = SPEEDS[min(len(SPEEDS) - 1, max(0, at + by))]
        await game.send({"cmd": "speed", "steps_per_second": game.speed})
        self.data_changed()

    async def act_reset(self) -> None:
        """Begin a new episode, or a new game."""
        if self.game is not None and self.game.is_open:
            await self.game.send({"cmd": "reset", "seed": None})
        else:
            await self._begin()

    async def act_seed(self) -> None:
        """Ask for a seed and begin an episode with it."""
        answer = await self.app.push_screen_wait(
            FormDialog(
                "Begin an episode with a seed",
                [Field("seed", "Seed", "integer", 0, required=True, minimum=0, maximum=2**31 - 1)],
                submit="Begin",
            )
        )
        if answer and self.game is not None:
            self.game.seed = int(answer["seed"])
            await self.game.send({"cmd": "reset", "seed": self.game.seed})

    async def act_compare(self) -> None:
        """Let agent and random actions play the same number of episodes."""
        if self.game is not None:
            self.game.baseline = True
            self._episodes_shown = -1
            await self.game.start(episodes=COMPARE_EPISODES)

    async def act_environment(self) -> None:
        """Ask for another environment, and play there."""
        names = sorted(self.hub.environments.value or {})
        answer = await self.app.push_screen_wait(
            FormDialog(
                "Play in",
                [
                    Field(
                        "environment",
                        "Environment of yours, or a Gymnasium id",
                        value=(self.game.environment if self.game else None) or "",
                        help="Empty is the one it was trained in."
                        + (f" Yours: {', '.join(names[:5])}" if names else ""),
                    ),
                    Field("version", "Version", help="The latest when left out."),
                ],
                submit="Play",
            )
        )
        if answer is not None and self.game is not None:
            self.game.environment = answer["environment"]
            self.game.version = answer["version"]
            await self._begin()

    async def _begin(self) -> None:
        if self.game is not None:
            self.game.baseline = False
            self._episodes_shown = -1
            await self.game.start()

    def text_to_copy(self) -> str:
        """Return the last step as JSON."""
        import json

        return json.dumps(self.game.step) if self.game is not None and self.game.step else ""


def _float(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _milliseconds(value: Any) -> str | None:
    return f"{value:.1f} ms" if isinstance(value, int | float) else None
