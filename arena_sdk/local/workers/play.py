"""Plays an environment with a served agent, and by chance beside it, for one who watches.

Payload: `{"environment", "deployment_url", "token", "episodes", "baseline", "seed", "render",
"steps_per_second", "paused"}`. Commands on the control pipe: pause, resume, step, reset, speed,
stop. The messages are those of the play WebSocket.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .channel import Channel


def main(payload: dict[str, Any], channel: Channel) -> dict[str, Any] | None:
    """Play until all episodes are over or the session is stopped."""
    from arena_sdk.local.playing.agent import (
        AgentRefused,
        AgentUnreachable,
        RandomPlayer,
        ServedAgent,
    )
    from arena_sdk.local.playing.pacing import Pacer
    from arena_sdk.local.playing.session import MAX_EPISODE_STEPS, PlaySession

    from .channel import WorkerError

    pacer = Pacer(float(payload["steps_per_second"]), bool(payload["paused"]))

    def obey(command: dict[str, Any]) -> None:
        problem = pacer.command(command)
        if problem is not None:
            channel.emit({"kind": "error", "message": problem})

    channel.on_command(obey)

    def stop_when_told() -> None:
        channel.stopping.wait()
        pacer.stop()

    threading.Thread(target=stop_when_told, daemon=True, name="stop-watch").start()

    env, render = _open_environment(payload, channel)
    agent = ServedAgent(payload["deployment_url"], payload["token"], env.action_space)
    players: list[Any] = [agent]
    if payload["baseline"]:
        players.append(RandomPlayer(env.action_space))
    channel.emit(_ready(payload["environment"], env, render))
    if getattr(getattr(env, "spec", None), "max_episode_steps", None) is None:
        sentence = (
            f"This environment sets no time limit; episodes are cut at {MAX_EPISODE_STEPS:,} steps."
        )
        channel.emit({"kind": "warning", "message": sentence})
    session = PlaySession(
        env,
        players,
        pacer,
        channel.emit,
        episodes=int(payload["episodes"]),
        seed=payload["seed"],
        render=render,
    )
    try:
        session.run()
    except AgentRefused as problem:
        raise WorkerError(str(problem), error_code="AGENT_REFUSED") from None
    except AgentUnreachable as problem:
        raise WorkerError(str(problem), error_code="AGENT_UNREACHABLE") from None
    finally:
        agent.close()
        env.close()
    return None


def _open_environment(payload: dict[str, Any], channel: Channel) -> tuple[Any, bool]:
    """Return the environment and whether it renders; one that cannot render is played unseen."""
    from arena_sdk.local.training.team import as_one
    from arena_sdk.local.validation.loading import make_env

    reference = payload["environment"]
    if not payload["render"]:
        return as_one(make_env(reference)), False
    try:
        env = as_one(make_env(reference, render_mode="rgb_array"))
        env.reset(seed=0)
        if env.render() is not None:
            return env, True
        env.close()
        problem = "its render() gave no picture"
    except Exception as error:  # the user's code may fail in any way; playing unseen still works
        problem = f"{type(error).__name__}: {error}"
    channel.emit({"kind": "warning", "message": f"No frames: {problem}."})
    return as_one(make_env(reference)), False


def _ready(reference: dict[str, Any], env: Any, render: bool) -> dict[str, Any]:
    from arena_sdk.local.validation.loading import space_tree

    return {
        "kind": "ready",
        "environment": reference.get("id") or reference.get("name"),
        "observation_space": space_tree(env.observation_space),
        "action_space": space_tree(env.action_space),
        "render": render,
    }
