"""A game: a deployed agent acting in an environment, remote-controlled."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena_tui.stores.base import Store
from arena_tui.stores.recording import Recording

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from arena_tui.stores.hub import Hub

IDLE, CONNECTING, PLAYING, PAUSED, ENDED, FAILED = (
    "idle",
    "connecting",
    "playing",
    "paused",
    "ended",
    "failed",
)


class Game(Store):
    """One session of the playground.

    Attributes:
        state: "idle", "connecting", "playing", "paused", "ended" or "failed".
        ready: What the service said of the environment: spaces, and whether it renders.
        step: The last step: observation, action, reward, return, …
        frame: The last frame, uint8, shape (height, width, 3), or None.
        returns: Return of each finished episode, by policy, in order.
        summary: The last message of a game with a set number of episodes.
        error: Why it failed.
        recording: What the next episode, or this one, is recorded into.
        on_recorded: Told the files once they are written, or why they are not.
    """

    def __init__(self, hub: Hub, deployment: str) -> None:
        super().__init__()
        self.hub = hub
        self.deployment = deployment
        self.environment: str | None = None
        self.version: str | None = None
        self.speed = 30.0
        self.seed: int | None = None
        self.baseline = False
        self._clear()
        self.recording: Recording | None = None
        self.on_recorded: Callable[[list[Path] | None, str | None], None] | None = None
        self._session: Any = None
        self._task: asyncio.Task[None] | None = None
        self._forget: Callable[[], None] = lambda: None

    def _clear(self) -> None:
        self.state = IDLE
        self.ready: dict[str, Any] = {}
        self.step: dict[str, Any] = {}
        self.frame: NDArray[np.uint8] | None = None
        self.frame_problem: str | None = None
        self.frames = 0
        self.episodes: list[dict[str, Any]] = []
        self.returns: dict[str, list[float]] = {"agent": [], "random": []}
        self.summary: dict[str, Any] | None = None
        self.is_comparison = False
        self.error: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether a session goes on."""
        return self.state in (CONNECTING, PLAYING, PAUSED)

    async def start(self, *, paused: bool = False, episodes: int = 0) -> None:
        """Begin a game; one that goes on is ended first."""
        await self.stop()
        self._clear()
        self.is_comparison = episodes > 0
        self.state = CONNECTING
        self.changed()
        self._task = self.hub.spawn(self._run(paused, episodes))

    async def stop(self) -> None:
        """End the game."""
        self._forget()
        task, self._task = self._task, None
        if task is not None and not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if self.is_open:
            self.state = ENDED
            self.changed()

    async def send(self, command: dict[str, Any]) -> None:
        """Send a command, such as `{"cmd": "step"}`; without a session it is dropped."""
        if self._session is not None and self.is_open:
            await self._session.send(command)
            if command["cmd"] == "pause":
                self.state = PAUSED
            elif command["cmd"] == "resume":
                self.state = PLAYING
            self.changed()

    async def _run(self, paused: bool, episodes: int) -> None:
        from arena_sdk.errors import ArenaError

        try:
            await self.hub.call(lambda: self._play(paused, episodes))
        except ArenaError as error:
            self.state, self.error = FAILED, self.hub.sentence(error)
            self._forget = self.hub.once_back(
                error, lambda: self.start(paused=paused, episodes=episodes)
            )
        else:
            if self.is_open:
                self.state = ENDED
        finally:
            self._session = None
            self.changed()

    async def _play(self, paused: bool, episodes: int) -> None:
        session = self.hub.client.play(
            self.deployment,
            environment=self.environment,
            version=self.version,
            episodes=episodes,
            baseline=self.baseline,
            seed=self.seed,
            render=episodes == 0,
            # A comparison is over as soon as it can be; only a game to look at is paced.
            speed=0.0 if episodes else self.speed,
            paused=paused,
        )
        async with session as self._session:
            async for message in self._session:
                self.take(message)
                if self.state == FAILED:
                    return
                if self.state == CONNECTING:
                    self.state = PAUSED if paused else PLAYING
                self.changed()

    def take(self, message: dict[str, Any]) -> None:
        """Take one message of the session."""
        kind = message.get("kind")
        if kind == "ready":
            self.ready = message
        elif kind in ("step", "reset"):
            encoded = message.pop("frame", None)
            # Before its first step an episode is shown as it begins.
            self.step = message if kind == "step" else {**message, "step": 0, "return": 0.0}
            if encoded:
                self._decode(encoded)
            self._record(kind, message, self.frame if encoded else None)
        elif kind == "episode":
            self.episodes.append(message)
            policy = str(message.get("policy") or "agent")
            self.returns.setdefault(policy, []).append(float(message.get("return") or 0.0))
            self._end_recording()
        elif kind == "summary":
            self.summary = message
        elif kind == "error":
            self.state, self.error = FAILED, str(message.get("message") or "The game broke off.")

    def _record(self, kind: str, message: dict[str, Any], frame: Any) -> None:
        """Add a step to the recording, or begin it with an episode."""
        if self.recording is None:
            return
        if kind == "reset":
            self.recording.begin()
            self.recording.take_frame(frame)
        else:
            self.recording.take(message, frame)

    def _end_recording(self) -> None:
        """Write the recording of an episode that is over, off the loop."""
        recording = self.recording
        if recording is None or not recording.is_worth_writing:
            return
        self.recording = None

        async def write() -> None:
            paths, problem = None, None
            try:
                paths = await asyncio.to_thread(recording.write, self.speed)
            except ImportError:
                problem = "An animation needs Pillow: python -m pip install pillow"
            except OSError as error:
                problem = f"It was not recorded: {error}"
            if self.on_recorded is not None:
                self.on_recorded(paths, problem)

        self.hub.spawn(write())

    def _decode(self, encoded: str) -> None:
        try:
            import numpy as np
            from PIL import Image
        except ImportError:
            self.frame_problem = "Frames need Pillow: python -m pip install pillow"
            return
        try:
            with Image.open(io.BytesIO(base64.b64decode(encoded))) as image:
                self.frame = np.asarray(image.convert("RGB"))
            self.frames += 1
            self.frame_problem = None
        except (OSError, ValueError) as error:
            self.frame_problem = f"A frame could not be read: {error}"
