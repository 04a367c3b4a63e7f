"""Profiles: what is measured, and how a failure is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arena_sdk.local.validation.profiling import observation_bytes
from arena_sdk.local.workers import profile
from arena_sdk.local.workers.channel import WorkerError
from tests.local.validation.conftest import FakeChannel
from tests.local.validation.sources import walk, write_source


def measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> dict[str, object]:
    monkeypatch.chdir(tmp_path)
    payload = {
        "source_dir": str(write_source(tmp_path / "source", source)),
        "entrypoint": "env:Walk",
        "env_config": {},
        "multi_agent": False,
        "call_seconds": 2.0,
    }
    return profile.main(payload, FakeChannel())  # type: ignore[arg-type]


def test_a_cheap_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = measure(tmp_path, monkeypatch, walk())
    assert found["steps_per_second"] > 5_000  # type: ignore[operator]
    assert found["vectorization"] == "sync"
    assert found["observation_bytes"] == 8
    assert 0 < found["reset_time_ms"] < 50  # type: ignore[operator]
    assert 0 < found["avg_cpu_per_env"] <= found["peak_cpu_per_env"]  # type: ignore[operator]


def test_a_costly_environment_is_better_in_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = "    def step(self, action):\n        __import__('time').sleep(0.004)\n"
    found = measure(tmp_path, monkeypatch, walk(step_head=slow))
    assert found["vectorization"] == "async"
    assert 50 < found["steps_per_second"] < 251  # type: ignore[operator]


def test_memory_is_what_one_more_copy_adds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heavy = "    def __init__(self, size=10):\n        self.map = np.ones(2_500_000)\n"
    found = measure(tmp_path, monkeypatch, walk(init=heavy))
    assert found["memory_per_env_gb"] == pytest.approx(0.02, rel=0.1)


def test_a_failure_is_one_sentence_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = "    def step(self, action):\n        1 / 0\n"
    with pytest.raises(WorkerError) as caught:
        measure(tmp_path, monkeypatch, walk(step_head=broken))
    assert caught.value.body() == {
        "message": "Profiling failed: The environment raised ZeroDivisionError: division by zero"
        " (env.py:25).",
        "error_code": "PROFILE_FAILED",
    }


def test_a_hang_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = "    def step(self, action):\n        while True:\n            pass\n"
    with pytest.raises(WorkerError, match=r"did not return within 2 s\. It was at env\.py:2[56]"):
        measure(tmp_path, monkeypatch, walk(step_head=stuck))


@pytest.mark.parametrize(
    ("observation", "size"),
    [
        (np.zeros((3, 4), np.float32), 48),
        ({"a": np.zeros(2, np.uint8), "b": (1, "né")}, 13),
        (np.int64(3), 8),
    ],
)
def test_the_size_of_an_observation(observation: object, size: int) -> None:
    assert observation_bytes(observation) == size
