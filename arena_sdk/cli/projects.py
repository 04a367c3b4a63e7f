"""`arena projects`."""

from __future__ import annotations

import click

from arena_sdk.cli.commands import Group
from arena_sdk.cli.context import Globals, confirm_or_refuse, pass_globals
from arena_sdk.cli.exits import NOT_FOUND, Failure
from arena_sdk.cli.lookup import state_of
from arena_sdk.cli.names import name_argument
from arena_sdk.cli.output import Sink, note, with_closing_sink, with_sink


@click.group(cls=Group)
def projects() -> None:
    """Group experiments into projects.

    Example: arena projects list
    """


@projects.command(name="list")
@with_sink
@pass_globals
def list_(flags: Globals, sink: Sink) -> None:
    """List projects; the default one is marked.

    Example: arena projects list
    """
    with flags.client() as client:
        default = client.get_default_project()
        rows = [{**row, "default": row.get("name") == default} for row in client.list_projects()]
    sink.rows(
        rows,
        ("name", "type", "description", "default"),
        empty="No projects yet: `arena projects create NAME` makes one.",
    )


@projects.command()
@name_argument("name", "project", picked=True)
@with_sink
@pass_globals
def show(flags: Globals, sink: Sink, name: str) -> None:
    """Show one project and how its experiments stand.

    Example: arena projects show CartPole-HPO -o json
    """
    with flags.client() as client:
        found = [row for row in client.list_projects() if row.get("name") == name]
        if not found:
            raise Failure(
                f"No project is named {name!r}: `arena projects list` shows them.", NOT_FOUND
            )
        states = [state_of(row) for row in client.list_experiments(name)]
        default = client.get_default_project()
    counted = {state: states.count(state) for state in sorted(set(states))}
    told = {"default": name == default, "experiments": len(states), "by_state": counted}
    sink.one({**found[0], **told})


@projects.command()
@click.argument("name")
@click.option("--description", help="What the project is for.")
@click.option(
    "--llm-based/--simulation-based",
    default=False,
    help="What is trained in it: language models, or agents in environments.",
)
@with_closing_sink
@pass_globals
def create(flags: Globals, sink: Sink, name: str, description: str | None, llm_based: bool) -> None:
    """Create a project.

    Example: arena projects create CartPole-HPO --description "HPO on CartPole"
    """
    with flags.client() as client:
        sink.one(client.create_project(name, description, llm_based))


@projects.command()
@name_argument("name", "project")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_globals
def delete(flags: Globals, name: str, yes: bool) -> None:
    """Delete a project and its finished experiments.

    Example: arena projects delete CartPole-HPO --yes
    """
    confirm_or_refuse(f"Delete project {name!r} and all its experiments?", yes=yes)
    with flags.client() as client:
        client.delete_project(name)
    note(f"Deleted project {name!r}.")


@projects.command(name="set-default")
@name_argument("name", "project", picked=True)
@pass_globals
def set_default(flags: Globals, name: str) -> None:
    """Remember the project that commands use when none is named.

    Example: arena projects set-default CartPole-HPO
    """
    with flags.client() as client:
        known = [str(row.get("name")) for row in client.list_projects()]
        if name not in known:
            have = f"there are: {', '.join(known)}" if known else "there is none yet"
            raise Failure(f"No project is named {name!r}; {have}.", NOT_FOUND)
        client.set_default_project(name)
    note(f"Default project: {name}")


@projects.command(name="get-default")
@with_sink
@pass_globals
def get_default(flags: Globals, sink: Sink) -> None:
    """Print the default project.

    Example: arena projects get-default
    """
    with flags.client() as client:
        name = client.get_default_project()
    if name is None:
        note("No default project is set: `arena projects set-default NAME` sets one.")
    else:
        sink.value(name)
