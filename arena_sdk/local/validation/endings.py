"""The ways in which a guarded run ends, and what is said of each."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import Literal

GUARD_BROKEN = 70
"""Exit code of a child that could not even say what went wrong."""

CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)

Ending = Literal["done", "failed", "hang", "slow", "died", "memory", "processes", "stopped"]


@dataclass
class Outcome:
    """How a guarded run ended.

    Attributes:
        ending: `done`, `failed` (an exception of ours), `hang` (a call does not return), `slow`
            (calls return, too late), `died`, `memory`, `processes` or `stopped`.
        returncode: Of the child; minus the signal's number when a signal ended it.
        stack: User code's Python stack at a hang or crash, innermost call last.
        seconds: How long the call had taken at a hang, or the check where it was slow.
        detail: The traceback of a failure of ours, or the amount that was too much.
    """

    ending: Ending
    returncode: int = 0
    stack: list[str] = field(default_factory=list)
    seconds: float = 0.0
    detail: str = ""

    def sentence(self) -> str:
        """Say what the environment did, where the run did not end in an ordinary way."""
        at = f" It was at {self.stack[-1]}." if self.stack else ""
        if self.ending == "memory":
            return f"The environment needed {self.detail} GB of memory and was ended."
        if self.ending == "processes":
            return f"The environment started {self.detail} processes and was ended."
        if self.ending == "hang":
            return f"A call into the environment did not return within {self.seconds:.0f} s.{at}"
        if self.ending == "slow":
            return (
                f"The check did not end within {self.seconds:.0f} s, though every call returned:"
                f" reset or step is too slow to train on.{at}"
            )
        if self.returncode < 0:
            number = -self.returncode
            name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
            cause = ", as the system does when memory is short" if number == signal.SIGKILL else ""
            cause = ", a crash in C code" if number in CRASHES else cause
            return f"The environment's process was ended by {name}{cause}.{at}"
        if self.returncode == GUARD_BROKEN:
            return f"The environment closed file descriptors that are not its own.{at}"
        return (
            f"The environment ended its process with exit code {self.returncode}, as os._exit does."
            f" Raise an error instead.{at}"
        )
