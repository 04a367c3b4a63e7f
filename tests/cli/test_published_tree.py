"""Every command, argument and flag of the published program is one of ours, with its default."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import cli_tree
import pytest

from arena_sdk.cli.root import arena
from tests.sdk.sdk_program import Published, program_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

BEYOND_THE_CONTRACT = ("memory", "memory estimate", "memory solve")
"""What the published program has and the contract's table of commands does not."""


@pytest.fixture(scope="session")
def published(oracle_python: str) -> dict[str, list[dict[str, Any]]]:
    """The published program's tree."""
    done = subprocess.run(
        [oracle_python, cli_tree.__file__], capture_output=True, text=True, timeout=120, check=True
    )
    found: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)
    assert len(found) > 40
    return {path: row for path, row in found.items() if path not in BEYOND_THE_CONTRACT}


@pytest.fixture(scope="module")
def program(oracle_python: str) -> Iterator[Published]:
    """The published program; to start it for each command would take minutes."""
    with program_of(oracle_python, dict(os.environ)) as made:
        yield made


def options(parameters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in parameters if row["kind"] == "option"]


def arguments(parameters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in parameters if row["kind"] == "argument"]


def test_every_published_command_is_ours(published: dict[str, list[dict[str, Any]]]) -> None:
    assert sorted(set(published) - set(cli_tree.tree(arena))) == []


def test_every_published_option_is_ours(published: dict[str, list[dict[str, Any]]]) -> None:
    ours = cli_tree.tree(arena)
    for path, parameters in published.items():
        here = options(ours[path])
        for theirs in options(parameters):
            where = f"{path} {theirs['opts'][-1]}"
            found = [own for own in here if set(theirs["opts"]) <= set(own["opts"])]
            assert len(found) == 1, where
            (own,) = found
            for key in ("off", "flag", "multiple", "nargs", "numeric", "default"):
                assert own[key] == theirs[key], (where, key)
            assert not own["required"] or theirs["required"], where
            assert set(theirs["choices"]) <= set(own["choices"]), where
            if theirs["least"] is not None:
                assert own["least"] is not None
                assert own["least"] <= theirs["least"], where


def test_every_published_argument_has_its_place_in_ours(
    published: dict[str, list[dict[str, Any]]],
) -> None:
    ours = cli_tree.tree(arena)
    for path, parameters in published.items():
        theirs, own = arguments(parameters), arguments(ours[path])
        assert len(own) >= len(theirs), path
        for their_one, our_one in zip(theirs, own, strict=False):
            assert our_one["nargs"] in (their_one["nargs"], -1), path
            assert not our_one["required"] or their_one["required"], path
        assert not any(extra["required"] for extra in own[len(theirs) :]), path


def test_help_of_every_published_command_tells_of_its_options(
    published: dict[str, list[dict[str, Any]]], program: Published
) -> None:
    """The same by the texts that users see, without a look inside the other program."""
    from click.testing import CliRunner

    for path, parameters in published.items():
        words = path.split()
        theirs = program.run(*words, "--help").output
        ours = CliRunner().invoke(arena, [*words, "--help"]).output
        flags = [flag for row in options(parameters) for flag in (*row["opts"], *row["off"])]
        assert flags
        for flag in flags:
            assert flag in theirs, (path, flag)
            assert flag in ours, (path, flag)


def test_the_catalogue_of_models_is_the_published_one(program: Published) -> None:
    from click.testing import CliRunner

    ours = json.loads(CliRunner().invoke(arena, ["models", "supported"]).output)
    theirs = json.loads(program.run("models", "supported").output)
    assert [{key: row[key] for key in own} for own, row in zip(ours, theirs, strict=True)] == ours
