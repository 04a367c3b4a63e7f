"""Long work, told on stderr as it goes: events as lines, uploads and downloads as a bar."""

from __future__ import annotations

import math
import shutil
import sys
import time
from typing import TYPE_CHECKING

from arena_sdk.cli.output import echo, styled
from arena_sdk.text import safe_text, shorten_words

if TYPE_CHECKING:
    from arena_sdk.events import CheckEvent, StreamEvent

BAR_WIDTH = 30
REDRAW_SECONDS = 0.1
ERASE = "\r\x1b[K"


def bytes_text(count: float) -> str:
    """Return a number of bytes for people, as in `1.5 MB`."""
    if count < 1000:
        return f"{count:.0f} B"
    power = min(int(math.log10(count) // 3), 4)
    return f"{count / 1000**power:.1f} {('kB', 'MB', 'GB', 'TB')[power - 1]}"


class ProgressBar:
    """A line on a terminal that is drawn over itself; nothing anywhere else.

    Args:
        what: What is going on, as in `Uploading`.
        quiet: Draw nothing.
    """

    def __init__(self, what: str, *, quiet: bool = False) -> None:
        self._what = what
        self._shown = sys.stderr.isatty() and not quiet
        self._drawn_at = 0.0
        self._on_screen = False

    def __call__(self, done: int, total: int | None) -> None:
        """Take how many bytes are done, and of how many if that is known."""
        now = time.monotonic()
        complete = total is not None and done >= total
        if not self._shown or (now - self._drawn_at < REDRAW_SECONDS and not complete):
            return
        self._drawn_at = now
        room = shutil.get_terminal_size().columns - 1
        echo(ERASE + self._line(done, total)[:room], err=True, nl=False)
        self._on_screen = True

    def clear(self) -> None:
        """Take the line off the screen, before something else is written there or at the end."""
        if self._on_screen:
            echo(ERASE, err=True, nl=False)
            self._on_screen = False

    def _line(self, done: int, total: int | None) -> str:
        if not total:
            return f"{self._what}  {bytes_text(done)}"
        part = min(1.0, done / total)
        bar = "#" * round(part * BAR_WIDTH)
        return (
            f"{self._what}  [{bar:<{BAR_WIDTH}}] {part:4.0%}"
            f"  {bytes_text(done)} of {bytes_text(total)}"
        )


class Teller:
    """Writes each event of a stream as one line on stderr and keeps the failed checks.

    Attributes:
        bar: What an upload draws; give it to the client as `on_progress`.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.failed: list[CheckEvent] = []
        self.bar = ProgressBar("Uploading", quiet=quiet)

    def __call__(self, event: StreamEvent) -> None:
        """Take one event."""
        from arena_sdk.events import CheckEvent, WarningEvent

        self.bar.clear()
        if isinstance(event, CheckEvent):
            if not event.success:
                self.failed.append(event)
            self._say("ok  " if event.success else "FAIL", event.check)
            for warning in event.warnings:
                self._say("    warning:", warning)
            if event.error:
                self._say("    ", event.error)
        elif isinstance(event, WarningEvent):
            self._say("warning:", event.message)
        elif getattr(event, "message", ""):
            self._say("..  ", event.message)

    def _say(self, mark: str, message: str) -> None:
        if self.quiet:
            return
        colour = {"ok": "green", "FAIL": "red", "warning:": "yellow"}.get(mark.strip())
        shown = styled(mark, sys.stderr, fg=colour) if colour else mark
        echo(f"{shown} {safe_text(shorten_words(message), newlines=True)}", err=True)
