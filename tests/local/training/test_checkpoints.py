"""Checkpoints are whole or absent, damage is found, and a full disk is said plainly."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from arena_sdk.local.training import checkpoints
from arena_sdk.local.training.checkpoints import CheckpointError

FILES = {"state.json": b'{"a": 1}', "members/0.agent": b"x" * 5000, "agent.pt": b"y" * 3000}


def test_it_comes_back_as_written(tmp_path: Path) -> None:
    written = checkpoints.write(tmp_path / "new", "step_10", FILES)
    assert checkpoints.read(written.path) == FILES
    assert written.path == tmp_path / "new" / "step_10"
    assert written.size > sum(map(len, FILES.values()))
    assert sorted(os.listdir(tmp_path / "new")) == ["step_10"]


def test_one_of_the_same_name_is_replaced(tmp_path: Path) -> None:
    checkpoints.write(tmp_path, "step_10", FILES)
    checkpoints.write(tmp_path, "step_10", {"state.json": b"{}"})
    assert checkpoints.read(tmp_path / "step_10") == {"state.json": b"{}"}
    assert os.listdir(tmp_path) == ["step_10"]


@pytest.mark.parametrize("file", ["members/0.agent", "agent.pt", "state.json", "manifest.json"])
@pytest.mark.parametrize("damage", ["truncate", "flip", "remove", "swap"])
def test_damage_is_found_and_named(tmp_path: Path, file: str, damage: str) -> None:
    path = checkpoints.write(tmp_path, "step_10", FILES).path
    target = path / file
    data = bytearray(target.read_bytes())
    if damage == "truncate":
        target.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        data[len(data) // 2] ^= 1
        target.write_bytes(data)
    elif damage == "remove":
        target.unlink()
    else:
        other = checkpoints.write(tmp_path, "step_20", {**FILES, file: b"z" * len(data)}).path
        shutil.copy(other / file, target)
        if file == "manifest.json":  # a whole manifest, but of other files
            (path / "state.json").write_bytes(b"[]")
    with pytest.raises(CheckpointError, match="step_10") as caught:
        checkpoints.read(path)
    assert "Use an" in str(caught.value)


def test_the_latest_undamaged_one_is_found(tmp_path: Path) -> None:
    for steps in (5, 10, 100):
        checkpoints.write(tmp_path, f"step_{steps}", FILES)
    assert checkpoints.latest_good(tmp_path) == tmp_path / "step_100"
    (tmp_path / "step_100" / "agent.pt").write_bytes(b"")
    assert checkpoints.latest_good(tmp_path) == tmp_path / "step_10"
    assert checkpoints.latest_good(tmp_path, before="step_10") == tmp_path / "step_5"
    assert checkpoints.latest_good(tmp_path / "absent") is None


def test_leftovers_of_an_interrupted_write_go_and_a_replaced_one_returns(tmp_path: Path) -> None:
    checkpoints.write(tmp_path, "step_10", FILES)
    (tmp_path / "step_10").rename(tmp_path / ".old-step_10")
    (tmp_path / ".tmp-step_10-1").mkdir()
    checkpoints.clear_leftovers(tmp_path)
    assert os.listdir(tmp_path) == ["step_10"]
    assert checkpoints.read(tmp_path / "step_10") == FILES


def test_a_file_system_that_takes_no_more(tmp_path: Path) -> None:
    """A real fault: the kernel refuses to write beyond a limit in the middle of a file."""
    checkpoints.write(tmp_path, "step_10", FILES)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(CheckpointError) as caught:
            checkpoints.write(tmp_path, "step_20", FILES)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    _says_what_is_needed(caught.value, tmp_path)
    assert os.listdir(tmp_path) == ["step_10"]


def test_no_room_is_noticed_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage(9000, 8999, 1))
    with pytest.raises(CheckpointError) as caught:
        checkpoints.write(tmp_path, "step_20", FILES)
    _says_what_is_needed(caught.value, tmp_path)
    assert os.listdir(tmp_path) == []


def test_no_room_found_only_at_the_flush(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints.write(tmp_path, "step_20", FILES)

    def full(_fd: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match="disk is full"):
        checkpoints.write(tmp_path, "step_20", {"state.json": b"new"})
    assert checkpoints.read(tmp_path / "step_20") == FILES
    assert os.listdir(tmp_path) == ["step_20"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "place").write_text("a file where the folder should be")
    with pytest.raises(CheckpointError, match="place") as caught:
        checkpoints.write(tmp_path / "place", "step_1", FILES)
    assert caught.value.error_code == "CHECKPOINT"


def test_an_agent_of_an_unknown_algorithm_is_one_sentence(tmp_path: Path) -> None:
    info = json.dumps({"algorithm": "Nothing"}).encode()
    path = checkpoints.write(tmp_path, "step_1", {"agent.json": info, "agent.pt": b"?"}).path
    with pytest.raises(CheckpointError, match="cannot be loaded"):
        checkpoints.load_agent(path)


def _says_what_is_needed(error: CheckpointError, folder: Path) -> None:
    assert error.error_code == "DISK_FULL"
    assert str(folder) in str(error)
    assert "step_20 needs 8.0 kB" in str(error)
    assert "free" in str(error)
