"""Who uses this Arena: whoever holds its token; what it costs: nothing."""

from __future__ import annotations

import getpass
import socket
from typing import Any

from fastapi import APIRouter

router = APIRouter()


@router.get("/api/users/current")
def current() -> dict[str, Any]:
    """Return the owner of this machine's Arena."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no entry anywhere
        name = "user"
    return {
        "first_name": name,
        "last_name": "",
        "email": f"{name}@{socket.gethostname()}",
        "local": True,
    }


@router.get("/api/users/credits")
def credits_() -> dict[str, Any]:
    """Return the credits: work on this machine is free of charge."""
    return {"credits": None, "unlimited": True, "spent_per_hour": 0.0}
