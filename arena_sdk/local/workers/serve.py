"""Serves one trained agent on a port of its own, until told to stop.

Payload: `{"deployment_id", "name", "checkpoint_path", "token", "host"}`. Emits
`{"kind": "ready", "url": …}` once requests are answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena_sdk.local.times import iso

if TYPE_CHECKING:
    from .channel import Channel

KEEP_ALIVE = 620
"""Seconds that an idle connection is kept: longer than the proxies that people put in front."""


def main(payload: dict[str, Any], channel: Channel) -> dict[str, Any] | None:
    """Load the agent, answer requests, return when told to stop."""
    import torch

    from arena_sdk.local.serving.asgi import guarded

    torch.set_num_threads(1)
    app = guarded(_load(payload), payload["token"], payload["host"])
    asyncio.run(_serve(app, payload["host"], channel))
    return None


def _load(payload: dict[str, Any]) -> Any:
    from arena_sdk.local.serving.asgi import Served
    from arena_sdk.local.serving.policy import UnsupportedAgent, make_policy, spaces_of
    from arena_sdk.local.training.checkpoints import CheckpointError, load_agent

    from .channel import WorkerError

    try:
        agent = load_agent(Path(payload["checkpoint_path"]))
        policy = make_policy(agent)
        observation_space, action_space = spaces_of(agent)
    except (CheckpointError, UnsupportedAgent) as problem:
        raise WorkerError(str(problem), error_code="CHECKPOINT") from None
    _note(f"loaded {Path(payload['checkpoint_path']).name}, a {agent.algo} agent")
    return Served(
        name=payload["name"],
        deployment_id=str(payload["deployment_id"]),
        instance_id=uuid.uuid4().hex,
        algorithm=str(agent.algo),
        observation_space=observation_space,
        action_space=action_space,
        policy=policy,
    )


async def _serve(app: Any, host: str, channel: Channel) -> None:
    import uvicorn

    from arena_sdk.local.sockets import listen

    class Server(uvicorn.Server):
        """uvicorn without its signal handlers: the channel's own decide when to stop."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    listener = listen(host, 0)
    config = uvicorn.Config(
        app,
        lifespan="off",
        access_log=False,
        log_level="warning",
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=1,
    )
    server = Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    # The socket listens already: a client that comes before uvicorn does waits in its backlog.
    url = f"http://{host}:{listener.getsockname()[1]}"
    _note(f"answers at {url}")
    channel.emit({"kind": "ready", "url": url})
    await asyncio.to_thread(channel.stopping.wait)
    server.should_exit = True
    await serving
    _note("stopped")


def _note(what: str) -> None:
    """Write a line to the deployment's log."""
    print(f"{iso(dt.datetime.now(dt.UTC))} {what}", flush=True)
