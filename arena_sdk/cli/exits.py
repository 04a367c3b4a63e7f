"""Exit codes, and the one place where an error becomes a sentence and a code.

| code | meaning |
|---|---|
| 0 | done |
| 1 | the service or the work said no: a refused request, a failed check, a failed run |
| 2 | usage: an unknown flag, a missing argument, a file that cannot be read |
| 3 | not authenticated |
| 4 | not found |
| 5 | the network or a time-out |
| 130 | interrupted |
| 141 | it went on and on, and the reader of its output has gone |
"""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from arena_sdk.cli.output import echo, write_nowhere
from arena_sdk.errors import (
    NOT_OFFERED,
    ArenaAPIError,
    ArenaAuthError,
    ArenaConfigError,
    ArenaEnvironmentNotFoundError,
    ArenaError,
    ArenaFileNotFoundError,
    ArenaNotRunningError,
    ArenaTimeoutError,
    ArenaValidationError,
)
from arena_sdk.text import safe_text, shorten_words

OK = 0
REFUSED = 1
USAGE = 2
UNAUTHENTICATED = 3
NOT_FOUND = 4
NETWORK = 5
INTERRUPTED = 130
UNREAD = 141
"""What a shell says of a program that a closed pipe has ended."""


class Failure(click.ClickException):
    """Work that ended with a no, after its report has been printed."""

    def __init__(self, message: str, exit_code: int = REFUSED) -> None:
        super().__init__(message)
        self.code = exit_code


def code_for(error: ArenaError) -> int:
    """Return the exit code of an SDK error."""
    if isinstance(error, ArenaTimeoutError | ArenaNotRunningError):
        return NETWORK
    if isinstance(error, ArenaAuthError):
        return UNAUTHENTICATED
    if isinstance(error, ArenaEnvironmentNotFoundError):
        return NOT_FOUND
    if isinstance(error, ArenaFileNotFoundError | ArenaConfigError):
        return USAGE
    if isinstance(error, ArenaValidationError) and _is_unreadable(error):
        return USAGE
    if isinstance(error, ArenaAPIError):
        if error.is_network or error.status_code in (408, 502, 503, 504):
            return NETWORK
        if error.status_code == 404 and error.error_code != NOT_OFFERED:
            return NOT_FOUND
        if error.status_code == 401:
            return UNAUTHENTICATED
    return REFUSED


def _is_unreadable(error: ArenaValidationError) -> bool:
    """Tell whether it is of a manifest that cannot be read; imports nothing for the answer."""
    problems = sys.modules.get("arena_sdk.manifest.problems")
    return problems is not None and isinstance(error, problems.ManifestUnreadable)


def say_error(message: str, hint: str | None = None) -> None:
    """Write one error sentence, and what to do next, to stderr."""
    echo(f"error: {safe_text(shorten_words(message), newlines=True)}", err=True)
    if hint:
        echo(f"hint: {safe_text(hint, newlines=True)}", err=True)


def report(error: ArenaError) -> int:
    """Show an SDK error and return its exit code."""
    say_error(str(error), error.hint_cli)
    return code_for(error)


def leave_quietly() -> NoReturn:
    """End in the middle, after the reader of our output has gone, as a filter does."""
    write_nowhere(sys.stdout)
    sys.exit(UNREAD)
