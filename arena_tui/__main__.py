"""`arena-tui`: reads the command line, finds the Arena, runs the dashboard."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena_sdk import AsyncArenaClient
    from arena_tui.launch import LocalArena

NOT_A_TERMINAL = (
    "arena-tui is drawn on a terminal, and this is none: run it in one, or use `arena` in scripts."
)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="arena-tui",
        description="The dashboard of Arena.",
        epilog="Start at once on this machine: arena-tui --local",
    )
    made.add_argument(
        "--local",
        action="store_true",
        help="use the Arena on this machine; start one if none runs, and end that one on quitting",
    )
    made.add_argument("--data-dir", type=Path, metavar="DIR", help="its data folder")
    made.add_argument("--profile", metavar="P", help="profile to use, such as local or hosted")
    made.add_argument("--url", metavar="URL", help="base URL of the Arena")
    made.add_argument("--project", metavar="P", help="show this project's experiments first")
    made.add_argument("--experiment", metavar="NAME", help="open this experiment at once")
    made.add_argument("--readonly", action="store_true", help="look, but change nothing")
    made.add_argument("--web", action="store_true", help="serve it to a browser on this machine")
    made.add_argument(
        "--port", type=_port, metavar="N", help="port of --web; a free one if not set"
    )
    made.add_argument("--version", action="store_true", help="print the version and exit")
    return made


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: use 0 to 65535")
    return int(text)


def in_browser() -> bool:
    """Tell whether this process is the dashboard of a page that `--web` serves."""
    return "web_driver" in os.environ.get("TEXTUAL_DRIVER", "")


def page_arguments(options: argparse.Namespace) -> list[str]:
    """Return the arguments of the dashboard of a page, those of the server left out."""
    found = [flag for flag in ("local", "readonly") if getattr(options, flag)]
    valued = ("data_dir", "profile", "url", "project", "experiment")
    given = [(name, getattr(options, name)) for name in valued if getattr(options, name)]
    words = [f"--{name}" for name in found]
    for name, value in given:
        words += [f"--{name.replace('_', '-')}", str(value)]
    return words


def serve(options: argparse.Namespace) -> int:
    """Serve the dashboard to a browser; returns the exit code."""
    from arena_tui.web import WebError, serve

    try:
        return serve(page_arguments(options), options.port or 0)
    except WebError as error:
        return _fail(str(error))


def _fail(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 2


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("arena-tui")
    except PackageNotFoundError:
        return "unknown"


def client_maker(
    options: argparse.Namespace, local: LocalArena | None
) -> Callable[[], AsyncArenaClient]:
    """Return what makes the client that the options describe."""

    if local is not None:
        from arena_tui.signing_in import local_client_maker

        return local_client_maker(local)

    def make() -> AsyncArenaClient:
        from arena_sdk import AsyncArenaClient

        return AsyncArenaClient(base_url=options.url, profile=options.profile)

    return make


def run(options: argparse.Namespace, local: LocalArena | None) -> int:
    """Run the dashboard until it is left; returns the exit code."""
    import gc

    # What is imported stays to the end: not worth one look by the collector, now or later.
    gc.disable()
    # httpx imports a command line of its own, and all that draws it. Nobody calls that from here.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
    from arena_tui import graphics
    from arena_tui.app import ArenaApp
    from arena_tui.settings import Memory, Settings, SettingsError, load
    from arena_tui.stores.hub import Hub

    complaint = None
    try:
        settings = load()
    except SettingsError as error:
        settings, complaint = Settings(), str(error)
    hub = Hub(
        client_maker(options, local),
        refresh_seconds=settings.refresh,
        readonly=options.readonly,
    )
    if local is not None:
        hub.connection.profile = "local"
    if options.project:
        hub.projects.override = options.project
        hub.experiments.project = options.project
    if not in_browser():
        # A terminal can be asked what it can show only before the app reads from it.
        graphics.prepare()
    app = ArenaApp(
        hub,
        settings=settings,
        memory=Memory(),
        local=local,
        experiment=options.experiment,
        complaint=complaint,
        own_process=True,
    )
    code = app.run() or 0
    if local is None and app.local is not None:
        app.local.stop()
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code: 0, or 2 when it could not start."""
    options = parser().parse_args(arguments)
    if options.version:
        print(f"arena-tui {_version()}")
        return 0
    if options.local and (options.url or options.profile not in (None, "local")):
        return _fail("--local names the Arena already; leave --url and --profile out.")
    if options.port is not None and not options.web:
        return _fail("--port is the port of --web; give both, or neither.")
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not (options.web or on_terminal or in_browser()):
        return _fail(NOT_A_TERMINAL)
    local = None
    if options.local or options.data_dir is not None:
        from arena_tui.launch import LaunchError, ensure

        try:
            local = ensure(
                options.data_dir, lambda sentence: print(sentence, file=sys.stderr, flush=True)
            )
        except LaunchError as error:
            return _fail(str(error))
    try:
        return serve(options) if options.web else run(options, local)
    finally:
        if local is not None:
            local.stop()


if __name__ == "__main__":
    sys.exit(main())
