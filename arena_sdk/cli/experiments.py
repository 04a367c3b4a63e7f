"""`arena experiments`: submit, show, stop, resume, delete; what follows a run is in `following`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arena_sdk.cli.commands import Group
from arena_sdk.cli.compare import compare
from arena_sdk.cli.context import Globals, confirm_or_refuse, pass_globals
from arena_sdk.cli.exits import USAGE, Failure
from arena_sdk.cli.following import logs, wait, watch
from arena_sdk.cli.lookup import experiment
from arena_sdk.cli.metrics import metrics
from arena_sdk.cli.names import complete, name_argument
from arena_sdk.cli.output import Sink, echo, note, with_closing_sink, with_sink
from arena_sdk.cli.progress import Teller
from arena_sdk.cli.run_options import taken_from, with_run_options
from arena_sdk.cli.sweeps import Variation, with_variation
from arena_sdk.text import safe_text


@click.group(cls=Group)
def experiments() -> None:
    """Train populations of agents; watch, compare, stop and resume them.

    Example: arena experiments list
    """


for command in (compare, logs, metrics, wait, watch):
    experiments.add_command(command)


def _manifest(source: str) -> str:
    """Return what the client reads the manifest from: a path, or `-` for standard input."""
    if source != "-" and not Path(source).exists():  # a pipe of the shell, as <(…), is no file
        raise Failure(
            f"There is no manifest {source!r}; `arena env init DIR` writes one beside an"
            " environment.",
            USAGE,
        )
    return source


@experiments.command()
@click.argument("manifest", type=click.Path())
@click.option(
    "--resource-id",
    default="arena-medium",
    show_default=True,
    shell_complete=complete("resource"),
    help="Where to run it.",
)
@click.option(
    "--num-nodes", type=click.IntRange(min=1), default=2, show_default=True, help="How many nodes."
)
@click.option(
    "--project",
    shell_complete=complete("project"),
    help="Which project; the default one when left out.",
)
@click.option("--experiment-name", help="Its name; Arena makes one up when left out.")
@click.option("--reward-file", type=click.Path(), help="Python file with reward(), for LLM runs.")
@click.option("--completion", help="A completion to try the reward on.")
@with_variation
@with_run_options
@click.option("--watch", "follow", is_flag=True, help="Follow the run to its end.")
@with_closing_sink
@pass_globals
def submit(
    flags: Globals,
    sink: Sink,
    /,
    manifest: str,
    follow: bool,
    dry_run: bool,
    overrides: dict[str, Any],
    seeds: list[int],
    grid: dict[str, list[Any]],
    **options: Any,
) -> None:
    """Submit a training run, or several of one manifest; `-` reads it from standard input.

    Example: arena experiments submit dqn.yaml --set algorithm.lr=1e-3 --seeds 1,2,3
    """
    source = _manifest(manifest)
    run_options = taken_from(options)
    if run_options:
        options["options"] = run_options
    variation = Variation(overrides, seeds, grid)
    if dry_run:
        _print_children(sink, source, variation, options["experiment_name"])
    elif variation.is_sweep:
        if follow:
            raise Failure(
                "--watch follows one run; `arena experiments list` shows those of a sweep.", USAGE
            )
        _submit_sweep(flags, sink, source, variation, options)
    else:
        _submit_one(flags, sink, source, overrides, options, follow=follow)


def _print_children(sink: Sink, source: str, variation: Variation, name: str | None) -> None:
    from arena_sdk.sweeps import expand

    children = expand(
        source,
        overrides=variation.overrides,
        seeds=variation.seeds,
        grid=variation.grid,
        name=name,
    )
    rows = [{"experiment_name": c.name, "overrides": c.overrides, "manifest": c.manifest}
            for c in children]  # fmt: skip
    sink.rows(rows, ("experiment_name", "overrides"))
    note(f"{len(rows)} experiment{'s' if len(rows) != 1 else ''}; nothing was submitted.")


def _submit_one(
    flags: Globals,
    sink: Sink,
    source: str,
    overrides: dict[str, Any],
    options: dict[str, Any],
    *,
    follow: bool,
) -> None:
    from arena_sdk.cli.watch import watch as follow_run

    with flags.client(on_event=Teller(quiet=sink.quiet)) as client:
        if overrides:
            (result,) = client.submit_sweep(source, overrides=overrides, **options)
        else:
            result = client.submit_experiment(source, **options)
        name = result.get("experiment_name") or options["experiment_name"]
        _print_run(sink, result, name)
        if result.get("accepted") is False:
            raise Failure("The experiment was not accepted.")
        if follow:
            if not name:
                raise Failure("The service did not say what the experiment is called.")
            follow_run(client, str(name), quiet=sink.quiet or sink.format != "table")


def _print_run(sink: Sink, answer: dict[str, Any], name: str | None) -> None:
    """Print what a service says of one run; the run's name where only one word is wanted."""
    if name and sink.quiet and sink.format == "table" and not sink.columns:
        echo(safe_text(name))
    else:
        sink.one(answer)


def _submit_sweep(
    flags: Globals, sink: Sink, source: str, variation: Variation, options: dict[str, Any]
) -> None:
    with flags.client(on_event=Teller(quiet=sink.quiet)) as client:
        rows = client.submit_sweep(
            source,
            overrides=variation.overrides,
            seeds=variation.seeds,
            grid=variation.grid,
            **options,
        )
    sink.rows(rows, ("experiment_name", "experiment_id", "overrides"))
    refused = next((row for row in rows if row.get("accepted") is False), None)
    if refused is not None:
        reason = refused.get("error") or "the service gave no reason."
        raise Failure(
            f"{refused['experiment_name']} was not accepted, nor was any after it submitted:"
            f" {reason}"
        )


@experiments.command(name="list")
@click.option(
    "--project",
    shell_complete=complete("project"),
    help="Which project; the default one when left out.",
)
@with_sink
@pass_globals
def list_(flags: Globals, sink: Sink, project: str | None) -> None:
    """List the experiments of a project.

    Example: arena experiments list --project my-project -o csv
    """
    with flags.client() as client:
        rows = client.list_experiments(project)
    sink.rows(
        rows,
        ("name", "state", "algorithm", "environment", "steps", "max_steps", "best_fitness"),
        empty="No experiments yet: `arena experiments submit MANIFEST` starts one.",
    )


@experiments.command()
@name_argument("name", "experiment", picked=True)
@with_sink
@pass_globals
def show(flags: Globals, sink: Sink, name: str) -> None:
    """Show one experiment.

    Example: arena experiments show lunar-lander-dqn
    """
    with flags.client() as client:
        sink.one(experiment(client, name))


@experiments.command()
@name_argument("name", "experiment", picked=True)
@click.option(
    "--max-steps",
    type=click.IntRange(min=1),
    required=True,
    help="New budget: environment steps of one member, counted from the start.",
)
@with_closing_sink
@pass_globals
def resume(flags: Globals, sink: Sink, name: str, max_steps: int) -> None:
    """Resume a run from its last checkpoint with a new budget.

    Example: arena experiments resume lunar-lander-dqn --max-steps 2000000
    """
    with flags.client() as client:
        _print_run(sink, client.resume_experiment(name, max_steps), name)


@experiments.command()
@name_argument("name", "experiment", picked=True)
@with_closing_sink
@pass_globals
def stop(flags: Globals, sink: Sink, name: str) -> None:
    """Stop a run; it leaves a checkpoint to resume from.

    Example: arena experiments stop lunar-lander-dqn
    """
    with flags.client() as client:
        answer = client.stop_experiment(name)
    if isinstance(answer, dict | None):
        _print_run(sink, answer or {}, name)
    else:
        sink.value(answer)


@experiments.command()
@name_argument("name", "experiment")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_globals
def delete(flags: Globals, name: str, yes: bool) -> None:
    """Delete an experiment with its metrics and checkpoints.

    Example: arena experiments delete lunar-lander-dqn --yes
    """
    confirm_or_refuse(f"Delete experiment {name!r} with its metrics and checkpoints?", yes=yes)
    with flags.client() as client:
        client.delete_experiment(name, confirm=True)
    note(f"Deleted experiment {name!r}.")


@experiments.command()
@name_argument("name", "experiment", picked=True)
@with_sink
@pass_globals
def checkpoints(flags: Globals, sink: Sink, name: str) -> None:
    """List a run's checkpoints.

    Example: arena experiments checkpoints lunar-lander-dqn
    """
    with flags.client() as client:
        rows = client.list_checkpoints(name)
    sink.rows(
        rows,
        ("name", "steps", "evaluation_score", "training_score", "size_mb"),
        empty=f"{name} has no checkpoints yet: one is written at the end of each generation.",
    )
