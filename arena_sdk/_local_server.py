"""The embedded Arena that runs on this machine, as its data folder tells of it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from arena_sdk._stored import arena_home


def local_data_dir() -> Path:
    """Return the data folder of the embedded Arena: `ARENA_LOCAL_DATA_DIR`, or below the home."""
    given = os.environ.get("ARENA_LOCAL_DATA_DIR")
    return Path(given).expanduser() if given else arena_home() / "local"


def local_info_path() -> Path:
    """Return the file in which an embedded Arena that runs says where."""
    return local_data_dir() / "server.json"


@dataclass(frozen=True)
class LocalServer:
    """An embedded Arena that runs on this machine."""

    url: str
    pid: int
    token: str = field(repr=False)


def local_server() -> LocalServer | None:
    """Return the embedded Arena that runs on the data folder, or None."""
    server = _told()
    return server if server is not None and _is_alive(server.pid) else None


def has_died() -> bool:
    """Tell whether an embedded Arena ended without taking its leave: its file is still there."""
    server = _told()
    return server is not None and not _is_alive(server.pid)


def _told() -> LocalServer | None:
    """Return the embedded Arena that the data folder tells of, whether it runs or not."""
    try:
        info = json.loads(local_info_path().read_text(encoding="utf-8"))
        token = (local_data_dir() / "token").read_text(encoding="ascii").strip()
        return LocalServer(str(info["url"]), int(info["pid"]), token)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_alive(pid: int) -> bool:
    if pid <= 0:
        return False  # to `kill` these mean groups of processes
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
