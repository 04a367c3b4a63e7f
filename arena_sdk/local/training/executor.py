"""The seam between the coordinator and whatever trains its members.

An executor places members, trains and evaluates them side by side and gives their state. All that
passes is picklable (see `tasks`), so an executor may reach to processes here or machines elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from .agents import AgentState
from .tasks import EvalReport, EvalTask, Setup, TrainReport, TrainTask

Progress = Callable[[int, int], None]
"""Called with a slot and the steps that its task has made so far."""


class Executor(Protocol):
    """Trains members side by side."""

    @property
    def processes(self) -> int:
        """How many processes host members."""

    @property
    def nodes(self) -> int:
        """How many machines they are on."""

    def start(self, setup: Setup, progress: Progress, stopping: Callable[[], bool]) -> None:
        """Bring up what members run in.

        Args:
            setup: The run and its environment.
            progress: Called from within `train_generation`.
            stopping: Asked at all times; once true, members stop at their next step.

        Raises:
            Stopped: The run is being stopped.
            TrainingError: It cannot be brought up.
        """

    def train_generation(self, tasks: Sequence[TrainTask]) -> list[TrainReport]:
        """Train all members; return when each has finished or stopped.

        Raises:
            MembersLost: What hosted some members is gone; `restart` brings it up anew. This may
                come of every command.
            TrainingError: A member cannot be trained.
            StopTimeout: The run is being stopped and a member did not answer.
        """

    def evaluate(self, tasks: Sequence[EvalTask]) -> list[EvalReport]:
        """Evaluate the members in the given slots."""

    def state(self, slots: Sequence[int]) -> dict[int, AgentState]:
        """Return the agents in the given slots."""

    def save_experience(self, folder: Path) -> list[str]:
        """Write the replay buffers; return a sentence for each that could not be written."""

    def load_experience(self, folder: Path) -> list[str]:
        """Read the replay buffers back; return a sentence for each that could not be used."""

    def restart(self, folder: Path) -> list[str]:
        """Bring up anew what was lost; its slots are empty until they are sent their members.

        Args:
            folder: Where replay buffers were written, to be read back.

        Returns:
            A sentence for each buffer that could not be used.
        """

    def close(self) -> None:
        """End everything that was brought up."""
