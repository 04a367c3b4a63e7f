"""The load that training puts on the system, as it is measured."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from arena_sdk.local.training.load import gpu_load, measured


def test_a_process_that_computes_uses_its_core_and_its_memory() -> None:
    with measured() as load:
        kept = bytearray(b"x" * (64 << 20))
        begun = time.process_time()
        while time.process_time() - begun < 0.3:
            sum(range(1000))
    assert load["memory_mb"] > 64
    assert 5 < load["cpu_percent"] <= 400
    assert len(kept) == 64 << 20


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("printf '40, 1000\\n60, 500\\n'", {"gpu_percent": 50.0, "gpu_memory_mb": 1500.0}),
        ("echo 'No devices were found'", {}),
        ("exit 9", {}),
    ],
)
def test_gpus_are_asked_of_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, expected: dict[str, float]
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert gpu_load() == expected


def test_without_a_driver_there_is_no_gpu_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpu_load() == {}
