"""Four validations beside a training run: all end well, none overtakes, within memory."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena_sdk.scaffold import create
from tests.local.conftest import ArenaServer, end_arena, start_arena, wait_until
from tests.local.validation.uploading import Events, form, packed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

COUNT = 4
RUN: dict[str, Any] = {
    "algorithm": {"name": "DQN", "lr": 0.001, "batch_size": 32, "learn_step": 4},
    "environment": {"name": "CartPole-v1", "num_envs": 2},
    "training": {"max_steps": 2000, "pop_size": 2, "evo_steps": 1000, "eval_steps": 100},
    "network": {"latent_dim": 16, "encoder_config": {"hidden_size": [32]}},
    "replay_buffer": {"max_size": 5000},
}
ENDED = ("completed", "failed", "stopped", "interrupted")


@pytest.fixture(scope="module")
def arena_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArenaServer]:
    # Less patience than by default: a machine that is busy must not make a hang of anything.
    server = start_arena(tmp_path_factory.mktemp("arena"), ARENA_CALL_SECONDS="5")
    yield server
    end_arena(server)


def submit_run(server: ArenaServer) -> None:
    project = {"name": "together", "description": "", "llm_based": False}
    job = {
        "manifest": RUN, "resource_id": "local", "num_nodes": 1, "project": "together",
        "experiment_name": "beside",
    }  # fmt: skip
    with server.client() as client:
        client.post("/projects/create", json=project).raise_for_status()
        client.post("/experiments/jobs/submit", json=job).raise_for_status()


def state_of_run(server: ArenaServer) -> str:
    with server.client() as client:
        row = client.get("/experiments/one", params={"experiment_name": "beside"}).json()
    return str(row["state"])


def validate(server: ArenaServer, number: int, archive: bytes, accepted: threading.Event) -> Events:
    """Upload an environment; set `accepted` at the first event; return all of them, with times."""
    events: Events = []
    asked = form(f"walk-{number}", archive)
    url = "/environments/create-and-validate"
    with (
        server.client() as client,
        client.stream("POST", url, **asked, timeout=300) as answer,
    ):
        for line in answer.iter_lines():
            events.append({**json.loads(line), "heard": time.monotonic()})
            accepted.set()
    return events


@contextmanager
def watching_memory(server: ArenaServer) -> Iterator[list[int]]:
    """Yield a list of the bytes that the Arena and its workers hold, by and by."""
    taken: list[int] = []
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.5):
            used = 0
            for process in [psutil.Process(server.pid), *server.workers()]:
                with suppress(psutil.Error):
                    used += process.memory_info().rss
            taken.append(used)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(watch)
        try:
            yield taken
        finally:
            over.set()


def beginning(events: Events) -> tuple[float, bool]:
    """Return when the first check of a validation was heard of, and whether it waited before."""
    first = next(index for index, event in enumerate(events) if event["kind"] == "check")
    waited = any("Waiting" in event["message"] for event in events[:first])
    return float(events[first]["heard"]), waited


def test_four_validations_and_a_run_at_once(arena_server: ArenaServer, tmp_path: Path) -> None:
    create(tmp_path / "walk", "walk")
    files = {path.name: path.read_text() for path in (tmp_path / "walk").iterdir()}
    files.pop("requirements.txt", None)
    with watching_memory(arena_server) as taken, ThreadPoolExecutor(COUNT) as pool:
        submit_run(arena_server)
        asked = []
        for number in range(COUNT):  # one after the other, so that there is an order to keep
            accepted = threading.Event()
            asked.append(pool.submit(validate, arena_server, number, packed(files), accepted))
            assert accepted.wait(60)
        found = [each.result() for each in asked]
        assert wait_until(lambda: state_of_run(arena_server) in ENDED, 300)
    assert state_of_run(arena_server) == "completed"
    for events in found:
        assert (events[-1]["status"], events[-1]["detail"]["validated"]) == ("completed", True)
        assert events[-1]["detail"]["profiled"] is True
    queued = [begun for begun, waited in map(beginning, found) if waited]
    at_once = [begun for begun, waited in map(beginning, found) if not waited]
    assert at_once
    assert min(at_once) < min([*queued, float("inf")])
    assert 0 < max(taken) < psutil.virtual_memory().total
    assert wait_until(lambda: arena_server.workers() == [], 30)
