"""`arena env check`: the checks of a validation on this machine, without a server."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena_sdk.cli.commands import Command
from arena_sdk.cli.exits import Failure, report, say_error
from arena_sdk.cli.fitting import show_algorithms
from arena_sdk.cli.output import Sink, end_if_unread, note, with_closing_sink
from arena_sdk.cli.progress import Teller

if TYPE_CHECKING:
    from arena_sdk.local.checking import Wanted
    from arena_sdk.local.services.streams import Event

POLL_SECONDS = 0.25
NEEDED = ("gymnasium", "numpy", "packaging", "psutil")

file_option = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(cls=Command)
@click.argument("directory", type=click.Path(exists=True, path_type=Path))
@click.option("--entrypoint", help="module:Class, where there is more than one.")
@click.option("--env-config", type=file_option, help="Constructor arguments, YAML or JSON.")
@click.option("--requirements", type=file_option, help="A requirements.txt to install first.")
@click.option("--multi-agent/--single-agent", default=False, help="PettingZoo, or Gymnasium.")
@click.option("--language-based/--classic", default=False, help="GEM, or Gymnasium.")
@click.option("--watch", is_flag=True, help="Check again whenever a file is saved.")
@with_closing_sink
def check(
    sink: Sink,
    /,
    directory: Path,
    env_config: Path | None,
    requirements: Path | None,
    watch: bool,
    **options: Any,
) -> None:
    """Check an environment on this machine, without a server.

    The checks of `arena env validate`, with the requirements and the env_config that lie in the
    folder unless others are given. Checks are told on stderr as they come; exit 1 when one fails.

    Example: arena env check . --watch
    """
    if watch and sink.format not in ("table", "ndjson"):
        raise click.UsageError(
            f"What goes on cannot be one document: --watch goes with -o ndjson, not"
            f" -o {sink.format}."
        )
    _need_extra()
    given = [path for path in (env_config, requirements) if path is not None]

    def once() -> bool:
        return _check_once(sink, _wanted(directory, env_config, requirements, options))

    if watch:
        _watch(once, [directory, *given])
    elif not once():
        raise Failure(f"{directory} is not valid.")


def _need_extra() -> None:
    for module in NEEDED:
        if importlib.util.find_spec(module) is None:
            raise Failure(
                f"Checking an environment here needs the extra `local` ({module} is missing):"
                ' python -m pip install "arena-tui[local]"'
            )


def _wanted(
    directory: Path, env_config: Path | None, requirements: Path | None, options: dict[str, Any]
) -> Wanted:
    from arena_sdk.local.checking import Wanted
    from arena_sdk.local.services.bundled import ConfigError, parse_config

    config = None
    if env_config is not None:
        try:
            config = parse_config(_text(env_config), env_config.name.lower())
        except ConfigError as error:
            raise Failure(str(error)) from None
    required = None if requirements is None else _text(requirements)
    return Wanted(directory, env_config=config, requirements=required, **options)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise click.UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{path} is not UTF-8 text.") from None


def _check_once(sink: Sink, wanted: Wanted) -> bool:
    """Check, print what was found, and tell whether it is valid."""
    from arena_sdk._stored import arena_home
    from arena_sdk.events import parse_line
    from arena_sdk.local.checking import CheckRefused, check_folder

    teller = Teller(quiet=sink.quiet)

    def tell(event: Event) -> None:
        teller(parse_line(json.dumps(event)))

    try:
        result = asyncio.run(check_folder(wanted, arena_home() / "check", tell))
    except CheckRefused as refused:
        raise Failure(str(refused)) from None
    failed = [row["check"] for row in result["checks"] if not row["success"]]
    document = {"validated": result["validated"], "failed": failed, **result}
    found = [key for key in ("failed", "not_run") if document[key]]
    sink.one(document, ("validated", "entrypoint", *found, "seconds"))
    show_algorithms(sink, result["algorithms"])
    return bool(result["validated"])


def _watch(once: Any, paths: list[Path]) -> None:
    """Check, then again after every change, until Ctrl-C."""
    from arena_sdk.errors import ArenaError

    while True:
        seen = _state(paths)
        try:
            once()
        except ArenaError as error:
            report(error)
        except Failure as failure:
            say_error(failure.message)
        end_if_unread()
        note("Waiting for a change; Ctrl-C ends.")
        while _state(paths) == seen:
            time.sleep(POLL_SECONDS)
        note("")


def _state(paths: list[Path]) -> dict[str, tuple[int, int]]:
    """Return size and time of every file that a check reads; of what cannot be read, none."""
    from arena_sdk import uploads
    from arena_sdk.errors import ArenaError

    found: dict[str, tuple[int, int]] = {}
    for path in paths:
        with contextlib.suppress(ArenaError, OSError):
            for entry in uploads.collect(path):
                status = entry.path.stat()
                found[str(entry.path)] = (status.st_size, status.st_mtime_ns)
    return found
