"""Random episodes: returns, lengths, and the frames of one of them as an animation."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from arena_sdk.local.validation.actions import Actions, TeamActions
from arena_sdk.local.validation.loading import construct
from arena_sdk.local.validation.problems import CheckFailed, explain
from arena_sdk.local.validation.subject import Subject
from arena_sdk.local.validation.transition import split

EPISODES = 100
SECONDS = 60.0
FRAME_SECONDS = 20.0
EPISODE_STEPS = 5_000
MAX_FRAMES = 300
MAX_SIDE = 320
FRAME_MILLISECONDS = 50
ANIMATION = "episode.gif"
ALONE = ""
"""The name of the agent of an environment that has one only."""

Frames = list[Any]


@dataclass
class Episode:
    """What is kept of an episode.

    Attributes:
        returns: The sum of rewards, by agent.
        length: Its steps.
        ended: Whether the environment ended it.
    """

    returns: dict[str, float] = field(default_factory=dict)
    length: int = 0
    ended: bool = False


def play_rollouts(subject: Subject, folder: Path | None) -> dict[str, Any]:
    """Play random episodes, bounded in time: as many as fit, and none for longer than that.

    Args:
        subject: A checked environment, of one agent or several.
        folder: Where the animation goes; none is made when None.

    Returns:
        `episodes`, `return` and `length` (each with mean, std, min, max), `returns` (that of each
        episode; the sum over its agents where there are several), `agents` (the same statistics of
        each agent's return; {} for a single one), `cut` (how many of the episodes a limit of ours
        ended), `animation` (a file name below `folder`, or None), `frames`, `seconds`; `error`
        instead, in a sentence, when the environment failed.
    """
    begun = time.monotonic()
    try:
        episodes = _play_all(subject, begun + SECONDS)
        frames = [] if folder is None else _record(subject, time.monotonic() + FRAME_SECONDS)
    except CheckFailed as failure:
        return {"error": failure.message}
    except Exception as error:
        return {"error": explain("Playing random episodes", error, subject.source)}
    animation = _save(frames, folder) if folder is not None and frames else None
    returns = [sum(episode.returns.values()) for episode in episodes]
    agents = [agent for agent in episodes[0].returns if agent != ALONE]
    return {
        "episodes": len(episodes),
        "return": _statistics(returns),
        "length": _statistics([episode.length for episode in episodes]),
        "returns": returns,
        "agents": {
            agent: _statistics([episode.returns.get(agent, 0.0) for episode in episodes])
            for agent in agents
        },
        "cut": sum(not episode.ended for episode in episodes),
        "animation": animation,
        "frames": len(frames),
        "seconds": round(time.monotonic() - begun, 2),
    }


def _play_all(subject: Subject, until: float) -> list[Episode]:
    """Play episodes until `until`; one that this cut short only counts where there is no other."""
    subject.env = _make(subject)
    episodes: list[Episode] = []
    for number in range(EPISODES):
        episode = _play(subject, number, until)
        late = time.monotonic() > until
        if episode.ended or not late or not episodes:
            episodes.append(episode)
        if late:
            break
    subject.call("close()", subject.env.close)
    return episodes


def _make(subject: Subject, **options: Any) -> Any:
    config = {key: value for key, value in subject.env_config.items() if key not in options}
    return subject.call("The constructor", partial(construct, subject.factory, config, **options))


def _statistics(values: Sequence[float]) -> dict[str, float]:
    return {
        "mean": statistics.fmean(values),
        "std": statistics.pstdev(values),
        "min": min(values),
        "max": max(values),
    }


def _play(subject: Subject, number: int, until: float, frames: Frames | None = None) -> Episode:
    """Play an episode until its end, the limit of its steps or frames, or the time `until`."""
    run = _team_steps if subject.multi_agent else _steps
    episode = Episode()
    for rewards, ended in run(subject, number):
        if frames is not None:
            frames.append(subject.call("render()", subject.env.render))
        for agent, reward in (rewards or {}).items():
            episode.returns[agent] = episode.returns.get(agent, 0.0) + reward
        episode.ended = ended
        episode.length += rewards is not None
        enough = frames is not None and len(frames) >= MAX_FRAMES
        if ended or enough or time.monotonic() > until or episode.length >= EPISODE_STEPS:
            break
    return episode


def _steps(subject: Subject, number: int) -> Iterator[tuple[dict[str, float] | None, bool]]:
    """Reset and step; yield the reward of each step, None for the reset, and whether it ended."""
    _, info = subject.reset(number)
    actions = Actions(subject.env, number)
    yield None, False
    for index in count(1):
        result = subject.call(f"step {index}", subject.env.step, actions.next(info))
        transition = split(result, "")
        info = transition.info
        yield {ALONE: float(transition.reward)}, transition.ended


def _team_steps(subject: Subject, number: int) -> Iterator[tuple[dict[str, float] | None, bool]]:
    """Do the same with all agents of a parallel environment, until none is live."""
    observations, infos = subject.reset(number)
    actions = TeamActions(subject.env, number)
    yield None, not subject.env.agents
    for index in count(1):
        chosen = actions.next(observations, infos)
        parts = subject.call(f"step {index}", subject.env.step, chosen)
        observations, rewards, _, _, infos = parts
        told = {str(agent): float(reward) for agent, reward in rewards.items()}
        yield told, not subject.env.agents


def _record(subject: Subject, until: float) -> list[np.ndarray]:
    """Return the frames of one episode; none when the environment does not draw any."""
    metadata = getattr(subject.env, "metadata", None) or {}
    if "rgb_array" not in (metadata.get("render_modes") or []):
        return []
    subject.env = _make(subject, render_mode="rgb_array")
    frames: Frames = []
    try:
        _play(subject, 0, until, frames)
    finally:
        subject.call("close()", subject.env.close)
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
