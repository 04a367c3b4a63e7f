"""`arena open`: the web page of a thing on hosted Arena."""

from __future__ import annotations

import os
import sys

import click

from arena_sdk.cli.commands import Command
from arena_sdk.cli.context import Globals, pass_globals
from arena_sdk.cli.names import LISTERS
from arena_sdk.cli.output import echo, note

SECTIONS = {
    "agent": "agents",
    "dataset": "datasets",
    "environment": "environments",
    "experiment": "experiments",
    "project": "projects",
}
"""The sections of the site, by the thing that each is about."""
_LISTED_AS = {"agent": "deployment"}


def _names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the names of the kind of thing that was typed before."""
    from arena_sdk.cli.names import complete

    kind = str(ctx.params.get("kind") or "")
    listed = _LISTED_AS.get(kind, kind)
    return complete(listed)(ctx, param, incomplete) if listed in LISTERS else []


def page(base_url: str, kind: str | None, name: str | None) -> str:
    """Return the address of a page: of one thing, of a section, or of the whole site."""
    from urllib.parse import quote

    parts = [base_url.rstrip("/")]
    parts += [SECTIONS[kind]] if kind else []
    parts += [quote(name, safe="")] if name else []
    return "/".join(parts)


def has_display() -> bool:
    """Tell whether a browser would have a screen to open on."""
    return sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )


@click.command(name="open", cls=Command)
@click.argument("kind", type=click.Choice(sorted(SECTIONS)), required=False)
@click.argument("name", required=False, shell_complete=_names)
@pass_globals
def open_(flags: Globals, kind: str | None, name: str | None) -> None:
    """Print the address of a page on hosted Arena, and open it where there is a screen.

    Example: arena open experiment lunar-lander-dqn
    """
    from arena_sdk.config import LOCAL

    with flags.client() as client:
        base_url, profile = client.base_url, client.profile
    if profile == LOCAL:
        note("The Arena on this machine has no web pages: `arena-tui` shows it.")
        return
    url = page(base_url, kind, name)
    echo(url)
    if sys.stdout.isatty() and has_display():
        click.launch(url)
