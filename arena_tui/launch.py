"""The seam to the embedded Arena: start one where none runs, and end only that one.

`arena_sdk.local` is imported here alone, and only when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


class LaunchError(Exception):
    """There can be no Arena on this machine now; the message is one sentence."""


@dataclass
class LocalArena:
    """An Arena on this machine.

    Attributes:
        data_dir: Its data folder.
        url: Its base URL.
        token: What it wants to be shown.
        started: Whether this program started it, and so ends it.
    """

    data_dir: Path
    url: str
    token: str
    started: bool

    def current_url(self) -> str:
        """Return where it is now: one that was started again is at another port."""
        import json

        try:
            info = json.loads((self.data_dir / "server.json").read_text(encoding="utf-8"))
            return str(info["url"])
        except (OSError, ValueError, KeyError, TypeError):
            return self.url

    def stop(self) -> None:
        """End it, if it was started here."""
        if self.started:
            from arena_sdk.local import lifecycle

            lifecycle.stop(self.data_dir)
            self.started = False


def ensure(
    data_dir: Path | None = None, tell: Callable[[str], None] = lambda sentence: None
) -> LocalArena:
    """Find the Arena that runs on a data folder, or start one.

    Args:
        data_dir: The data folder; the usual one when left out.
        tell: Gets a sentence before something that takes seconds.

    Raises:
        LaunchError: The extra `local` is not installed, or the start failed.
    """
    from arena_sdk.config import local_data_dir

    try:
        from arena_sdk.local import lifecycle
    except ImportError as error:
        raise LaunchError(
            "An Arena on this machine needs the extra `local`"
            f" ({error.name} is missing): python -m pip install 'arena-tui[local]'"
        ) from error
    folder = (data_dir or local_data_dir()).expanduser().absolute()
    running = lifecycle.running(folder)
    if running is None:
        tell("Starting an Arena on this machine…")
    try:
        info = running or lifecycle.start_detached(folder, host="127.0.0.1", port=0)
        token = (folder / "token").read_text(encoding="utf-8").strip()
    except Exception as error:
        # Whatever stands in the way of a start is for the user to read, not to debug.
        # Its first line: behind it comes the end of the log, whose place that line names.
        what = (str(error).splitlines() or [type(error).__name__])[0].rstrip(":")
        raise LaunchError(f"No Arena on this machine: {what}") from error
    return LocalArena(folder, info.url, token, started=running is None)
