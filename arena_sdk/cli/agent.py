"""`arena agent`: deploy trained agents and stop them; what is asked of one is in `act`, `play`,
`generate` and `sessions`."""

from __future__ import annotations

from typing import Any

import click

from arena_sdk.cli.act import act, bench
from arena_sdk.cli.commands import Group
from arena_sdk.cli.context import Globals, pass_globals
from arena_sdk.cli.deployments import deployment_options, meant, opened
from arena_sdk.cli.generate import generate
from arena_sdk.cli.names import complete, name_argument
from arena_sdk.cli.output import Sink, as_row, note, with_closing_sink, with_sink
from arena_sdk.cli.play import play
from arena_sdk.cli.sessions import sessions

COLUMNS = ("name", "status", "url", "experiment_name", "checkpoint")


@click.group(cls=Group)
def agent() -> None:
    """Deploy trained agents, ask them for actions or text, play and time them.

    Example: arena agent list
    """


for command in (act, bench, generate, play, sessions):
    agent.add_command(command)


@agent.command(name="list")
@click.option("--name", help="Only this deployment.")
@click.option("--experiment-name", help="Only agents of this experiment.")
@click.option("--project-name", help="Only agents of this project.")
@with_sink
@pass_globals
def list_(
    flags: Globals,
    sink: Sink,
    name: str | None,
    experiment_name: str | None,
    project_name: str | None,
) -> None:
    """List deployed agents.

    Example: arena agent list -o json
    """
    with flags.client() as client:
        rows = client.list_inference_deployments(
            name=name, experiment_name=experiment_name, project_name=project_name
        )
    sink.rows(rows, COLUMNS, empty="Nothing is deployed: `arena agent deploy EXPERIMENT` does it.")


@agent.command()
@name_argument("experiment", "experiment", picked=True)
@click.option(
    "--checkpoint",
    shell_complete=complete("checkpoint"),
    help="Which one, as in step_5000; the fittest when left out.",
)
@click.option(
    "--memory-scope",
    type=click.Choice(["user", "organization"]),
    help="Whose memory an LLM agent keeps.",
)
@with_closing_sink
@pass_globals
def deploy(
    flags: Globals,
    sink: Sink,
    experiment: str,
    checkpoint: str | None,
    memory_scope: Any,
) -> None:
    """Deploy an agent from a checkpoint of an experiment.

    Example: arena agent deploy lunar-lander-dqn --checkpoint step_500000
    """
    with flags.client() as client:
        sink.one(client.deploy_agent(experiment, checkpoint, memory_scope))


@agent.command()
@name_argument("deployment", "deployment", picked=True)
@with_closing_sink
@pass_globals
def stop(flags: Globals, sink: Sink, deployment: str) -> None:
    """Stop serving an agent; its checkpoint stays.

    Example: arena agent stop lunar-lander-dqn
    """
    with flags.client() as client:
        sink.one(client.stop_deployment(deployment))


@agent.command()
@name_argument("deployment", "deployment", picked=True)
@deployment_options
@with_closing_sink
@pass_globals
def run(
    flags: Globals,
    sink: Sink,
    deployment: str,
    refresh: bool,
    experiment_name: str | None,
    project_name: str | None,
) -> None:
    """Make a deployment the active agent, and show what it is.

    Example: arena agent run lunar-lander-dqn
    """
    from arena_sdk.config import InferenceFile

    which = meant(
        deployment, refresh=refresh, experiment_name=experiment_name, project_name=project_name
    )
    with opened(flags, which) as connection:
        status = connection.status()
    InferenceFile().set_active_agent(
        deployment, experiment_name=experiment_name, project_name=project_name
    )
    kind = as_row(status.agent) if status.agent else {}
    sink.one({"deployment": deployment, "url": connection.url, **kind})
    if not sink.quiet:
        if kind.get("llm"):
            note(f"{deployment} is active: `arena agent generate` talks to it.")
        else:
            note(f"{deployment} is active: `arena agent act {deployment} OBSERVATION` asks it.")
