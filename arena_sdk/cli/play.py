"""`arena agent play`: episodes with a deployed agent, and as many with random actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from arena_sdk.cli.commands import Command
from arena_sdk.cli.context import Globals, pass_globals
from arena_sdk.cli.exits import Failure
from arena_sdk.cli.names import complete, name_argument
from arena_sdk.cli.output import Sink, note, with_closing_sink
from arena_sdk.errors import ArenaInferenceError

if TYPE_CHECKING:
    from arena_sdk import ArenaClient

AGENT_REFUSED = "AGENT_REFUSED"
"""The `error_code` of a game whose agent does not take what the environment gives."""


def _play(client: ArenaClient, deployment: str, **options: Any) -> dict[str, Any]:
    """Play to the end, telling each episode; return the summary.

    An error is told in a message first; the close that follows it says of what kind it is.
    """
    problem = f"The game with {deployment} broke off before its end."
    with client.play(deployment, **options) as session:
        for message in session:
            if message["kind"] == "episode":
                note(
                    f"{message['policy']:>6}  episode {message['episode']:>3}"
                    f"  return {message['return']:>10.2f}  length {message['length']:>5}"
                )
            elif message["kind"] == "error":
                problem = str(message["message"])
            elif message["kind"] == "summary":
                return dict(message)
    raise Failure(problem)


@click.command(cls=Command)
@name_argument("deployment", "deployment", picked=True)
@click.option(
    "--env",
    "environment",
    shell_complete=complete("environment"),
    help="Environment of yours, or a Gymnasium id; the trained one when left out.",
)
@click.option("--version", help="Version of an environment of yours; the latest when left out.")
@click.option(
    "--episodes", type=click.IntRange(min=1), default=10, show_default=True, help="How many."
)
@click.option("--seed", type=int, help="Seed of the first episode; the next ones follow it.")
@with_closing_sink
@pass_globals
def play(
    flags: Globals,
    sink: Sink,
    deployment: str,
    environment: str | None,
    version: str | None,
    episodes: int,
    seed: int | None,
) -> None:
    """Play episodes with a deployed agent, and as many with random actions.

    Example: arena agent play lunar-lander-dqn --env LunarLander-v3 --episodes 10
    """
    with flags.client() as client:
        try:
            summary = _play(
                client,
                deployment,
                environment=environment,
                version=version,
                episodes=episodes,
                baseline=True,
                seed=seed,
            )
        except ArenaInferenceError as error:
            if error.error_code != AGENT_REFUSED or environment is None:
                raise
            raise Failure(
                f"The agent {deployment} does not fit the environment {environment}: it was trained"
                f" on other spaces. {error.detail}"
            ) from None
    rows = [
        {"policy": policy, **{k: summary[policy][k] for k in ("episodes", "mean", "std")}}
        | {
            "min": min(summary[policy]["returns"], default=None),
            "max": max(summary[policy]["returns"], default=None),
            "returns": summary[policy]["returns"],
        }
        for policy in ("agent", "random")
        if summary.get(policy)
    ]
    sink.rows(rows, ("policy", "episodes", "mean", "std", "min", "max"))
