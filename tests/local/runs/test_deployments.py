"""A deployment that is only starting, and a game that waits for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.services import deployments as module
from arena_sdk.local.services.deployments import DeploymentService
from arena_sdk.local.services.play import PlayRequest, PlayService


class Starting(DeploymentService):
    """Has one row, and a worker that has begun."""

    def __init__(self) -> None:
        nothing: Any = None
        super().__init__(nothing, nothing, nothing, "token")
        self.ready: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._served["a"] = module._Served(nothing, "step_1", self.ready)
        self.row = {"name": "a", "status": "provisioning", "experiment_name": "a"}

    async def one(self, name: str, **filters: str | None) -> dict[str, Any]:
        return dict(self.row)


def game(service: DeploymentService) -> Any:
    nothing: Any = None
    return PlayService(nothing, nothing, nothing, service, "token").open(PlayRequest("a"))


async def test_a_game_waits_for_an_agent_that_is_only_starting() -> None:
    service = Starting()
    waiting = asyncio.create_task(service.settled("a"))
    await asyncio.sleep(0)
    assert not waiting.done()
    service.row["status"] = "running"
    service.ready.set_result(None)
    async with asyncio.timeout(1):
        assert (await waiting)["status"] == "running"


async def test_an_agent_that_failed_meanwhile_is_told_at_once() -> None:
    service = Starting()
    waiting = asyncio.create_task(game(service))
    await asyncio.sleep(0)
    service.row["status"] = "failed"
    service.ready.set_result("no such file")
    async with asyncio.timeout(1):
        with pytest.raises(ApiError, match="'a' is failed; `arena agent deploy a`"):
            await waiting


async def test_patience_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "START_PATIENCE", 0.01)
    with pytest.raises(ApiError, match="still being started; try again in a moment") as refused:
        await game(Starting())
    assert refused.value.status == 409
