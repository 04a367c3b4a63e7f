"""The files of settings: read whole, written whole, and locked where two processes may change them.

All lie below `~/.arena`, which `ARENA_HOME` moves.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arena_sdk.errors import ArenaConfigError

LONGEST_UPDATE = 5.0
"""Seconds that a change of a settings file waits for other processes that change it."""


class BrokenFileError(ArenaConfigError):
    """A settings file cannot be read."""


def arena_home() -> Path:
    """Return the folder of settings: `ARENA_HOME`, or `~/.arena`."""
    given = os.environ.get("ARENA_HOME")
    return Path(given).expanduser() if given else Path.home() / ".arena"


def read_json(path: Path) -> dict[str, Any]:
    """Read a settings file; one that is not there is empty.

    Raises:
        BrokenFileError: It is there but is not a JSON object; the message names it.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise BrokenFileError(
            f"The settings file {path} cannot be read ({error}); mend it or move it away."
        ) from None
    if not isinstance(value, dict):
        raise BrokenFileError(f"The settings file {path} does not hold a JSON object.")
    return value


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a settings file whole, readable by its owner only.

    It is made under another name and renamed, so no reader ever sees half of it, and `mkstemp`
    makes it 0600 from the start.

    Raises:
        ArenaConfigError: It cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(value, file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        os.unlink(temporary)
        raise _unwritable(path, error) from None
    except BaseException:
        os.unlink(temporary)
        raise


def _unwritable(path: Path, error: OSError) -> ArenaConfigError:
    return ArenaConfigError(f"The settings file {path} cannot be written: {error.strerror}.")


def section(content: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an object within an object; it is made where there is none."""
    found = content.get(name)
    if not isinstance(found, dict):
        found = content[name] = {}
    return found


class FileLock:
    """A lock beside a settings file, for those who read it, ask somebody, and write it.

    The system lets go of it when its holder dies. It is taken without waiting, so that the async
    client can wait in its own way.

    Args:
        path: The settings file; the lock is a file beside it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(f".{path.name}.lock")
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Take the lock if nobody has it; tell whether that was so.

        Raises:
            ArenaConfigError: The lock's file cannot be made.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise _unwritable(self.path, error) from None
        try:
            _lock(descriptor)
        except (BlockingIOError, PermissionError):
            os.close(descriptor)
            return False
        except OSError as error:
            os.close(descriptor)
            raise ArenaConfigError(
                f"The file {self.path} cannot be locked: {error.strerror}."
            ) from None
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Let the lock go."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def update_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Read a settings file, change it, write it; while that lasts no other process does the same.

    Raises:
        ArenaConfigError: It cannot be read or written, or another process keeps it locked.
    """
    lock = FileLock(path)
    deadline = time.monotonic() + LONGEST_UPDATE
    while not lock.take():
        if time.monotonic() > deadline:
            raise ArenaConfigError(f"Another process keeps {path} locked; end it, or try again.")
        time.sleep(0.01)
    try:
        content = read_json(path)
        change(content)
        write_json(path, content)
    finally:
        lock.release()


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
