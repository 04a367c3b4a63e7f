"""What a command left, for tests that run commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Done:
    """What a command left: its exit code and what it wrote."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]
