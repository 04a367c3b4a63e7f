"""`arena local`: an Arena of your own on this machine."""

from __future__ import annotations

import importlib.util
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena_sdk.cli.commands import Group
from arena_sdk.cli.exits import Failure
from arena_sdk.cli.output import Sink, echo, end_if_unread, note, with_sink

if TYPE_CHECKING:
    from types import ModuleType

FOLLOW_SECONDS = 0.3

data_dir_option = click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="ARENA_LOCAL_DATA_DIR",
    help="Where it keeps its data.  [default: ~/.arena/local]",
)


def _data_dir(given: Path | None) -> Path:
    if given is not None:
        return given.absolute()
    from arena_sdk.config import local_data_dir

    return local_data_dir()


def _lifecycle() -> ModuleType:
    """Import what runs the server, or say what is missing."""
    for module in ("fastapi", "uvicorn", "sqlalchemy", "alembic", "psutil"):
        if importlib.util.find_spec(module) is None:
            raise Failure(
                f"An Arena on this machine needs the extra `local` ({module} is missing):"
                ' python -m pip install "arena-tui[local]"'
            )
    from arena_sdk.local import lifecycle

    return lifecycle


@click.group(cls=Group)
def local() -> None:
    """Run an Arena of your own on this machine.

    Example: arena local up --detach
    """


@local.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind to.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="TCP port; 0 takes a free one.",
)
@data_dir_option
@click.option("--detach", is_flag=True, help="Run in the background; return once it answers.")
@click.option("--cpus", type=click.IntRange(min=1), help="Cores that runs may take together.")
@click.option(
    "--memory-gb",
    type=click.FloatRange(min=0, min_open=True),
    help="GiB of memory that runs may take together.",
)
@click.option(
    "--executor",
    type=click.Choice(("processes", "ray")),
    default="processes",
    show_default=True,
    help="What trains members: processes of this machine, or a Ray cluster.",
)
@click.option(
    "--ray-address",
    metavar="HOST:PORT",
    help="The Ray cluster; each run starts one on this machine unless given.",
)
@click.option("--auto-resume", is_flag=True, help="Resume the runs that were interrupted.")
def up(host: str, port: int, data_dir: Path | None, detach: bool, **settings: Any) -> None:
    """Start the Arena of a data folder.

    Example: arena local up --detach
    """
    lifecycle = _lifecycle()
    from arena_sdk.local.server_settings import ServerSettings

    folder = _data_dir(data_dir)
    chosen = ServerSettings(**settings)
    problem = chosen.problem()
    if problem is not None:
        raise Failure(problem)
    try:
        if detach:
            info = lifecycle.start_detached(folder, host, port, chosen)
            note(f"An Arena runs at {info.url} (process {info.pid}, data in {folder}).")
        else:
            lifecycle.serve(
                folder,
                host,
                port,
                on_ready=lambda info: note(
                    f"An Arena runs at {info.url}, data in {folder}; Ctrl-C ends it."
                ),
                settings=chosen,
            )
    except lifecycle.LifecycleError as error:
        raise Failure(str(error)) from None


@local.command()
@data_dir_option
def down(data_dir: Path | None) -> None:
    """End the Arena of a data folder and everything that it started.

    Example: arena local down
    """
    lifecycle = _lifecycle()
    folder = _data_dir(data_dir)
    try:
        info = lifecycle.stop(folder)
    except lifecycle.LifecycleError as error:
        raise Failure(str(error)) from None
    if info is None:
        note(f"No Arena ran on {folder}.")
    else:
        note(f"Ended the Arena at {info.url or folder} (process {info.pid}).")


@local.command()
@data_dir_option
@with_sink
def status(sink: Sink, data_dir: Path | None) -> None:
    """Say whether the Arena of a data folder runs, and where; exit 1 when it does not.

    Example: arena local status -o json
    """
    lifecycle = _lifecycle()
    folder = _data_dir(data_dir)
    info = lifecycle.running(folder)
    if info is None:
        sink.one({"running": False, "data_dir": str(folder)})
        raise Failure(f"No Arena runs on {folder}; `arena local up --detach` starts one.")
    sink.one(
        {
            "running": True,
            "answers": lifecycle.healthy(info),
            "url": info.url,
            "pid": info.pid,
            "uptime_seconds": round(time.time() - info.started_at),
            "version": info.version,
            "data_dir": str(folder),
        }
    )


@local.command()
@data_dir_option
def token(data_dir: Path | None) -> None:
    """Print the token that requests must carry.

    Example: export ARENA_API_KEY=$(arena local token)
    """
    path = _data_dir(data_dir) / "token"
    try:
        echo(path.read_text(encoding="ascii").strip())
    except OSError:
        raise Failure(
            f"There is no token at {path} yet; `arena local up` makes one when it first starts."
        ) from None


@local.command()
@data_dir_option
@click.option("-f", "--follow", is_flag=True, help="Go on printing what is added.")
@click.option(
    "-n", "--lines", type=click.IntRange(min=1), default=100, show_default=True, help="How many."
)
def logs(data_dir: Path | None, follow: bool, lines: int) -> None:
    """Print the end of the server's log.

    Example: arena local logs -f
    """
    from arena_sdk.text import safe_text

    path = _data_dir(data_dir) / "server.log"
    try:
        file = path.open("rb")
    except OSError:
        raise Failure(f"There is no log at {path}: no Arena was started there.") from None
    with file:
        for line in file.read().decode("utf-8", errors="replace").splitlines()[-lines:]:
            echo(safe_text(line, newlines=True))
        while follow:
            added = file.read().decode("utf-8", errors="replace")
            if added:
                echo(safe_text(added, newlines=True), nl=False)
                end_if_unread()
            elif os.fstat(file.fileno()).st_nlink == 0:
                return
            else:
                time.sleep(FOLLOW_SECONDS)
