"""Reward files: called once in a worker, with the value and the time, or one sentence of fault."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from arena_sdk.local.rewards.trial import try_reward
from tests.local.conftest import ArenaServer, end_arena, start_arena, wait_until

SOUND = """
def reward(question, answer, completion):
    return 1.0 if completion.strip() == answer else 0.25
"""
ROWS = b'prompt,completion\n"What is 1+1, in ""words""?",two\n2+2?,four\n'


def body(text: str) -> str:
    return f"def reward(question, answer, completion):\n    {text}\n"


def trial(api: httpx.Client, source: str | bytes, **fields: str) -> httpx.Response:
    content = source.encode() if isinstance(source, str) else source
    given = {"question": "1+1?", "answer": "2", **fields}
    if "dataset" in given:
        del given["question"], given["answer"]
    parts: list[Any] = [(key, (None, value.encode())) for key, value in given.items()]
    parts.append(("reward_file", ("my reward.py", content, "text/x-python")))
    return api.post("/datasets/reward", files=parts)


def verdict(folder: Path, source: str) -> dict[str, Any]:
    """Try a source in this process: for what cannot end or hang it."""
    path = folder / "my reward.py"
    path.write_text(source)
    told: list[dict[str, Any]] = []
    example = {"question": "1+1?", "answer": "2", "completion": "2"}
    try_reward(path, "reward", example, told.append)
    return told[-1]


@pytest.fixture(scope="module")
def rows(arena_server: ArenaServer) -> str:
    given = {
        "name": "words",
        "category": "reasoning",
        "column_mapping": json.dumps({"question": "prompt", "answer": "completion"}),
    }
    with arena_server.client() as api:
        made = api.post("/datasets/create", data=given, files={"file": ("a.csv", ROWS, "text/csv")})
    assert made.status_code == 200, made.text
    return "words"


def test_value_and_time_of_one_call_are_told(api: httpx.Client) -> None:
    found = trial(api, SOUND, completion=" 2").json()
    assert (found["sound"], found["value"], found["error"]) == (True, 1.0, None)
    assert 0 <= found["seconds"] < found["seconds"] + found["import_seconds"]
    assert (found["question"], found["answer"], found["completion"]) == ("1+1?", "2", " 2")
    assert trial(api, SOUND, completion="3").json()["value"] == 0.25


def test_it_is_called_once_with_the_first_row_of_a_dataset(api: httpx.Client, rows: str) -> None:
    source = body("print('called', [question, answer, completion]); return len(answer)")
    found = trial(api, source, dataset=rows, completion="drei").json()
    assert found["value"] == 3.0
    assert found["output"] == "called ['What is 1+1, in \"words\"?', 'two', 'drei']"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def reward(question, answer, completion)\n    return 1\n", "my reward.py:1 raised Synta"),
        ("import math\n1 / 0\n", "Importing my reward.py raised ZeroDivisionError at my reward"),
        ("import nowhere_to_be_found\n", "my reward.py:1 imports 'nowhere_to_be_found', which is"),
        ("def rewards(a):\n    return 1\n", "has no function 'reward'; it has rewards: rename"),
        ("x = 1\n", r"has no function 'reward': define reward\(question, answer, completion\)"),
        ("reward = 3\n", "'reward' in my reward.py is no function but of type int"),
        ("def reward(answer):\n    return 1\n", r"reward.py:1: reward\(answer\) cannot be called"),
        (
            "def reward(completion, question, answer):\n    return 1\n",
            r"reward\(completion, question, answer\) has its arguments in another order",
        ),
        ("async def reward(question, answer, completion):\n    return 1\n", "is async, but is"),
        (body("yield 1"), r"reward\(\) yields; let it return one number"),
        (
            body("return {}['gold']"),
            r"reward\(\) in my reward.py raised KeyError at my reward.py:2: 'gold'\.",
        ),
        (body("raise SystemExit"), "raised SystemExit at my reward.py:2"),
        (body("pass"), "must return one number, but returned None; let every path end in"),
        (body("return '1'"), "must return one number, but returned '1', of type str"),
        (body("return [1.0]"), r"but returned \[1.0\], of type list"),
        (body("return float('nan')"), "that is finite, but returned nan; one such value"),
        (body("return float('inf')"), "that is finite, but returned inf"),
    ],
)
def test_each_fault_is_one_sentence(tmp_path: Path, source: str, said: str) -> None:
    found = verdict(tmp_path, source)
    assert set(found) == {"kind", "error"}
    assert re.search(said, found["error"]), found["error"]
    assert "\n" not in found["error"]
    assert found["error"].endswith(".")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            body("return {}['gold']"),
            r"reward\(\) in my reward.py raised KeyError at my reward.py:2",
        ),
        (body("import os; os._exit(3)"), r"reward\(\) in my reward.py ended its process with exit"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "Importing .* by signal 9"),
    ],
)
def test_a_fault_is_a_finding_of_the_service(api: httpx.Client, source: str, said: str) -> None:
    answer = trial(api, source, completion="2")
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["sound"], found["value"]) == (False, None)
    assert re.search(said, found["error"]), found["error"]


def test_numbers_of_other_libraries_count(tmp_path: Path) -> None:
    assert verdict(tmp_path, body("import numpy as n; return n.float32(0.5)"))["value"] == 0.5
    assert verdict(tmp_path, body("import numpy as n; return n.array(2)"))["value"] == 2.0
    found = verdict(tmp_path, body("return answer == '2'"))
    assert (found["value"], type(found["value"])) == (1.0, float)
    assert found["warnings"] == ["reward() returned True, which counts as 1.0."]


def test_another_function_can_be_named(api: httpx.Client) -> None:
    found = trial(api, SOUND.replace("reward", "score"), function="score", completion="2").json()
    assert (found["value"], found["function"]) == (1.0, "score")


@pytest.mark.parametrize(
    ("source", "fields", "status", "said"),
    [
        (b"\xff", {}, 422, "not UTF-8"),
        (SOUND, {"dataset": "nowhere"}, 404, "No dataset is named 'nowhere'"),
        (b"#" * (2 << 20), {}, 422, "larger than 1 MiB"),
    ],
)
def test_what_cannot_be_tried_is_refused(
    api: httpx.Client, source: str | bytes, fields: dict[str, str], status: int, said: str
) -> None:
    refused = trial(api, source, **fields)
    assert refused.status_code == status, refused.text
    assert said in refused.json()["message"]


def test_without_an_example_there_is_nothing_to_try(api: httpx.Client) -> None:
    refused = api.post("/datasets/reward", files={"reward_file": ("r.py", SOUND, "text/x-python")})
    assert refused.status_code == 422
    assert "Give a dataset, or a question and an answer" in refused.json()["message"]


def test_it_runs_in_a_process_of_its_own(api: httpx.Client, arena_server: ArenaServer) -> None:
    found = trial(api, body("import os; return os.getppid()")).json()
    assert found["value"] not in (arena_server.pid, None)
    found = trial(api, body("import os; return os.getpid()")).json()
    assert found["value"] != arena_server.pid
    assert wait_until(lambda: not arena_server.workers(), 30)


@pytest.mark.slow
def test_a_call_that_hangs_is_ended_with_its_place(tmp_path: Path) -> None:
    server = start_arena(tmp_path, ARENA_CALL_SECONDS="2")
    try:
        with server.client() as api:
            found = trial(api, "import time\n" + body("time.sleep(600)")).json()
            assert re.fullmatch(
                r"reward\(\) in my reward.py did not end within \d+ s"
                r" \(at my reward.py:3 in reward\)\.",
                found["error"],
            )
            found = trial(api, "while True:\n    pass\n").json()
            assert "Importing my reward.py did not end within" in found["error"]
            assert wait_until(lambda: not server.workers(), 30)
    finally:
        end_arena(server)
