"""The remote control of a play session; commands come from another thread than the player."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any


class Stopped(Exception):
    """The session is to end now."""


@dataclass(frozen=True)
class Reset:
    """Begin a new episode, with this seed when there is one."""

    seed: int | None


class Pacer:
    """Holds the player back before each step, as the commands say.

    Args:
        steps_per_second: Environment steps a second; 0 for as fast as it goes.
        paused: Whether to wait for `step` or `resume` at first.
    """

    def __init__(self, steps_per_second: float = 0.0, paused: bool = False) -> None:
        self._condition = threading.Condition()
        self._rate = steps_per_second
        self._paused = paused
        self._single_steps = 0
        self._stopped = False
        self._reset: Reset | None = None
        self._next_step = time.monotonic()

    def command(self, command: dict[str, Any]) -> str | None:
        """Obey a command; return what is wrong with it, or None."""
        name = command.get("cmd")
        with self._condition:
            if name == "pause":
                self._paused = True
            elif name == "resume":
                self._paused = False
                self._next_step = time.monotonic()
            elif name == "step":
                self._paused = True
                self._single_steps += 1
            elif name == "speed":
                return self._set_speed(command.get("steps_per_second"))
            elif name == "reset":
                return self._ask_reset(command.get("seed"))
            elif name == "stop":
                self._stopped = True
            else:
                return f"Unknown command {name!r}; use pause, resume, step, reset, speed or stop."
            self._condition.notify_all()
        return None

    def _set_speed(self, rate: Any) -> str | None:
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate < 1e6:
            return "speed needs steps_per_second, a number from 0 (unlimited) up to a million."
        self._rate = float(rate)
        self._next_step = time.monotonic()
        self._condition.notify_all()
        return None

    def _ask_reset(self, seed: Any) -> str | None:
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
            return "reset takes a seed that is a whole number from 0 up, or none."
        self._reset = Reset(seed)
        self._condition.notify_all()
        return None

    def stop(self) -> None:
        """End the session at its next step."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()

    @property
    def stopped(self) -> bool:
        """Whether the session is to end."""
        return self._stopped

    def wait(self) -> Reset | None:
        """Return when the next step may be taken; a reset when one was asked for instead.

        Raises:
            Stopped: The session is to end.
        """
        with self._condition:
            while True:
                if self._stopped:
                    raise Stopped
                if self._reset is not None:
                    reset, self._reset = self._reset, None
                    return reset
                if self._single_steps:
                    self._single_steps -= 1
                    return None
                if self._paused:
                    self._condition.wait()
                    continue
                if self._rate <= 0:
                    return None
                now = time.monotonic()
                if now >= self._next_step:
                    # a slow step is not made up for by a burst of fast ones
                    self._next_step = max(self._next_step, now - 1 / self._rate) + 1 / self._rate
                    return None
                self._condition.wait(self._next_step - now)
