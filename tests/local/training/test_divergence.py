"""Divergence: values that are no finite numbers are kept, and end a run that asked for it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from arena_sdk.local.training.divergence import refuse_divergence
from arena_sdk.local.training.errors import TrainingError

from .conftest import StartJob
from .support import custom, dqn


def diverging(reward: str) -> dict[str, Any]:
    return {**custom("Diverging", reward=reward), "entrypoint": "diverging:Diverging"}


def member(fitness: float | None, **losses: float) -> dict[str, Any]:
    return {"fitness": fitness, "losses": losses}


@pytest.mark.parametrize(
    "members",
    [
        [member(math.nan), member(1.0)],
        [member(None), member(None, loss=0.5)],
        [member(-1e300, loss=1e300), member(math.inf)],
    ],
)
def test_one_member_that_can_go_on_is_enough(members: list[dict[str, Any]]) -> None:
    refuse_divergence({"generation": 3, "members": members})


def test_a_population_without_a_finite_member_has_diverged() -> None:
    members = [member(math.nan, loss=0.1), member(3.0, actor=math.inf, critic=1.0)]
    with pytest.raises(TrainingError, match=r"generation 3 .* \(actor, fitness\)") as caught:
        refuse_divergence({"generation": 3, "members": members})
    assert caught.value.error_code == "DIVERGED"


def test_a_run_that_asked_for_it_ends_after_telling_of_the_generation(start_job: StartJob) -> None:
    manifest = dqn(pop_size=1, max_steps=600, evo_steps=200)
    job = start_job(manifest, diverging("nan"), options={"stop_on_divergence": True})
    error = job.finish()
    assert error["error_code"] == "DIVERGED"
    (generation,) = job.of("generation")
    assert math.isnan(float(generation["members"][0]["fitness"]))
    kept = start_job(manifest, diverging("inf"), folder="kept")
    assert kept.finish()["state"] == "completed"
    assert [float(g["members"][0]["fitness"]) for g in kept.of("generation")] == [math.inf] * 3
