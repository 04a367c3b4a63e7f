"""Arguments that name a thing of the service: completed from it, picked from it on a terminal.

Completion must never hang or speak: it has a hard limit of time and answers nothing on any failure.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arena_sdk.cli.context import Globals
from arena_sdk.cli.output import echo

if TYPE_CHECKING:
    from types import FrameType

    from arena_sdk import ArenaClient

COMPLETION_SECONDS = 1.5
"""A shell that waits longer for Tab seems to hang."""

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Lister = Callable[["ArenaClient", click.Context], list[str]]


def _typed(ctx: click.Context, argument: str) -> str | None:
    """Return the first argument of a command, which may be incomplete after it.

    Click stops at an option that waits for its value, and leaves the arguments before it unnamed.
    """
    value = ctx.params.get(argument) or next(iter(ctx.args), None)
    return value if isinstance(value, str) else None


def _experiments(client: ArenaClient, ctx: click.Context) -> list[str]:
    """Return the experiments of the project that is meant; of all where none is."""
    project = ctx.params.get("project") or client.get_default_project()
    projects = [str(project)] if project else _projects(client, ctx)
    return [str(row["name"]) for one in projects for row in client.list_experiments(one)]


def _projects(client: ArenaClient, ctx: click.Context) -> list[str]:
    return [str(row["name"]) for row in client.list_projects()]


def _environments(client: ArenaClient, ctx: click.Context) -> list[str]:
    return list(client.list_environments())


def _versions(client: ArenaClient, ctx: click.Context) -> list[str]:
    name = _typed(ctx, "name")
    return list(client.list_environments(name=name).get(name, {})) if name else []


def _deployments(client: ArenaClient, ctx: click.Context) -> list[str]:
    return [str(row["name"]) for row in client.list_inference_deployments()]


def _datasets(client: ArenaClient, ctx: click.Context) -> list[str]:
    return [str(row["name"]) for row in client.list_datasets()]


def _models(client: ArenaClient, ctx: click.Context) -> list[str]:
    return [str(row["model_name"]) for row in client.list_models()]


def _resources(client: ArenaClient, ctx: click.Context) -> list[str]:
    return list(client.list_resources()["tiers"])


def _checkpoints(client: ArenaClient, ctx: click.Context) -> list[str]:
    name = _typed(ctx, "experiment")
    rows = client.list_checkpoints(name) if name else []
    return [str(row.get("name") or f"step_{row['steps']}") for row in rows]


def _metrics(client: ArenaClient, ctx: click.Context) -> list[str]:
    name = _typed(ctx, "name")
    return list(client.list_experiment_metric_names(name)) if name else []


LISTERS: dict[str, Lister] = {
    "checkpoint": _checkpoints,
    "dataset": _datasets,
    "deployment": _deployments,
    "environment": _environments,
    "experiment": _experiments,
    "metric": _metrics,
    "model": _models,
    "project": _projects,
    "resource": _resources,
    "version": _versions,
}


class OutOfTimeError(Exception):
    """Completion took longer than anybody waits for."""


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Interrupt what is done within after some seconds, whatever it waits for."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def give_up(number: int, frame: FrameType | None) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _flags(ctx: click.Context) -> Globals:
    """Return the global flags; while a shell completes, no command runs that would set them."""
    found = ctx.find_object(Globals)
    if found is not None:
        return found
    given = {key: value for key, value in ctx.find_root().params.items() if value is not None}
    profile = "local" if given.pop("use_local", False) else given.pop("profile", None)
    known = {key: given[key] for key in given if key in Globals.__dataclass_fields__}
    return Globals(**{**known, "profile": profile})


def complete(what: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a function that completes the names of one kind of thing.

    Args:
        what: A key of `LISTERS`.
    """

    def names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        try:
            with _at_most(COMPLETION_SECONDS), _flags(ctx).client() as client:
                found = LISTERS[what](client, ctx) if client.is_authenticated else []
        except Exception:  # whatever it is, a shell that completes is no place to tell of it
            return []
        taken = ctx.params.get(param.name or "")
        others = set(taken) if isinstance(taken, list | tuple) else set()
        return sorted({name for name in found if name.startswith(incomplete)} - others)

    return names


def on_terminal() -> bool:
    """Tell whether somebody is there to be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def pick(what: str, names: list[str]) -> str:
    """Let the user choose one of several; the list and the question go to stderr.

    Raises:
        click.UsageError: There is nothing to choose from.
        click.Abort: The user left.
    """
    from arena_sdk.text import safe_text

    if not names:
        raise click.UsageError(f"There is no {what} to choose from.")
    width = len(str(len(names)))
    for number, name in enumerate(names, 1):
        echo(f"{number:>{width}}  {safe_text(name)}", err=True)
    while True:
        try:
            answer = str(click.prompt(f"Which {what}", err=True)).strip()
        except click.Abort:
            echo(err=True)  # what is said next begins on a line of its own
            raise
        if answer.isdecimal() and 1 <= int(answer) <= len(names):
            return names[int(answer) - 1]
        close = [name for name in names if name == answer] or [n for n in names if answer in n]
        if len(close) == 1:
            return close[0]
        said = "nothing is called that" if not close else f"{len(close)} are called like that"
        echo(f"A number from 1 to {len(names)}, or a name: {said}.", err=True)


def name_argument(
    name: str, what: str, *, picked: bool = False
) -> Callable[[Decorated], Decorated]:
    """Add an argument that names a thing of the service.

    Args:
        name: Name of the argument.
        what: A key of `LISTERS`.
        picked: Let the user pick one when it is left out on a terminal; elsewhere, and without
            this, it must be given. Not for what destroys.
    """

    def ask(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        if value is not None or ctx.resilient_parsing:
            return value
        if not on_terminal():
            hint = f"'{name.upper()}'"
            raise click.MissingParameter(ctx=ctx, param=param, param_hint=hint)
        with _flags(ctx).client() as client:
            return pick(what, LISTERS[what](client, ctx))

    options: dict[str, Any] = {"required": False, "callback": ask} if picked else {}
    return click.argument(name, shell_complete=complete(what), **options)
