"""`arena experiments submit` with changes: what is printed, refused, and recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.responses import JSONResponse

from tests.cli.cli_running import Run
from tests.local.conftest import ArenaServer, end_arena, run_arena, start_arena
from tests.sdk.sdk_service import Service, ndjson

MANIFEST = """
algorithm: {name: DQN, batch_size: 32}
environment: {name: CartPole-v1}
training: {max_steps: 100000000, pop_size: 1, evo_steps: 100000000}
"""


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    """A manifest of a run that lasts."""
    path = tmp_path / "walk.yaml"
    path.write_text(MANIFEST)
    return str(path)


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[ArenaServer]:
    """An Arena for one test."""
    server = start_arena(tmp_path / "home")
    yield server
    end_arena(server)


def test_a_dry_run_prints_the_children_and_asks_nobody(
    run: Run, manifest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "nobody"))
    words = ["--set", "training.pop_size=8", "--grid", "algorithm.lr=1e-3,1e-4", "--seeds", "1,2"]
    done = run("experiments", "submit", manifest, *words, "--dry-run", "-o", "json")
    assert done.code == 0
    rows = json.loads(done.out)
    assert [row["experiment_name"] for row in rows] == [
        "walk-lr-0.001-seed-1",
        "walk-lr-0.001-seed-2",
        "walk-lr-0.0001-seed-1",
        "walk-lr-0.0001-seed-2",
    ]
    assert rows[2]["overrides"] == {
        "training.pop_size": 8,
        "algorithm.lr": 0.0001,
        "mutation.rand_seed": 1,
    }
    assert rows[2]["manifest"]["training"]["pop_size"] == 8
    assert "4 experiments; nothing was submitted." in done.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--set", "lr"], 2, "KEY=VALUE"),
        (["--set", "lr=1"], 2, "section.key"),
        (["--set", "algorithm.lrr=1"], 1, "Did you mean 'lr'"),
        (["--seeds", "1,x"], 2, "whole numbers"),
        (["--seeds", "1,1"], 2, "each given once"),
        (["--grid", "algorithm.lr=1", "--grid", "algorithm.lr=2"], 2, "given twice"),
        (["--seeds", "1,2", "--watch"], 2, "follows one run"),
    ],
)
def test_what_cannot_be_varied_is_said(
    run: Run, manifest: str, words: list[str], code: int, said: str
) -> None:
    dry = [] if "--watch" in words else ["--dry-run"]
    done = run("experiments", "submit", manifest, *words, *dry)
    assert (done.code, done.out) == (code, "")
    assert said in done.err


@pytest.mark.parametrize("keep", ["3", "last=0", "last=1,last=2", "first=1"])
def test_which_checkpoints_are_kept_is_checked(run: Run, manifest: str, keep: str) -> None:
    done = run("experiments", "submit", manifest, "--keep", keep, "--dry-run")
    assert done.code == 2
    assert "last=3,best=1,every=10" in done.err


def test_options_travel_beside_the_manifest(run: Run, service: Service, manifest: str) -> None:
    document = {"ok": True, "data": {"features": {"run_options": {}}}}
    service.on("GET", "/capabilities", lambda request: JSONResponse(document))
    done = {"kind": "status", "status": "completed", "detail": {"accepted": True}}
    service.on("POST", "/experiments/jobs/submit", ndjson(done))
    words = ["--priority", "-1", "--auto-resume", "--keep", "last=3,best=1", "--memory-gb", "2"]
    assert run("experiments", "submit", manifest, "--project", "p", *words).code == 0
    assert service.calls[-1].json["options"] == {
        "priority": -1,
        "memory_gb": 2.0,
        "auto_resume": True,
        "keep": {"last": 3, "best": 1},
    }


@pytest.mark.slow
def test_children_are_experiments_with_their_overrides(arena: ArenaServer, manifest: str) -> None:
    def command(*words: str) -> str:
        done = run_arena(arena.home, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    command("projects", "create", "p")
    command("projects", "set-default", "p")
    submit = ("experiments", "submit", manifest, "--resource-id", "local", "--num-nodes", "1")
    first = json.loads(command(*submit, "--seeds", "1", "-o", "json"))
    again = json.loads(command(*submit, "--seeds", "1,2", "-o", "json"))
    names = [row["experiment_name"] for row in first + again]
    assert names == ["walk-seed-1", "walk-seed-1-2", "walk-seed-2"]
    shown = json.loads(command("experiments", "show", "walk-seed-2", "-o", "json"))
    assert shown["overrides"] == {"mutation.rand_seed": 2}
    assert shown["manifest"]["mutation"]["rand_seed"] == 2
