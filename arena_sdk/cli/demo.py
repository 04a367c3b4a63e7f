"""`arena demo`: the main job once, from an empty folder to a trained agent acting, then gone."""

from __future__ import annotations

import contextlib
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from arena_sdk.cli.commands import Command
from arena_sdk.cli.exits import Failure
from arena_sdk.cli.output import echo, note
from arena_sdk.cli.progress import Teller
from arena_sdk.cli.watch import watch

if TYPE_CHECKING:
    from arena_sdk import ArenaClient

PROJECT = "demo"
ENVIRONMENT = "demo-env"
EXPERIMENT = "demo-dqn"
EPISODES = 10


@dataclass
class Stopwatch:
    """Times the steps of the demonstration."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Announce one step and time it."""
        note(f"\n== {name}")
        start = time.monotonic()
        yield
        self.seconds[name] = time.monotonic() - start

    @property
    def total(self) -> float:
        """All steps together, in seconds."""
        return sum(self.seconds.values())


def _leave_on_term(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _clean_up_undisturbed() -> None:
    """Let no second Ctrl-C leave the Arena behind: its end takes seconds, not minutes."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    note("\nEnding the Arena and removing the temporary folder…")


@contextlib.contextmanager
def _temporary_folder(*, keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="arena-demo-"))
    finished = False
    try:
        yield folder
        finished = True
    finally:
        if not (keep and finished):
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _embedded_arena(data_dir: Path, *, keep: bool) -> Iterator[tuple[str, str]]:
    """Run an Arena below `data_dir`; yields its base URL and token."""
    from arena_sdk.local import lifecycle

    info = lifecycle.start_detached(data_dir, host="127.0.0.1", port=0)
    finished = False
    try:
        yield info.url, (data_dir / "token").read_text().strip()
        finished = True
    finally:
        if not (keep and finished):
            _clean_up_undisturbed()
            lifecycle.stop(data_dir)


def _validate(client: ArenaClient, source: Path) -> None:
    """Validate the scaffolded environment, telling each check."""
    teller = Teller()
    client.set_stream_handler(teller)
    result = client.validate_environment(
        name=ENVIRONMENT,
        source=source,
        version="v1",
        env_config=source / "env_config.yaml",
        requirements=source / "requirements.txt",
    )
    client.set_stream_handler(None)
    if teller.failed or result.get("validated") is False:
        raise Failure(f"The scaffolded environment failed a check: {teller.failed}")


def _train(client: ArenaClient, source: Path) -> dict[str, Any]:
    """Train the scaffold's population to its end, watched live."""
    manifest = (source / "manifest.yaml").read_text(encoding="utf-8")
    import yaml

    document = yaml.safe_load(manifest)
    document["environment"]["name"] = ENVIRONMENT
    document["environment"]["version"] = "v1"
    client.submit_experiment(
        document,
        resource_id="local",
        num_nodes=1,
        project=PROJECT,
        experiment_name=EXPERIMENT,
    )
    return watch(client, EXPERIMENT)


def _play(client: ArenaClient) -> dict[str, Any]:
    """Play the deployed agent against random actions."""
    problem = "The game broke off before its end."
    with client.play(EXPERIMENT, episodes=EPISODES, baseline=True, seed=0) as session:
        for message in session:
            if message["kind"] == "error":
                problem = str(message["message"])
            if message["kind"] == "summary":
                return dict(message)
    raise Failure(problem)


def _deploy(client: ArenaClient) -> dict[str, Any]:
    client.deploy_agent(EXPERIMENT)
    for _ in range(600):
        row = client.get_inference_deployment(EXPERIMENT)
        if row["status"] == "running" and row["url"]:
            return row
        if row["status"] == "failed":
            raise Failure(f"The deployment failed: {row.get('error')}")
        time.sleep(0.1)
    raise Failure("The deployment was not ready within a minute.")


def _run(client: ArenaClient, folder: Path, watch_: Stopwatch) -> dict[str, Any]:
    """Do the whole job; return what the summary shows."""
    from arena_sdk import scaffold

    source = folder / ENVIRONMENT
    with watch_.step("create a project and scaffold an environment"):
        client.create_project(PROJECT, "made by arena demo", False)
        scaffold.create(source, name=ENVIRONMENT)
    with watch_.step("validate the environment"):
        _validate(client, source)
    with watch_.step("train a population of DQN agents"):
        experiment = _train(client, source)
    with watch_.step("list checkpoints and deploy the best"):
        checkpoints = client.list_checkpoints(EXPERIMENT)
        for row in checkpoints:
            note(f"{row['name']:>14}  evaluation score {row['evaluation_score']:.2f}")
        deployment = _deploy(client)
    with watch_.step(f"play {EPISODES} episodes, and {EPISODES} with random actions"):
        played = _play(client)
    return {
        "population": experiment["pop_size"],
        "generations": experiment["generation"],
        "environment steps": experiment["total_steps"],
        "best fitness": experiment["best_fitness"],
        "checkpoints": len(checkpoints),
        "deployed checkpoint": deployment["checkpoint"],
        "agent mean return": played["agent"]["mean"],
        "random mean return": played["random"]["mean"],
    }


def _print_summary(figures: dict[str, Any], watch_: Stopwatch) -> None:
    train_seconds = watch_.seconds["train a population of DQN agents"]
    speed = figures["environment steps"] / train_seconds
    lines = {
        **figures,
        "training speed": f"{speed:,.0f} environment steps/s, start-up included",
        **{f"time to {name}": f"{seconds:.1f} s" for name, seconds in watch_.seconds.items()},
        "time in all": f"{watch_.total:.1f} s",
    }
    width = max(map(len, lines))
    echo()
    for name, value in lines.items():
        shown = f"{value:,.2f}" if isinstance(value, float) else value
        echo(f"{name.ljust(width)}  {shown}")


@click.command(cls=Command)
@click.option("--keep", is_flag=True, help="Leave the Arena running and say how to open it.")
def demo(keep: bool) -> None:
    """Run the whole job once on this machine, in a temporary folder, then clean up.

    Starts an Arena of its own, scaffolds and validates an environment, trains a small population,
    deploys the best agent and plays it against random actions. Needs the extra `local`.

    Example: arena demo
    """
    from arena_sdk import ArenaClient

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave_on_term)
    stopwatch = Stopwatch()
    with _temporary_folder(keep=keep) as folder:
        data_dir = folder / "arena"
        with contextlib.ExitStack() as stack:
            with stopwatch.step("start an Arena on this machine"):
                url, token = stack.enter_context(_embedded_arena(data_dir, keep=keep))
                client = stack.enter_context(ArenaClient(token, base_url=url))
            figures = _run(client, folder, stopwatch)
        _print_summary(figures, stopwatch)
        if keep:
            note(
                f"\nThe Arena still runs at {url}. Open it: arena-tui --local --data-dir {data_dir}"
                f"\nEnd it:  arena local down --data-dir {data_dir} && rm -r {folder}"
            )
    if figures["agent mean return"] <= figures["random mean return"]:
        raise Failure("The trained agent did not beat random actions.")
