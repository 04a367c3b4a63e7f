"""`arena completion`: the script that makes a shell complete what follows `arena`."""

from __future__ import annotations

import click

from arena_sdk.cli.commands import Command
from arena_sdk.cli.output import echo

VARIABLE = "_ARENA_COMPLETE"
"""Click answers a shell that sets this; it is made of the program's name."""


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands, options and names of yours.

    bash: add `eval "$(arena completion bash)"` to ~/.bashrc; zsh: the same with zsh in ~/.zshrc;
    fish: `arena completion fish > ~/.config/fish/completions/arena.fish`.

    Example: arena completion bash
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None, shell
    made = found(ctx.find_root().command, {}, "arena", VARIABLE)
    # Not `source()`: for bash that runs the bash of this machine, which may be another's.
    echo(made.source_template % made.source_vars())
