"""What goes over the wire is what the published client sends: paths, queries, bodies, parts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sdk_calls
from sdk_service import Call, Service, running
from sdk_wire import comparable, teach, without_looking_first

SCRIPT = Path(sdk_calls.__file__)
MUST_NOT_FAIL = {name for name, _ in sdk_calls.calls(None, Path())}


def run(python: str, which: str, folder: Path) -> tuple[dict[str, Any], list[Call]]:
    """Run the script; return what each call gave, and the requests."""
    service = Service()
    with running(service) as url:
        service.url = url
        teach(service)
        variables = {
            "ARENA_BASE_URL": url,
            "ARENA_API_KEY": "arena_pat_k",
            "HOME": str(folder),
            "ARENA_HOME": str(folder / ".arena"),
        }
        result = subprocess.run(
            [python, str(SCRIPT), which, str(folder)],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert result.returncode == 0, result.stderr
    lines = [line for line in result.stdout.splitlines() if line.startswith('{"call"')]
    return {line["call"]: line for line in map(json.loads, lines)}, service.calls


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[Call]]:
    return run(sys.executable, "ours", tmp_path_factory.mktemp("ours"))


def test_every_call_of_the_contract_gets_its_answer(
    ours: tuple[dict[str, Any], list[Call]],
) -> None:
    answers, _ = ours
    assert {name: row["error"] for name, row in answers.items() if row["error"]} == {}
    assert set(answers) == MUST_NOT_FAIL
    assert answers["resume"]["answer"] == {"state": "queued"}
    assert answers["agent"]["answer"] == {"action": 1, "batch": [1]}


def test_every_request_carries_the_credential_and_says_who_we_are(
    ours: tuple[dict[str, Any], list[Call]],
) -> None:
    _, calls = ours
    assert {call.headers["authorization"] for call in calls} == {"Bearer arena_pat_k"}
    assert all(call.headers["user-agent"].startswith("arena-tui/") for call in calls)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_requests_are_those_of_the_published_client(
    oracle_python: str, ours: tuple[dict[str, Any], list[Call]], tmp_path: Path
) -> None:
    answers, calls = run(oracle_python, "published", tmp_path)
    failed = {name: row["error"] for name, row in answers.items() if row["error"]}
    assert failed == {}
    theirs = [comparable(call) for call in without_looking_first(calls)]
    mine = [comparable(call) for call in ours[1]]
    assert len(mine) == len(theirs)
    for one, other in zip(mine, theirs, strict=True):
        assert one == other
