"""What the SDK says of its work: `ARENA_LOG=info|debug`, or `-v` on the command line.

`info` has a line for every request, retry, refresh and change of credential; `debug` adds headers,
sizes and times. Neither ever has a secret in it. Those who configure `logging` themselves find the
same in the logger `arena_sdk`.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping

from arena_sdk.errors import ArenaConfigError
from arena_sdk.text import safe_text

logger = logging.getLogger("arena_sdk")

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})


class _StandardError(logging.Handler):
    """Writes to whatever standard error is at the time, harmlessly on a terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        try:
            if sys.stderr is not None:
                sys.stderr.write(f"arena: {safe_text(record.getMessage(), newlines=True)}\n")
                sys.stderr.flush()
        except (OSError, ValueError):
            pass  # standard error has been closed; there is nobody left to tell


_handler = _StandardError()


def show(level: str) -> None:
    """Write what the SDK says to standard error, from a level on; never less than before.

    Raises:
        ArenaConfigError: There is no such level.
    """
    number = LEVELS.get(level.strip().lower())
    if number is None:
        raise ArenaConfigError(
            f"ARENA_LOG is {level!r}; it may be {', '.join(LEVELS)}, or not be set."
        )
    if _handler not in logger.handlers:
        logger.addHandler(_handler)
        logger.setLevel(number)
    logger.setLevel(min(number, logger.level or number))


def show_if_asked() -> None:
    """Do what `ARENA_LOG` says.

    Raises:
        ArenaConfigError: It says something else than a level.
    """
    level = os.environ.get("ARENA_LOG", "")
    if level.strip():
        show(level)


def harmless(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers as they may be shown."""
    return {
        name: "…" if name.lower() in SECRET_HEADERS else value for name, value in headers.items()
    }
