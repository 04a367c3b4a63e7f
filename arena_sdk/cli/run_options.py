"""What `arena experiments submit` takes beyond the manifest: how a run is run.

Only a service that announces the feature `run_options` understands them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

NAMES = ("priority", "cpus", "memory_gb", "auto_resume", "stop_on_divergence", "keep")
KINDS = ("last", "best", "every")


def _keep(ctx: click.Context, option: click.Parameter, text: str | None) -> dict[str, int] | None:
    if text is None:
        return None
    found: dict[str, int] = {}
    for part in text.split(","):
        kind, _, number = part.strip().partition("=")
        if kind not in KINDS or not number.isdecimal() or int(number) < 1 or kind in found:
            raise click.BadParameter(f"{text!r} is not like last=3,best=1,every=10.")
        found[kind] = int(number)
    return found


def with_run_options(command: Decorated) -> Decorated:
    """Give a command the flags of run options."""
    for option in (
        click.option(
            "--keep",
            metavar="last=3,best=1,every=10",
            callback=_keep,
            help="Which checkpoints are kept; all when left out.",
        ),
        click.option(
            "--stop-on-divergence", is_flag=True, help="End it once all members have diverged."
        ),
        click.option(
            "--auto-resume", is_flag=True, help="Resume it after a crash of server or trainer."
        ),
        click.option(
            "--memory-gb",
            type=click.FloatRange(min=0, min_open=True),
            help="GiB of memory that it may use.",
        ),
        click.option("--cpus", type=click.IntRange(min=1), help="Cores that it may use."),
        click.option("--priority", type=int, help="Higher ones leave the queue first."),
    ):
        command = option(command)
    return command


def taken_from(flags: dict[str, Any]) -> dict[str, Any]:
    """Move the run options out of a command's flags; return those that were given."""
    given = {name: flags.pop(name) for name in NAMES}
    return {name: value for name, value in given.items() if value not in (None, False)}
