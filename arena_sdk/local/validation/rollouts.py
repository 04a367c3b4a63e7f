"""Random episodes: returns, lengths, and the frames of one of them as an animation."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arena_sdk.local.validation.actions import Actions
from arena_sdk.local.validation.loading import construct
from arena_sdk.local.validation.subject import Subject
from arena_sdk.local.validation.transition import split

EPISODES = 100
SECONDS = 60.0
EPISODE_STEPS = 5_000
MAX_FRAMES = 300
MAX_SIDE = 320
FRAME_MILLISECONDS = 50
ANIMATION = "episode.gif"


def play_rollouts(subject: Subject, folder: Path | None) -> dict[str, Any]:
    """Play random episodes, bounded in time.

    Args:
        subject: A checked environment.
        folder: Where the animation goes; none is made when None.

    Returns:
        `episodes`, `return` and `length` (each with mean, std, min, max), `returns` (that of each
        episode), `animation` (a file name below `folder`, or None), `frames`, `seconds`.
    """
    begun = time.monotonic()
    env = subject.env = subject.call(
        "The constructor", lambda: construct(subject.factory, subject.env_config)
    )
    returns: list[float] = []
    lengths: list[int] = []
    for number in range(EPISODES):
        total, length = _episode(subject, env, number, None)
        returns.append(total)
        lengths.append(length)
        if time.monotonic() - begun > SECONDS:
            break
    frames = [] if folder is None else _record(subject)
    animation = _save(frames, folder) if folder is not None and frames else None
    return {
        "episodes": len(returns),
        "return": _statistics(returns),
        "length": _statistics(lengths),
        "returns": returns,
        "animation": animation,
        "frames": len(frames),
        "seconds": round(time.monotonic() - begun, 2),
    }


def _statistics(values: Sequence[float]) -> dict[str, float]:
    return {
        "mean": statistics.fmean(values),
        "std": statistics.pstdev(values),
        "min": min(values),
        "max": max(values),
    }


def _episode(
    subject: Subject, env: Any, number: int, frames: list[Any] | None
) -> tuple[float, int]:
    subject.env = env
    _, info = subject.reset(number)
    actions = Actions(env, number)
    total = 0.0
    for index in range(1, EPISODE_STEPS + 1):
        if frames is not None and len(frames) < MAX_FRAMES:
            frames.append(subject.call("render()", env.render))
        result = subject.call(f"step {index}", env.step, actions.next(info))
        transition = split(result, "")
        total += float(transition.reward)
        info = transition.info
        if transition.ended:
            break
    return total, index


def _record(subject: Subject) -> list[np.ndarray]:
    """Return the frames of one episode; none when the environment does not draw any."""
    metadata = getattr(subject.env, "metadata", None) or {}
    if "rgb_array" not in (metadata.get("render_modes") or []):
        return []
    config = {key: value for key, value in subject.env_config.items() if key != "render_mode"}
    env = construct(subject.factory, config, render_mode="rgb_array")
    frames: list[Any] = []
    try:
        _episode(subject, env, 0, frames)
    finally:
        env.close()
    return [f for f in frames if isinstance(f, np.ndarray) and f.dtype == np.uint8 and f.ndim == 3]


def _save(frames: list[np.ndarray], folder: Path) -> str:
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    images = [Image.fromarray(frame) for frame in frames]
    for image in images:
        image.thumbnail((MAX_SIDE, MAX_SIDE))
    aside = folder / f".{ANIMATION}"
    images[0].save(
        aside,
        format="GIF",
        save_all=True,
        append_images=images[1:],
        duration=FRAME_MILLISECONDS,
        loop=0,
    )
    aside.rename(folder / ANIMATION)
    return ANIMATION
