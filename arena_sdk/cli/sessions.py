"""`arena agent sessions`: the conversations that a deployed language model keeps."""

from __future__ import annotations

import sys
from typing import Any

import click

from arena_sdk.cli.commands import Group
from arena_sdk.cli.context import Globals, confirm_or_refuse, pass_globals
from arena_sdk.cli.deployments import Conversations, deployment_options, meant, opened
from arena_sdk.cli.exits import NOT_FOUND, Failure
from arena_sdk.cli.generate import must_be_a_language_model
from arena_sdk.cli.names import complete, on_terminal, pick
from arena_sdk.cli.output import Sink, as_row, echo, note, styled, with_sink

deployment_argument = click.argument(
    "deployment", required=False, shell_complete=complete("deployment")
)


@click.group(cls=Group)
def sessions() -> None:
    """List, read, resume and delete conversations with a language model.

    Without DEPLOYMENT they are those of the active agent, see `arena agent run`.

    Example: arena agent sessions list
    """


@sessions.command(name="list")
@deployment_argument
@deployment_options
@with_sink
@pass_globals
def list_(flags: Globals, sink: Sink, /, deployment: str | None, **narrowing: Any) -> None:
    """List conversations; the one that prompts go on with is marked.

    Example: arena agent sessions list chat-grpo -o json
    """
    which = meant(deployment, **narrowing)
    current = Conversations().current(which.name)
    with opened(flags, which) as agent:
        must_be_a_language_model(agent, which.name)
        found = [as_row(session) for session in agent.list_sessions()]
    rows = [{**row, "current": row["session_id"] == current} for row in found]
    sink.rows(
        rows,
        ("session_id", "created_at", "last_updated", "current"),
        empty=f"{which.name} keeps no conversation.",
    )


@sessions.command()
@click.argument("session_id")
@deployment_argument
@deployment_options
@with_sink
@pass_globals
def get(
    flags: Globals, sink: Sink, /, session_id: str, deployment: str | None, **narrowing: Any
) -> None:
    """Print one conversation.

    Example: arena agent sessions get 3f0c2c1e-7c35-4b6f-9d0a-5a1f3f1f2a10 -o json
    """
    from arena_sdk.text import safe_text

    which = meant(deployment, **narrowing)
    with opened(flags, which) as agent:
        must_be_a_language_model(agent, which.name)
        found = as_row(agent.get_session(session_id))
    if sink.format != "table" or sink.columns:
        sink.one(found)
        return
    for message in found["messages"]:
        echo(styled(safe_text(message["role"]), sys.stdout, bold=True))
        for line in str(message["content"]).splitlines():
            echo(f"  {safe_text(line)}")


@sessions.command()
@deployment_argument
@click.option("--session-id", help="Which one; picked from a list on a terminal when left out.")
@deployment_options
@pass_globals
def resume(
    flags: Globals, /, deployment: str | None, session_id: str | None, **narrowing: Any
) -> None:
    """Let later prompts go on with a conversation.

    Example: arena agent sessions resume --session-id 3f0c2c1e-7c35-4b6f-9d0a-5a1f3f1f2a10
    """
    if session_id is None and not on_terminal():
        raise click.UsageError("Missing option '--session-id': there is no terminal to pick on.")
    which = meant(deployment, **narrowing)
    with opened(flags, which) as agent:
        must_be_a_language_model(agent, which.name)
        known = [str(as_row(session)["session_id"]) for session in agent.list_sessions()]
    if session_id is None:
        session_id = pick("conversation", known)
    elif session_id not in known:
        raise Failure(
            f"{which.name} keeps no conversation {session_id!r}: `arena agent sessions list`"
            " shows them.",
            NOT_FOUND,
        )
    Conversations().remember(which.name, session_id)
    note(f"Prompts to {which.name} go on with conversation {session_id}.")


@sessions.command()
@click.argument("session_id")
@deployment_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@deployment_options
@pass_globals
def delete(
    flags: Globals, /, session_id: str, deployment: str | None, yes: bool, **narrowing: Any
) -> None:
    """Delete a conversation from the deployment.

    Example: arena agent sessions delete 3f0c2c1e-7c35-4b6f-9d0a-5a1f3f1f2a10 --yes
    """
    which = meant(deployment, **narrowing)
    confirm_or_refuse(f"Delete conversation {session_id!r} with its messages?", yes=yes)
    with opened(flags, which) as agent:
        must_be_a_language_model(agent, which.name)
        there = agent.delete_session(session_id)
    conversations = Conversations()
    if conversations.current(which.name) == session_id:
        conversations.forget(which.name)
    said = "Deleted conversation" if there else "There was no conversation"
    note(f"{said} {session_id} with {which.name}.")


@sessions.command()
@deployment_argument
def clear(deployment: str | None) -> None:
    """Let the next prompt begin a new conversation; nothing is deleted.

    Example: arena agent sessions clear chat-grpo
    """
    name = meant(deployment).name
    before = Conversations().forget(name)
    if before is None:
        note(f"No conversation went on with {name}.")
    else:
        note(f"The next prompt to {name} begins a new conversation; {before} is kept there.")
