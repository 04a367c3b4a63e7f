"""A run that is stopped before it has begun: prompt in every phase of the start."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from arena_sdk.local.training import checkpoints as disk
from arena_sdk.local.training import starting
from arena_sdk.local.training.checkpoints import load_agent
from arena_sdk.local.training.errors import Stopped
from arena_sdk.local.training.host import Host
from arena_sdk.local.training.population import Population
from arena_sdk.local.training.probe import start_probe
from arena_sdk.local.training.spec import read_manifest
from arena_sdk.local.training.tasks import EvalTask, Setup, TrainTask
from arena_sdk.local.workers.channel import StopEvent

from .conftest import StartJob
from .support import custom, dqn

FOREVER = 60.0


class Channel:
    """What the train job needs of a channel; its process is not really left."""

    def __init__(self) -> None:
        self.stopping = StopEvent()
        self.said: list[dict[str, Any]] = []
        self.left: dict[str, Any] | None = None
        self.gone = threading.Event()

    def emit(self, message: dict[str, Any]) -> None:
        self.said.append(message)

    def adopt_child(self) -> None:
        pass

    def leave(self, result: dict[str, Any]) -> None:
        self.left = result
        self.gone.set()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a stop not wait at all."""
    monkeypatch.setattr(starting, "PATIENCE", 0.0)


def test_the_stop_event_knows_since_when() -> None:
    event = StopEvent()
    assert event.since is None
    event.set()
    first = event.since
    event.set()
    assert first is not None
    assert event.since == first


def test_imports_that_take_too_long_are_left(impatient: None) -> None:
    channel = Channel()
    with starting.bounded(channel, None):
        channel.stopping.set()  # in the middle of what cannot be broken off
        assert channel.gone.wait(FOREVER)
    assert channel.left is not None
    assert (channel.left["state"], channel.left["steps"]) == ("stopped", 0)
    (warning,) = channel.said
    assert "no checkpoint yet" in warning["message"]


def test_a_run_that_was_to_go_on_keeps_its_checkpoint(impatient: None, tmp_path: Path) -> None:
    channel = Channel()
    with starting.bounded(channel, tmp_path / "step_700"):
        channel.stopping.set()
        assert channel.gone.wait(FOREVER)
    assert channel.left is not None
    assert channel.left["steps"] == 700
    assert channel.said == []


def test_imports_that_end_soon_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "PATIENCE", FOREVER)
    channel = Channel()
    with starting.bounded(channel, None):
        channel.stopping.set()
        assert not channel.gone.wait(5 * starting.POLL)
    assert channel.left is None


def test_a_look_that_does_not_end_is_given_up() -> None:
    pending = start_probe(custom("Stuck"), lambda: None)
    assert pending.result(lambda: True) is None


def test_a_stopped_run_leaves_its_first_population(start_job: StartJob, checkpoints: Path) -> None:
    job = start_job(dqn(max_steps=10**6, evo_steps=10**6, pop_size=2))
    job.stop()
    result = job.finish()
    assert (result["state"], result["reason"], result["steps"]) == ("stopped", "stop", 0)
    assert job.of("started") == []
    saved = [message["name"] for message in job.of("checkpoint")]
    assert disk.names(checkpoints) == saved
    if saved:  # the imports were over in time
        assert saved == ["step_0"]
        assert load_agent(checkpoints / "step_0").algo == "DQN"
    else:
        assert "no checkpoint yet" in job.of("warning")[0]["message"]


def test_a_run_on_an_environment_that_is_stuck_stops(
    start_job: StartJob, checkpoints: Path
) -> None:
    job = start_job(dqn(), custom("Stuck"))
    job.stop()
    assert job.finish(FOREVER)["state"] == "stopped"
    assert disk.names(checkpoints) == []


def setup_of() -> Setup:
    """Return a run of two members with four copies each."""
    return Setup(
        spec=read_manifest({"manifest": dqn(pop_size=2)}),
        environment=custom("Corridor"),
        observation_space=spaces.Box(-1, 1e6, (2,), np.float32),
        action_space=spaces.Discrete(2),
        vectorization="sync",
        eval_limit=10,
    )


def test_copies_are_not_made_once_the_run_is_to_stop() -> None:
    asked = 0

    def stopped() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2

    host = Host(setup_of(), [0], None, stopped, lambda message: None)
    with pytest.raises(Stopped):
        host._stages.of(0)
    assert asked == 3  # once before each copy, of which there are four


def test_a_member_that_has_not_begun_reports_no_step() -> None:
    setup = setup_of()
    population = Population.first(setup.spec, setup.observation_space, setup.action_space)
    host = Host(setup, [0, 1], None, lambda: True, lambda message: None)
    tasks = [TrainTask(slot, slot, population.agents[slot], 400, 1.0, 7) for slot in (0, 1)]
    reports = host.train(tasks)
    assert [(r.steps, r.stopped, r.scores, r.losses) for r in reports] == [(0, True, [], {})] * 2
    assert set(host.state([0, 1])) == {0, 1}
    for report in reports:
        population.note_training(report)
    assert population.total_steps == 0
    assert [r.fitness for r in host.evaluate([EvalTask(0, 7)])] == [None]
