"""`arena env check`: the checks without a server, their exit code, and checking on save."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from threading import Thread

import pytest

from arena_sdk.local.validation.names import CHECK_NAMES
from tests.cli.cli_running import Run
from tests.local.validation.sources import WALK, returning, walk, write_source


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ARENA_BASE_URL", "http://127.0.0.1:9")  # nothing listens there
    return tmp_path / "home"


def test_a_sound_folder_is_reported_in_full_and_exits_0(
    run: Run, tmp_path: Path, home: Path
) -> None:
    folder = write_source(
        tmp_path / "walk", {"env.py": walk(), "env_config.yaml": "size: 4\n", ".env": "SECRET"}
    )
    done = run("env", "check", str(folder), "-o", "json")
    assert done.code == 0
    report = json.loads(done.out)
    assert report["validated"] is True
    assert report["entrypoint"] == "env:Walk"
    assert [check["check"] for check in report["checks"]] == list(CHECK_NAMES)
    assert done.err.splitlines() == [f"ok   {name}" for name in CHECK_NAMES]
    assert list((home / "check" / "jobs").iterdir()) == []
    assert sorted(path.name for path in folder.iterdir()) == [".env", "env.py", "env_config.yaml"]


def test_a_failed_check_exits_1_and_says_where(run: Run, tmp_path: Path) -> None:
    folder = write_source(tmp_path / "walk", returning(reward="None"))
    done = run("env", "check", str(folder))
    assert done.code == 1
    assert "FAIL Step" in done.err
    assert "The reward at step 1 of the episode with seed 0 is None, not a number." in done.err
    assert "error: " in done.err
    assert done.out.startswith("validated   no\n")


def test_the_env_config_and_the_requirements_beside_it_are_used(run: Run, tmp_path: Path) -> None:
    source = {"env.py": walk(), "env_config.yaml": "sise: 4\n"}
    folder = write_source(tmp_path / "walk", source)
    done = run("env", "check", str(folder))
    assert done.code == 1
    assert "Walk takes no argument 'sise' of env_config; it takes size." in done.err
    config = tmp_path / "other.json"
    config.write_text('{"size": 7}')
    (folder / "requirements.txt").write_text("-r others.txt\n")
    done = run("env", "check", str(folder), "--env-config", str(config))
    assert done.code == 1
    assert "requirements.txt has the line '-r others.txt', which cannot be followed" in done.err
    assert "ok " not in done.err
    required = tmp_path / "required.txt"
    required.write_text("numpy\n")
    words = ["--env-config", str(config), "--requirements", str(required), "-q"]
    done = run("env", "check", str(folder), *words)
    assert (done.code, done.out, done.err) == (0, "yes\n", "")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            walk() + WALK.replace("Walk", "Run"),
            "The source has 2 environments (env:Walk, env:Run); name the one to validate, as in"
            " --entrypoint env:Walk.",
        ),
        ({"env.py": walk(), "env_config.json": "[1"}, "The env_config cannot be read: "),
    ],
    ids=["two environments", "broken config"],
)
def test_what_cannot_be_checked_is_one_sentence(
    run: Run, tmp_path: Path, source: str | dict[str, str], said: str
) -> None:
    done = run("env", "check", str(write_source(tmp_path / "walk", source)))
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {said}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "'nowhere' does not exist"),
        ([".", "--watch", "-o", "json"], "--watch goes with -o ndjson, not -o json"),
        ([".", "--env-config", "nowhere.yaml"], "'nowhere.yaml' does not exist"),
    ],
)
def test_wrong_usage_exits_2(run: Run, words: list[str], said: str) -> None:
    done = run("env", "check", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[tuple[Path, subprocess.Popen[str], Queue[str]]]:
    """A folder under watch, the watching program, and what it prints, line by line."""
    folder = write_source(tmp_path / "walk", walk())
    program = "import sys; from arena_sdk.cli.root import run; run(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "env", "check", str(folder), "--watch", "-o", "ndjson"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "ARENA_HOME": str(tmp_path / "home")},
    )
    lines: Queue[str] = Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)

    Thread(target=read, daemon=True).start()
    yield folder, process, lines
    process.kill()
    process.wait()


def test_a_save_is_checked_at_once_until_ctrl_c(
    watching: tuple[Path, subprocess.Popen[str], Queue[str]],
) -> None:
    folder, process, lines = watching
    assert json.loads(lines.get(timeout=60))["validated"] is True
    (folder / "env.py").write_text(returning(reward="None"))
    report = json.loads(lines.get(timeout=60))
    assert report["failed"] == ["Step"]
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert process.stderr is not None
    said = process.stderr.read()
    assert "Waiting for a change; Ctrl-C ends." in said
    assert "Traceback" not in said


@pytest.mark.parametrize("redirect", ["2>/dev/null", "2>&1"])
def test_a_reader_that_has_gone_makes_no_yes_of_a_no(tmp_path: Path, redirect: str) -> None:
    folder = write_source(tmp_path / "walk", returning(reward="None"))
    program = f"{sys.executable} -m arena_sdk.cli env check {folder} -o json"
    done = subprocess.run(
        ["bash", "-c", f"{program} {redirect} | true; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (1, "")
