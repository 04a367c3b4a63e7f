"""`arena version`."""

from __future__ import annotations

import click

from arena_sdk.cli.commands import Command
from arena_sdk.cli.output import echo


@click.command(cls=Command)
@click.option("--json", "as_json", is_flag=True, help="As one JSON document.")
def version(as_json: bool) -> None:
    """Print the version of arena-tui.

    Example: arena version --json
    """
    from importlib.metadata import version as installed

    number = installed("arena-tui")
    if as_json:
        import json
        import platform

        echo(json.dumps({"arena-tui": number, "python": platform.python_version()}))
    else:
        echo(f"arena-tui {number}")
