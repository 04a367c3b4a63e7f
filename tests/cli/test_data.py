"""Everything that prints data prints it in every format, into every kind of stdout."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from typing import Any

import pytest
import yaml

from tests.cli.cli_arena import DESCRIPTION, Furnished
from tests.cli.cli_running import Run
from tests.local.conftest import arena_environment

LISTS = {
    "agent list": "high",
    "config profiles": "hosted",
    "config show": "base_url",
    "datasets list": "qa",
    "env entrypoints walk": ":",
    "env list": "walk",
    "experiments checkpoints high": "step_",
    "experiments list": "low",
    "experiments logs high": "",
    "experiments metrics high --names": "fitness",
    "models list": "",
    "models supported": "Qwen",
    "projects list": "walk",
    "resources list": "local",
}
THINGS = (
    "agent act high [0,0,0,0]",
    "agent bench high --requests 3",
    "config get base_url",
    "datasets exists qa",
    "env exists walk",
    "env show walk",
    "experiments show high",
    "local status",
    "projects get-default",
    "projects show walk",
    "user credits",
    "user profile",
    "whoami",
)
FORMATS = ("json", "ndjson", "csv", "yaml")


def parsed(form: str, text: str) -> Any:
    """Read what was printed, as the program that asked for the format would."""
    if form == "json":
        return json.loads(text)
    if form == "ndjson":
        return [json.loads(line) for line in text.splitlines()]
    if form == "yaml":
        return yaml.safe_load(text)
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("command", LISTS)
def test_a_list_is_the_same_in_every_format(here: Run, command: str) -> None:
    found = {form: parsed(form, here(*command.split(), "-o", form).out) for form in FORMATS}
    rows = found["json"]
    assert isinstance(rows, list)
    assert found["ndjson"] == found["yaml"] == rows
    assert len(found["csv"]) == len(rows)
    table = here(*command.split(), "-o", "table").out.splitlines()
    if rows and "logs" not in command:
        assert len(table) == 1 + len(rows)
    for row, flat in zip(rows, found["csv"], strict=True):
        for key, value in flat.items():
            assert key in row
            if isinstance(row[key], str):
                assert value == row[key]
    mark = LISTS[command]
    assert not mark or any(mark in str(row) for row in rows)


@pytest.mark.parametrize("command", THINGS)
def test_a_thing_is_the_same_in_every_format(here: Run, command: str) -> None:
    changing = {"uptime_seconds", "seconds", "requests_per_second", "observations_per_second"}
    changing |= {"mean_ms", "p50_ms", "p90_ms", "p99_ms", "max_ms"}

    def same(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: None if key in changing else inner for key, inner in value.items()}

    words = command.split()
    document = parsed("json", here(*words, "-o", "json").out)
    assert document not in (None, {}, [])
    assert same(parsed("yaml", here(*words, "-o", "yaml").out)) == same(document)
    (line,) = parsed("ndjson", here(*words, "-o", "ndjson").out)
    assert same(line) == same(document)
    assert here(*words, "-o", "csv").out.strip()
    assert here(*words).out.strip()


def test_columns_and_quiet(here: Run) -> None:
    words = ["experiments", "list", "--columns", "state,name"]
    assert here(*words, "-o", "csv").out.splitlines()[0] == "state,name"
    assert list(json.loads(here(*words, "-o", "json").out)[0]) == ["state", "name"]
    assert set(here("experiments", "list", "-q").out.split()) == {"low", "high"}
    wrong = here("experiments", "list", "--columns", "nme", code=2)
    assert "'nme'" in wrong.err
    assert wrong.out == ""


def test_nothing_is_cut_wrapped_or_coloured_when_nobody_looks(furnished: Furnished) -> None:
    environment = {**arena_environment(furnished.server.home), "COLUMNS": "40"}
    done = subprocess.run(
        [sys.executable, "-m", "arena_sdk.cli", "projects", "list"],
        env={**environment, "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    heading, row = done.stdout.splitlines()
    assert heading.split() == ["NAME", "TYPE", "DESCRIPTION", "DEFAULT"]
    assert DESCRIPTION in row
    assert "\x1b" not in done.stdout


def shell(furnished: Furnished, command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        env={
            **arena_environment(furnished.server.home),
            "ARENA": f"{sys.executable} -m arena_sdk.cli",
        },
        capture_output=True,
        timeout=120,
    )


STREAMS = (
    "$ARENA {} -o json | head -1",
    "$ARENA {} -o csv | true",
    "$ARENA {} >&-",
    "LC_ALL=C LANG=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 PYTHONIOENCODING= NO_COLOR=1 COLUMNS=40"
    " $ARENA {} -o table",
    "LC_ALL=C LANG=C PYTHONIOENCODING=ascii $ARENA {} -o json",
)


def check_streams(furnished: Furnished, command: str) -> None:
    for line in STREAMS:
        done = shell(furnished, line.format(command))
        assert done.returncode == 0, (line, done.stderr)
        assert b"Traceback" not in done.stderr
        assert b"Error" not in done.stderr
        if "LC_ALL" in line:
            assert done.stdout.isascii()
            assert b"\x1b" not in done.stdout


@pytest.mark.parametrize("command", ["projects list", "experiments logs high"])
def test_every_stdout_is_good_enough(furnished: Furnished, command: str) -> None:
    check_streams(furnished, command)


@pytest.mark.slow
@pytest.mark.parametrize("command", [*LISTS, *THINGS])
def test_every_stdout_is_good_enough_for_every_command(furnished: Furnished, command: str) -> None:
    check_streams(furnished, command)


def test_ascii_output_of_a_document_is_still_the_document(furnished: Furnished) -> None:
    done = shell(furnished, "PYTHONIOENCODING=ascii $ARENA projects list -o json")
    assert json.loads(done.stdout)[0]["description"] == DESCRIPTION
    done = shell(furnished, "PYTHONIOENCODING=ascii $ARENA projects list -o yaml")
    assert yaml.safe_load(done.stdout)[0]["description"] == DESCRIPTION


def test_a_full_disk_is_told(furnished: Furnished) -> None:
    done = shell(furnished, "$ARENA experiments show high -o json > /dev/full")
    assert done.returncode == 2
    assert b"No space left" in done.stderr
