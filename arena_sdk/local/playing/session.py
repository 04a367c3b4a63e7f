"""Plays episodes and tells what happens, step by step or episode by episode."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from arena_sdk.records import encode_number

from .agent import Player
from .frames import png_base64
from .pacing import Pacer, Reset, Stopped

MAX_EPISODE_STEPS = 10_000
"""Where an episode of an environment without a time limit is cut."""

FRAME_INTERVAL = 1 / 30
"""Seconds between frames at the least, however fast it plays."""

Emit = Callable[[dict[str, Any]], None]


class PlaySession:
    """One environment, its players, and the remote control.

    Args:
        env: A Gymnasium environment.
        players: Who plays, in turns: each plays an episode with the same seed.
        pacer: The remote control.
        emit: Where messages go.
        episodes: How many episodes each player plays; 0 for no end.
        seed: Seed of the first episode; later ones count up from it.
        render: Whether to send frames.
    """

    def __init__(
        self,
        env: Any,
        players: list[Player],
        pacer: Pacer,
        emit: Emit,
        *,
        episodes: int = 0,
        seed: int | None = None,
        render: bool = False,
    ) -> None:
        self._env, self._players, self._pacer, self._emit = env, players, pacer, emit
        self._episodes, self._render = episodes, render
        self._tell_steps = render or episodes == 0
        self._seed = int(np.random.default_rng().integers(2**31)) if seed is None else seed
        self._returns: dict[str, list[float]] = {player.name: [] for player in players}
        self._last_frame = 0.0
        spec = getattr(env, "spec", None)
        self._limit: int = getattr(spec, "max_episode_steps", None) or MAX_EPISODE_STEPS

    def run(self) -> None:
        """Play all episodes, or until stopped; then tell the summary."""
        episode = 0
        try:
            while not self._episodes or episode < self._episodes:
                for player in self._players:
                    self._play_until_kept(player, episode)
                episode += 1
        except Stopped:
            pass
        self._emit(self._summary())

    def _play_until_kept(self, player: Player, episode: int) -> None:
        """Play an episode, again from its start as often as a reset is asked for."""
        seed = self._seed + episode
        while True:
            reset = self._play(player, episode, seed)
            if reset is None:
                return
            if reset.seed is not None:
                self._seed = reset.seed - episode
                seed = reset.seed

    def _play(self, player: Player, episode: int, seed: int) -> Reset | None:
        observation, info = self._env.reset(seed=seed)
        self._env.action_space.seed(seed)
        player.begin()
        self._tell_reset(player, episode, seed, observation)
        total, step, over = 0.0, 0, False
        while not over:
            reset = self._pacer.wait()
            if reset is not None:
                return reset
            seen = observation
            action, latency = player.act(observation, info)
            observation, reward, terminated, truncated, info = self._env.step(action)
            step += 1
            total += float(reward)
            truncated = bool(truncated) or (step >= self._limit and not terminated)
            over = bool(terminated) or truncated
            if self._tell_steps:
                self._emit(
                    {
                        "kind": "step",
                        "episode": episode,
                        "step": step,
                        "policy": player.name,
                        "observation": plain(seen),
                        "action": plain(action),
                        "reward": plain(reward),
                        "return": plain(total),
                        "terminated": bool(terminated),
                        "truncated": truncated,
                        "latency_ms": round(latency, 3),
                        **self._frame(over),
                    }
                )
        self._returns[player.name].append(total)
        self._emit(
            {
                "kind": "episode",
                "episode": episode,
                "policy": player.name,
                "return": plain(total),
                "length": step,
                "seed": seed,
            }
        )
        return None

    def _tell_reset(self, player: Player, episode: int, seed: int, observation: Any) -> None:
        """Show where an episode begins, so that a paused session is not blank."""
        if self._tell_steps:
            self._emit(
                {
                    "kind": "reset",
                    "episode": episode,
                    "policy": player.name,
                    "seed": seed,
                    "observation": plain(observation),
                    **self._frame(last=True),
                }
            )

    def _frame(self, last: bool) -> dict[str, str]:
        """Return the frame to send with a step, unless one was sent a moment ago."""
        now = time.monotonic()
        if not self._render or (now - self._last_frame < FRAME_INTERVAL and not last):
            return {}
        self._last_frame = now
        png = png_base64(self._env.render())
        return {} if png is None else {"frame": png}

    def _summary(self) -> dict[str, Any]:
        told = {name: _statistics(returns) for name, returns in self._returns.items()}
        return {"kind": "summary", "agent": told.get("agent"), "random": told.get("random")}


def _statistics(returns: list[float]) -> dict[str, Any]:
    values = np.asarray(returns, dtype=np.float64)
    return {
        "episodes": len(returns),
        "mean": plain(values.mean()) if returns else None,
        "std": plain(values.std()) if returns else None,
        "returns": plain(values),
    }


def plain(value: Any) -> Any:
    """Return an observation, action or reward as JSON data."""
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [plain(inner) for inner in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return encode_number(value) if isinstance(value, float) else value
