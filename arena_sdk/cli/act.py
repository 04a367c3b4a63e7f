"""`arena agent act` and `arena agent bench`: ask a deployed agent for actions, once or as fast as
it goes."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import click

from arena_sdk.cli.commands import Command
from arena_sdk.cli.context import Globals, pass_globals
from arena_sdk.cli.deployments import deployment_options, meant, opened
from arena_sdk.cli.exits import Failure
from arena_sdk.cli.following import refuse_nan
from arena_sdk.cli.names import name_argument
from arena_sdk.cli.output import Sink, end_if_unread, note, with_closing_sink, with_json_sink

if TYPE_CHECKING:
    from arena_sdk import Agent

WARM_UP = 3
MOST_OBSERVATIONS = 65_536
"""Of a request: more are gigabytes, on which a server only hangs."""


def _must_act(agent: Agent, name: str) -> None:
    kind = agent.metadata.agent
    if kind is not None and kind.llm:
        raise Failure(
            f"{name} serves a language model: `arena agent generate {name} --prompt TEXT` asks it."
        )


def _info_of(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
    """Read `--info`, which must be a JSON object."""
    if value is None:
        return None
    try:
        info = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"it is no JSON: {error}.", ctx, param) from None
    if not isinstance(info, dict):
        raise click.BadParameter("it must be a JSON object.", ctx, param)
    return info


@click.command(cls=Command)
@name_argument("deployment", "deployment")
@click.argument("observation", default="-")
@click.option("--batched", is_flag=True, help="The observation has a leading batch axis.")
@click.option("--allow-nan", is_flag=True, help="Send NaN and infinities too.")
@click.option(
    "--info",
    callback=_info_of,
    help='The environment\'s info as JSON, as {"action_mask": [1, 0]}; its mask is sent.',
)
@deployment_options
@with_json_sink
@pass_globals
def act(
    flags: Globals,
    sink: Sink,
    /,
    deployment: str,
    observation: str,
    batched: bool,
    allow_nan: bool,
    info: dict[str, Any] | None,
    **narrowing: Any,
) -> None:
    """Print the action of a deployed agent for an observation, as JSON.

    OBSERVATION is JSON (an object for a Dict space), a file of JSON or .npy, or `-` for standard
    input, where several may follow each other, one a line.

    Example: arena agent act cartpole-dqn "[0.01, -0.02, 0.03, 0.04]"
    """
    from arena_sdk.cli import observations

    with opened(flags, meant(deployment, **narrowing)) as agent:
        _must_act(agent, deployment)
        hidden_state = None
        for value in observations.read(observation):
            end_if_unread()
            action, hidden_state = agent.get_action(
                value, batched=batched, hidden_state=hidden_state, info=info, allow_nan=allow_nan
            )
            sink.value(observations.as_json(action))


def _measure(
    agent: Agent, observation: Any, *, batched: bool, seconds: float, requests: int | None
) -> tuple[list[float], float]:
    """Return the latencies of requests one after another, and how long all took, in seconds."""
    for _ in range(WARM_UP):
        agent.get_action(observation, batched=batched)
    latencies: list[float] = []
    began = now = time.perf_counter()
    while len(latencies) < requests if requests else now - began < seconds:
        agent.get_action(observation, batched=batched)
        after = time.perf_counter()
        latencies.append(after - now)
        now = after
    return latencies, now - began


@click.command(cls=Command)
@name_argument("deployment", "deployment", picked=True)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.01, max=1e6),
    callback=refuse_nan,
    default=5.0,
    show_default=True,
    help="How long.",
)
@click.option("--requests", type=click.IntRange(min=1), help="How many, however long it takes.")
@click.option(
    "--batch-size",
    type=click.IntRange(min=1, max=MOST_OBSERVATIONS),
    default=1,
    show_default=True,
    help="Observations in a request.",
)
@click.option(
    "--observation", help="As for `arena agent act`; zeros of the agent's own space otherwise."
)
@deployment_options
@with_closing_sink
@pass_globals
def bench(
    flags: Globals,
    sink: Sink,
    /,
    deployment: str,
    seconds: float,
    requests: int | None,
    batch_size: int,
    observation: str | None,
    **narrowing: Any,
) -> None:
    """Measure requests a second and latencies of a deployed agent, over one connection.

    Example: arena agent bench cartpole-dqn --seconds 10 --batch-size 8
    """
    import numpy as np

    from arena_sdk.cli import observations

    given = None if observation is None else next(observations.read(observation))
    with opened(flags, meant(deployment, **narrowing)) as agent:
        _must_act(agent, deployment)
        if given is None:
            with flags.client() as client:
                given = observations.of_deployment(client, deployment)
        asked = given if batch_size == 1 else observations.batch(given, batch_size)
        how = f"{requests:,} requests" if requests else f"{seconds:g} s"
        if not sink.quiet:
            note(f"Asking {deployment} for {how}…")
        latencies, took = _measure(
            agent, asked, batched=batch_size > 1, seconds=seconds, requests=requests
        )
    p50, p90, p99 = (1000 * float(value) for value in np.percentile(latencies, [50, 90, 99]))
    rate = len(latencies) / took
    sink.one(
        {
            "deployment": deployment,
            "requests": len(latencies),
            "batch_size": batch_size,
            "seconds": took,
            "requests_per_second": rate,
            "observations_per_second": rate * batch_size,
            "mean_ms": 1000 * sum(latencies) / len(latencies),
            "p50_ms": p50,
            "p90_ms": p90,
            "p99_ms": p99,
            "max_ms": 1000 * max(latencies),
        }
    )
