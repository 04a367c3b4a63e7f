"""Our own tree of commands: each has an example that parses, takes `-v`, and knows its typos."""

from __future__ import annotations

import re
import shlex

import cli_tree
import click
import pytest
from click.testing import CliRunner

from arena_sdk.cli.commands import Command, Group
from arena_sdk.cli.root import COMMANDS, arena

PATHS = sorted(
    path
    for path, command, _ in cli_tree.commands(arena)
    if isinstance(command, Group) or not isinstance(command, click.Group)
)


def parse(words: list[str]) -> click.Context:
    """Parse a whole command line without running it."""
    ctx = arena.make_context("arena", words)
    while isinstance(ctx.command, click.Group):
        rest = [*ctx._protected_args, *ctx.args]
        name, command, left = ctx.command.resolve_command(ctx, rest)
        assert command is not None
        ctx = command.make_context(name, left, parent=ctx)
    return ctx


def help_of(path: tuple[str, ...]) -> str:
    result = CliRunner().invoke(arena, [*path, "--help"])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_every_help_has_an_example_on_one_line_that_parses(path: tuple[str, ...]) -> None:
    lines = [line.strip() for line in help_of(path).splitlines() if "Example: " in line]
    assert len(lines) == 1
    example = lines[0].removeprefix("Example: ")
    inner = re.search(r"\$\((.+)\)", example)
    words = shlex.split(re.split(r" [|>] ", inner[1] if inner else example)[0])
    assert words[0] == "arena"
    ctx = parse(words[1:])
    assert ctx.command_path.split()[1:][: len(path)] == list(path)


def test_every_first_sentence_is_short_and_whole() -> None:
    for path, command, _ in cli_tree.commands(arena):
        first = command.get_short_help_str(limit=1000)
        assert first, path
        assert len(first) < 100, path
        assert not first.endswith("..."), path


def test_the_table_of_commands_names_what_there_is() -> None:
    ctx = click.Context(arena)
    for name in COMMANDS:
        command = arena.get_command(ctx, name)
        assert command is not None, name
        assert command.name == name


def test_verbose_after_the_command_is_verbose_before_it() -> None:
    mine = [path for path, command, _ in cli_tree.commands(arena) if isinstance(command, Command)]
    assert len(mine) > 50
    ctx = parse(["env", "list", "-v"])
    assert "-v" in [opt for parameter in ctx.command.get_params(ctx) for opt in parameter.opts]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["exprments"], "arena experiments"),
        (["env", "lst"], "arena env list"),
        (["agent", "sessions", "resum"], "arena agent sessions resume"),
    ],
)
def test_a_typo_gets_the_closest_command(words: list[str], meant: str) -> None:
    result = CliRunner().invoke(arena, words)
    assert result.exit_code == 2
    assert f"Did you mean `{meant}`?" in result.output


def test_groups_list_whole_sentences() -> None:
    for path, command, _ in cli_tree.commands(arena):
        if isinstance(command, Group):
            assert "..." not in help_of(path).split("Commands:")[1]
