"""`arena datasets reward`: a reward file tried here or on a dataset of the Arena."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.cli_running import Run
from tests.sdk.sdk_service import Service

SOUND = "def reward(question, answer, completion):\n    return float(answer in completion)\n"
EXAMPLE = ["--question", "1+1?", "--answer", "2"]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    path = tmp_path / "score.py"
    path.write_text(SOUND)
    return path


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_BASE_URL", "http://127.0.0.1:9")  # nothing listens there


@pytest.mark.usefixtures("nowhere")
def test_value_and_time_are_told_without_a_server(run: Run, file: Path) -> None:
    words = ["datasets", "reward", str(file), *EXAMPLE, "--completion", "It is 2"]
    done = run(*words, "-o", "json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["sound"], found["value"]) == (True, 1.0)
    assert found["seconds"] >= 0
    assert run(*words).out.startswith("sound           yes\nvalue           1\n")
    assert list((file.parent / "home" / "check" / "jobs").iterdir()) == []


@pytest.mark.usefixtures("nowhere")
def test_a_fault_is_one_sentence_and_exit_1(run: Run, file: Path) -> None:
    file.write_text("def reward(question, answer, completion):\n    return answer\n")
    done = run("datasets", "reward", str(file), *EXAMPLE)
    assert done.code == 1
    assert "error: reward() must return one number, but returned '2', of type str." in done.err


def test_on_a_dataset_the_arena_is_asked(run: Run, service: Service, file: Path) -> None:
    service.on("POST", "/datasets/reward", {"sound": True, "value": 0.5, "warnings": ["Slow."]})
    done = run("datasets", "reward", str(file), "--dataset", "gsm8k", "--completion", "72")
    assert done.code == 0, done.err
    assert done.out == "sound  yes\nvalue  0.5\n"
    assert "warning: Slow." in done.err
    sent = {key: parts[0].content.decode() for key, parts in service.calls[-1].form.items()}
    assert sent == {
        "dataset": "gsm8k", "completion": "72", "function": "reward", "reward_file": SOUND,
    }  # fmt: skip


@pytest.mark.parametrize("words", [[], ["--question", "q"], ["--dataset", "d", *EXAMPLE]])
def test_there_must_be_one_thing_to_try_it_on(run: Run, file: Path, words: list[str]) -> None:
    done = run("datasets", "reward", str(file), *words)
    assert done.code == 2
    assert "Give --dataset, or --question and --answer." in done.err
