"""What can go wrong in training, each with one sentence for the person who submitted the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class TrainingError(Exception):
    """Training cannot begin or go on; the message says what, where and what to do.

    Attributes:
        error_code: Stable name of the kind of failure, for programs.
        stack: Where it was, line by line; empty when that says nothing more.
    """

    def __init__(
        self, message: str, error_code: str = "TRAINING_FAILED", stack: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.error_code = error_code
        self.stack = list(stack)


class MembersLost(Exception):
    """What hosted some members is gone, and with it what they did since they were last fetched.

    Attributes:
        slots: Where they were.
        problem: Why; raised when nothing more is tried.
        answers: What the other members answered to what was asked of all.
    """

    def __init__(
        self, slots: Sequence[int], problem: TrainingError, answers: Sequence[Any] = ()
    ) -> None:
        super().__init__(str(problem))
        self.slots = list(slots)
        self.problem = problem
        self.answers = list(answers)


class StopTimeout(Exception):
    """A member process did not stop in time; what it did since its last report is lost."""


class Stopped(Exception):
    """The run is being stopped, so what was about to be made is not."""
