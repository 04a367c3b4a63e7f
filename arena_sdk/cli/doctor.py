"""`arena doctor`: what is installed, what it can reach, and what to do about each lack."""

from __future__ import annotations

import importlib.util
import locale
import os
import platform
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from arena_sdk.cli.commands import Command
from arena_sdk.cli.context import Globals, pass_globals
from arena_sdk.cli.exits import Failure
from arena_sdk.cli.output import Sink, echo, with_sink

OK, WARN, FAIL = "ok", "warn", "fail"
OUR_MARK = b"arena_sdk"
SCRIPT_BYTES = 262_144
LOCAL_MODULES = (
    "fastapi", "uvicorn", "sqlalchemy", "alembic", "psutil", "uv", "gymnasium", "Box2D",
    "pettingzoo", "torch", "agilerl", "peft",
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    status: str
    what: str
    found: str
    advice: str = ""


def is_ours(program: Path) -> bool:
    """Tell whether a program named `arena` starts this package."""
    try:
        with program.open("rb") as file:
            return OUR_MARK in file.read(SCRIPT_BYTES)
    except OSError:
        return False


def is_made_ours(program: Path) -> bool:
    """Tell whether a program of the other package starts ours all the same.

    `arena_program.pth` does that for the programs of the environment that it is installed in.
    """
    scripts, packages = sysconfig.get_path("scripts"), sysconfig.get_path("purelib")
    here = program.parent == Path(scripts)
    return here and (Path(packages) / "arena_program.pth").is_file()


def check_program() -> Finding:
    """Look at the `arena` that a shell would run."""
    found = shutil.which("arena")
    if found is None:
        scripts = Path(sys.executable).parent
        return Finding(
            WARN,
            "program arena",
            "not on PATH",
            f"Add {scripts} to PATH, or run: {sys.executable} -m arena_sdk.cli",
        )
    if is_ours(Path(found)) or is_made_ours(Path(found)):
        return Finding(OK, "program arena", f"{found} (arena-tui)")
    return Finding(
        FAIL,
        "program arena",
        f"{found} belongs to another package",
        "Put ours back: python -m pip install --force-reinstall --no-deps arena-tui"
        " (from the folder of a checkout: `.` instead of the name); until then run:"
        f" {sys.executable} -m arena_sdk.cli",
    )


def check_versions() -> Iterator[Finding]:
    """Report our version and those that decide compatibility."""
    from importlib.metadata import PackageNotFoundError, version

    yield Finding(OK, "python", f"{platform.python_version()} at {sys.executable}")
    for name in ("arena-tui", "textual", "httpx", "agilerl", "torch", "gymnasium"):
        try:
            yield Finding(OK, name, version(name))
        except PackageNotFoundError:
            if name == "arena-tui":
                yield Finding(
                    FAIL, name, "not installed", 'Run: python -m pip install "arena-tui[local]"'
                )


def check_extra() -> Finding:
    """Report whether the embedded Arena can run here."""
    missing = [name for name in LOCAL_MODULES if importlib.util.find_spec(name) is None]
    if not missing:
        return Finding(OK, "extra local", "complete")
    return Finding(
        WARN,
        "extra local",
        f"missing: {', '.join(missing)}",
        'For an Arena on this machine: python -m pip install "arena-tui[local]"',
    )


def check_ray() -> Finding:
    """Report whether runs can train on a Ray cluster, which is for those who ask for it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Finding(OK, "extra ray", f"ray {version('ray')}")
    except PackageNotFoundError:
        return Finding(OK, "extra ray", "not installed; only `--executor ray` needs it")


def check_service(flags: Globals) -> Iterator[Finding]:
    """Report which Arena would be used, with what credential, and whether it answers."""
    from arena_sdk.config import resolve
    from arena_sdk.errors import ArenaError

    try:
        settings = resolve(flags.profile, base_url=flags.base_url)
        yield Finding(OK, "profile", f"{settings.profile} ({settings.base_url})")
        with flags.client() as client:
            if not client.is_authenticated:
                yield Finding(
                    WARN,
                    "credential",
                    "none",
                    "Use `arena local up` for an Arena on this machine, set ARENA_API_KEY,"
                    " or run `arena login`.",
                )
                return
            user = client.get_current_user()
            yield Finding(OK, "service", f"answers, as {user.get('email') or 'a known user'}")
            features = client.capabilities()
            yield Finding(OK, "features", ", ".join(sorted(features)) or "those of the contract")
    except ArenaError as error:
        yield Finding(WARN, "service", str(error), error.hint_cli or "")


def check_terminal() -> Iterator[Finding]:
    """Report what the terminal can show."""
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    if encoding == "utf8":
        yield Finding(OK, "encoding", "UTF-8")
    else:
        yield Finding(
            WARN,
            "encoding",
            sys.stdout.encoding or locale.getpreferredencoding(False),
            "Charts fall back to ASCII; export LANG=C.UTF-8 for braille.",
        )
    term = os.environ.get("TERM", "")
    size = shutil.get_terminal_size()
    where = f"{term or 'TERM is not set'}, {size.columns}x{size.lines}"
    if not sys.stdout.isatty():
        yield Finding(OK, "terminal", "output is not a terminal here")
    elif term in ("", "dumb"):
        yield Finding(WARN, "terminal", where, "Set TERM, as in TERM=xterm-256color.")
    elif size.columns < 80 or size.lines < 24:
        yield Finding(WARN, "terminal", where, "The dashboard wants at least 80x24.")
    else:
        yield Finding(OK, "terminal", where)
    if os.environ.get("NO_COLOR"):
        colours = "none, since NO_COLOR is set"
    elif os.environ.get("COLORTERM") in ("truecolor", "24bit"):
        colours = "16 million"
    else:
        colours = "256" if "256" in term else "16"
    yield Finding(OK, "colours", colours)


def examine(flags: Globals) -> list[Finding]:
    """Make all checks."""
    return [
        check_program(),
        *check_versions(),
        check_extra(),
        check_ray(),
        *check_service(flags),
        *check_terminal(),
    ]


@click.command(cls=Command)
@with_sink
@pass_globals
def doctor(flags: Globals, sink: Sink) -> None:
    """Check this installation and say what to mend; exit 1 when something is broken.

    Example: arena doctor
    """
    findings = examine(flags)
    rows: list[dict[str, Any]] = [vars(finding) for finding in findings]
    if sink.format == "table" and not sink.columns and not sink.quiet:
        sink.rows(rows, ("status", "what", "found"))
        advice = [finding for finding in findings if finding.advice]
        for finding in advice:
            echo(f"\n{finding.what}: {finding.advice}")
    else:
        sink.rows(rows, ("status", "what", "found", "advice"))
    broken = [finding.what for finding in findings if finding.status == FAIL]
    if broken:
        raise Failure(f"To mend: {', '.join(broken)}.")
