"""`arena agent generate`: talk to a deployed language model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from arena_sdk.cli.commands import Command
from arena_sdk.cli.context import Globals, pass_globals
from arena_sdk.cli.deployments import Conversations, deployment_options, meant, opened
from arena_sdk.cli.exits import Failure
from arena_sdk.cli.names import complete
from arena_sdk.cli.names import on_terminal as somebody_is_there
from arena_sdk.cli.output import Sink, echo, end_if_unread, note, with_closing_sink

if TYPE_CHECKING:
    from arena_sdk import Agent


def must_be_a_language_model(agent: Agent, name: str) -> None:
    """Refuse an agent that has no text to give.

    Raises:
        Failure: It is of another kind.
    """
    kind = agent.metadata.agent
    if kind is not None and not kind.llm:
        raise Failure(
            f"{name} serves a {kind.algo or 'control'} agent, no language model;"
            f" `arena agent act {name} OBSERVATION` asks it for actions."
        )


def _stream(pieces: Iterator[str]) -> str:
    """Write a completion as it comes; whatever ends it, the next line begins at the left."""
    from arena_sdk.text import safe_text

    said: list[str] = []
    try:
        for piece in pieces:
            said.append(piece)
            echo(safe_text(piece, newlines=True), nl=False)
            end_if_unread()
    finally:
        if said and not said[-1].endswith("\n"):
            echo()
    return "".join(said)


def _prompts() -> Iterator[str]:
    """Yield what the user types until an empty line or the end of the input."""
    while True:
        try:
            line = click.prompt(
                ">", default="", show_default=False, prompt_suffix=" ", err=True
            ).strip()
        except click.Abort:
            echo(err=True)
            return
        if not line:
            return
        yield line


def _session(name: str, session_id: str | None, *, new: bool) -> str:
    """Return the conversation to go on with; a new one is made up here and remembered."""
    if session_id is not None:
        return session_id
    conversations = Conversations()
    current = None if new else conversations.current(name)
    if current is None:
        from uuid import uuid4

        current = str(uuid4())
        conversations.remember(name, current)
        note(f"New conversation {current}")
    return current


@click.command(cls=Command)
@click.argument("deployment", required=False, shell_complete=complete("deployment"))
@click.option("--prompt", help="What to say; asked for on a terminal when left out.")
@click.option("--session-id", help="Go on with this conversation, this once.")
@click.option("--new-session", is_flag=True, help="Begin a new conversation.")
@click.option("--max-new-tokens", type=click.IntRange(min=1), help="Tokens at most.")
@click.option("--temperature", type=click.FloatRange(min=0), help="How varied; 0 is not at all.")
@click.option("--top-p", type=click.FloatRange(0, 1), help="Only the likeliest tokens up to this.")
@deployment_options
@with_closing_sink
@pass_globals
def generate(
    flags: Globals,
    sink: Sink,
    /,
    deployment: str | None,
    prompt: str | None,
    session_id: str | None,
    new_session: bool,
    max_new_tokens: int | None,
    temperature: float | None,
    top_p: float | None,
    **narrowing: Any,
) -> None:
    """Stream a deployed language model's answer to stdout.

    Without DEPLOYMENT it is the active agent, see `arena agent run`. Prompts go on with one
    conversation until --new-session or `arena agent sessions clear`.

    Example: arena agent generate chat-grpo --prompt "What is 2 + 2?"
    """
    if session_id is not None and new_session:
        raise click.UsageError("--session-id and --new-session exclude each other.")
    if prompt is None and not somebody_is_there():
        raise click.UsageError("Missing option '--prompt': there is no terminal to ask for it.")
    which = meant(deployment, **narrowing)
    given = {"max_new_tokens": max_new_tokens, "temperature": temperature, "top_p": top_p}
    params = {key: value for key, value in given.items() if value is not None}
    if temperature == 0:
        params["do_sample"] = False
    with opened(flags, which) as agent:
        must_be_a_language_model(agent, which.name)
        session = _session(which.name, session_id, new=new_session)
        for text in [prompt] if prompt is not None else _prompts():
            pieces = agent.generate_stream(text, params=params, session_id=session)
            if sink.format == "table" and not sink.columns:
                _stream(pieces)
            else:
                sink.one(
                    {
                        "deployment": which.name,
                        "session_id": session,
                        "prompt": text,
                        "completion": "".join(pieces),
                    }
                )
