"""Asking a deployed agent by hand, and how fast it answers."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from arena_tui.stores.work import Job

if TYPE_CHECKING:
    from arena_sdk import AsyncAgent
    from arena_tui.stores.hub import Hub


def read_observation(text: str) -> Any:
    """Return an observation as it was typed: a number, a list, or a mapping of these, in JSON.

    Raises:
        ValueError: It is none; the message is one sentence.
    """
    try:
        value = json.loads(text)
    except ValueError as error:
        place = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
        raise ValueError(
            f'That is no observation{place}: write it as in [0.1, -0.2] or {{"a": [1, 2]}}.'
        ) from None
    if isinstance(value, bool | int | float | list | dict):
        return value
    raise ValueError("An observation is a number, a list, or a mapping of these.")


def repeated(observation: Any, times: int) -> Any:
    """Return a batch of one observation, with a leading axis of that length."""
    import numpy as np

    if isinstance(observation, Mapping):
        return {key: repeated(value, times) for key, value in observation.items()}
    if isinstance(observation, tuple):
        return tuple(repeated(value, times) for value in observation)
    return np.stack([np.asarray(observation)] * times)


def plain(value: Any) -> Any:
    """Return an action in lists and numbers."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


class Asking:
    """Asks one deployment; connects when it is first asked."""

    def __init__(self, hub: Hub, deployment: str) -> None:
        self._hub, self._deployment = hub, deployment
        self._agent: AsyncAgent | None = None

    async def _connected(self) -> AsyncAgent:
        if self._agent is None:
            self._agent = await self._hub.client.open_inference_agent(self._deployment)
        return self._agent

    async def close(self) -> None:
        """Leave the deployment."""
        if self._agent is not None:
            await self._agent.aclose()
            self._agent = None

    async def act(self, observation: Any) -> tuple[Any, float]:
        """Return the action for an observation, and the milliseconds that it took."""
        agent = await self._connected()
        begun = time.perf_counter()
        action, _ = await agent.get_action(observation)
        return plain(action), 1000 * (time.perf_counter() - begun)

    def measure(self, observation: Any, batch: int, seconds: float) -> Job:
        """Ask for a while with batches of an observation; the job's result has the figures.

        They are `requests`, `batch`, `seconds`, `requests_per_second`, `observations_per_second`
        and in milliseconds `p50`, `p99`.
        """
        import numpy as np

        async def do(job: Job) -> dict[str, Any]:
            agent = await self._hub.client.open_inference_agent(self._deployment)
            asked = repeated(observation, batch) if batch > 1 else observation
            took: list[float] = []
            try:
                begun = now = time.perf_counter()
                while now - begun < seconds:
                    await agent.get_action(asked, batched=batch > 1)
                    took.append(time.perf_counter() - now)
                    now += took[-1]
                    if len(took) % 50 == 0:
                        job.stage = f"{len(took):,} requests"
                        job.changed()
            finally:
                await agent.aclose()
            whole = now - begun
            p50, p99 = (1000 * float(value) for value in np.percentile(took, [50, 99]))
            return {
                "requests": len(took),
                "batch": batch,
                "seconds": whole,
                "requests_per_second": len(took) / whole,
                "observations_per_second": len(took) * batch / whole,
                "p50": p50,
                "p99": p99,
            }

        return self._hub.work.start("throughput", (self._deployment,), do)
