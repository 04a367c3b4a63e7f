"""`arena env validate`: what would go, what is checked, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.cli_arena import Furnished
from tests.cli.cli_running import Run
from tests.sdk.sdk_service import Service, ndjson

FAILED = {
    "kind": "check",
    "detail": {"check": "Step", "result": {"success": False, "error": "no\x1b[31mne"}},
}
ENDED = {"kind": "status", "status": "completed", "detail": {"version": "v1", "checks": [FAILED]}}


def test_a_dry_run_lists_what_would_go_and_sends_nothing(
    run: Run, service: Service, tmp_path: Path
) -> None:
    source = tmp_path / "walk"
    (source / "data").mkdir(parents=True)
    (source / "__pycache__").mkdir()
    (source / "__pycache__" / "x.pyc").write_bytes(b"x")
    (source / "env.py").write_bytes(b"x" * 1500)
    (source / "data" / "größe.bin").write_bytes(b"y" * 2_000_000)
    config = tmp_path / "c.yaml"
    config.write_text("a: 1\n")
    words = ["env", "validate", "walk", "--dry-run", "--source", str(source)]
    done = run(*words, "--env-config", str(config), "-o", "json")
    assert done.code == 0
    assert json.loads(done.out) == [
        {"file": "data/größe.bin", "bytes": 2_000_000, "executable": False},
        {"file": "env.py", "bytes": 1500, "executable": False},
        {"file": "c.yaml", "bytes": 5, "executable": False},
    ]
    assert "3 files, 2.0 MB" in done.err
    assert run("env", "validate", "walk", "--dry-run").code == 2
    assert run(*words[:-1], str(tmp_path / "nowhere")).code == 2
    assert service.calls == []


def test_a_failed_check_exits_1_unless_told_otherwise(
    run: Run, service: Service, tmp_path: Path
) -> None:
    (tmp_path / "env.py").write_text("x")
    service.on("POST", "/environments/create-and-validate", ndjson(FAILED, ENDED))
    words = ["env", "validate", "walk", "--source", str(tmp_path)]
    done = run(*words)
    assert done.code == 1
    assert "FAIL Step" in done.err
    assert "no\\x1b[31mne" in done.err
    assert "walk is not valid: Step failed" in done.err
    assert done.out == "version  v1\n"
    assert run(*words, "--no-fail").code == 0
    document = run(*words, "--no-fail", "-o", "json", "-q")
    assert json.loads(document.out) == ENDED["detail"]
    assert document.err == ""


@pytest.mark.parametrize("validated", [True, False])
def test_the_verdict_counts_where_no_check_is_told(
    run: Run, service: Service, validated: bool
) -> None:
    ended = {"kind": "status", "status": "completed", "detail": {"validated": validated}}
    service.on("POST", "/environments/validate", ndjson(ended))
    assert run("env", "validate", "walk").code == (0 if validated else 1)


def test_checks_come_one_by_one(here: Run, furnished: Furnished) -> None:
    done = here("env", "validate", "walk", "--version", "v1")
    told = [line for line in done.err.splitlines() if line.startswith("ok ")]
    assert len(told) >= 10
    assert "\x1b" not in done.err
    assert "validated" in done.out


def test_the_frames_of_an_episode_are_saved(
    here: Run, furnished: Furnished, tmp_path: Path
) -> None:
    assert here("env", "rollout", "walk", "--version", "v9", code=4).out == ""
    assert here("env", "validate", "walk", "--version", "v1", "--do-rollouts").code == 0
    file = tmp_path / "walk.gif"
    words = ["env", "rollout", "walk", "--version", "v1", "--output-file"]
    done = here(*words, str(tmp_path))
    assert (done.code, done.out) == (0, f"{file}\n")
    assert file.read_bytes().startswith(b"GIF89a")
    here(*words, str(file), code=2)
    assert here(*words, str(file), "--force").code == 0
