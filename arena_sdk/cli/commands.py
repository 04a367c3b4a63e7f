"""What our commands and groups do beyond click's: `-v` everywhere, examples that stay on their
line, and the closest name for a typo.

Every group below `arena` is made with `cls=Group`; what it makes with `.command()` is a `Command`.
"""

from __future__ import annotations

import inspect
from typing import Any

import click

from arena_sdk.cli.context import Globals

EXAMPLE = "\n\nExample: "
AS_IT_STANDS = "\n\n\b\nExample: "
"""The mark that keeps click from wrapping a paragraph: who copies an example wants one line."""


def _help_text(text: str | None) -> str | None:
    return None if text is None else inspect.cleandoc(text).replace(EXAMPLE, AS_IT_STANDS)


def _speak_up(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Let `-v` after the command mean what it means before it."""
    flags = ctx.find_object(Globals)
    if value and flags is not None:
        flags.verbose = True


class Command(click.Command):
    """A command that takes `-v` besides its own options."""

    def __init__(self, name: str | None, help: str | None = None, **options: Any) -> None:
        super().__init__(name, help=_help_text(help), **options)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the command's own parameters, `-v`, and `--help`."""
        *own, last = super().get_params(ctx)
        verbose = click.Option(
            ["-v", "--verbose"],
            is_flag=True,
            expose_value=False,
            callback=_speak_up,
            help="Say on stderr what is sent and retried.",
        )
        return [*own, verbose, last]


class Group(click.Group):
    """A group of such commands that names the closest one for a typo."""

    command_class = Command
    group_class = type  # groups in it are of this class too

    def __init__(self, name: str | None, help: str | None = None, **options: Any) -> None:
        super().__init__(name, help=_help_text(help), **options)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their whole first sentences."""
        rows = [
            (name, self.commands[name].get_short_help_str(limit=1000))
            for name in self.list_commands(ctx)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the closest one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            close = get_close_matches(args[0], self.commands, n=1)
            if not close:
                raise
            message = f"{error.message} Did you mean `{ctx.command_path} {close[0]}`?"
            raise click.UsageError(message, ctx) from None
