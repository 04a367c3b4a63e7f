"""The executor of one machine: member processes forked from the coordinator.

They are forked after torch and AgileRL are imported, so that they share those pages and cost no
import of their own, and before the coordinator has started any thread of the numeric libraries.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from . import experience
from .agents import AgentState
from .errors import MembersLost, StopTimeout, TrainingError
from .executor import Progress
from .host import Failure, make_replay, serve
from .replay import Replay
from .tasks import EvalReport, EvalTask, Setup, TrainReport, TrainTask

STOP_SECONDS = 3.0
"""How long a member may take to answer once the run is being stopped."""
CLOSE_SECONDS = 2.0
POLL_SECONDS = 0.1


class _Final(TrainingError):
    """A failure that would only happen again."""


class ProcessExecutor:
    """Hosts slot i in process i mod n, for n = min(population, cores) processes.

    Args:
        adopt_child: Called first of all in each child; ties its life to the server's.
        processes: At most so many processes; the cores of this machine unless given.
    """

    def __init__(self, adopt_child: Callable[[], None], processes: int | None = None) -> None:
        self._adopt_child = adopt_child
        self._most = processes or len(os.sched_getaffinity(0))
        self._flag = mmap.mmap(-1, 1)
        self._children: list[BaseProcess] = []
        self._connections: list[Connection] = []
        self._progress: Progress = lambda _slot, _steps: None
        self._stopping: Callable[[], bool] = lambda: False
        self._buffers = 1
        self._setup: Setup | None = None
        self._shared: Replay | None = None
        self._shares_experience = False
        self._lost: set[int] = set()
        self._close_seconds = CLOSE_SECONDS

    @property
    def processes(self) -> int:
        """How many processes host members."""
        return len(self._children)

    @property
    def nodes(self) -> int:
        """One: this machine."""
        return 1

    def start(self, setup: Setup, progress: Progress, stopping: Callable[[], bool]) -> None:
        """Fork the member processes."""
        self._setup, self._progress, self._stopping = setup, progress, stopping
        spec = setup.spec
        self._shares_experience = spec.off_policy and spec.experience_sharing
        self._buffers = 1 if spec.experience_sharing else spec.pop_size
        self._make_shared()
        for number in range(min(spec.pop_size, self._most)):
            child, connection = self._fork(number)
            self._children.append(child)
            self._connections.append(connection)

    def _make_shared(self) -> None:
        if self._shares_experience:
            self._shared = make_replay(self._set_up, shared=True)

    @property
    def _set_up(self) -> Setup:
        assert self._setup is not None, "the executor has not been started"
        return self._setup

    def _fork(self, number: int) -> tuple[BaseProcess, Connection]:
        """Fork one member process; return it and our end of the pipe to it."""
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        flag = self._flag
        setup = self._set_up
        child = context.Process(
            target=serve,
            args=(
                setup,
                self._slots_of(number),
                self._shared,
                theirs,
                lambda: flag[0] != 0,
                self._adopt_child,
            ),
            name=f"member-host-{number}",
        )
        child.start()
        theirs.close()
        return child, ours

    def _slots_of(self, number: int) -> list[int]:
        count = min(self._set_up.spec.pop_size, self._most)
        return list(range(number, self._set_up.spec.pop_size, count))

    def restart(self, folder: Path) -> list[str]:
        """Fork anew the processes that were lost, and read their replay buffers back."""
        lost, self._lost = sorted(self._lost), set()
        if self._shares_experience and lost:
            self._make_shared()
        for number in lost:
            self._end(number)
            self._children[number], self._connections[number] = self._fork(number)
        answers = self._ask("load_experience", lambda _n: (folder,), only=lost)
        return [problem for answer in answers for problem in answer]

    def _end(self, number: int) -> None:
        """Kill a process, if it still runs, and let go of the pipe to it."""
        self._children[number].kill()
        self._children[number].join()
        self._connections[number].close()

    def train_generation(self, tasks: Sequence[TrainTask]) -> list[TrainReport]:
        """Train all members side by side."""
        answers = self._ask("train", lambda n: ([t for t in tasks if self._host(t.slot) == n],))
        reports: list[TrainReport] = [report for answer in answers for report in answer]
        return sorted(reports, key=lambda report: report.slot)

    def evaluate(self, tasks: Sequence[EvalTask]) -> list[EvalReport]:
        """Evaluate members side by side."""
        answers = self._ask("evaluate", lambda n: ([t for t in tasks if self._host(t.slot) == n],))
        reports: list[EvalReport] = [report for answer in answers for report in answer]
        return sorted(reports, key=lambda report: report.slot)

    def state(self, slots: Sequence[int]) -> dict[int, AgentState]:
        """Return the agents in the given slots."""
        answers = self._ask("state", lambda n: ([s for s in slots if self._host(s) == n],))
        return {slot: agent for answer in answers for slot, agent in answer.items()}

    def save_experience(self, folder: Path) -> list[str]:
        """Write the replay buffers, all together within the limit."""
        share = experience.LIMIT // max(1, self._buffers)
        answers = self._ask("save_experience", lambda _n: (folder, share))
        return [problem for answer in answers for problem in answer]

    def load_experience(self, folder: Path) -> list[str]:
        """Read the replay buffers back."""
        answers = self._ask("load_experience", lambda _n: (folder,))
        return [problem for answer in answers for problem in answer]

    def close(self) -> None:
        """End the processes: asked first, killed when they do not answer."""
        self._flag[0] = 1
        for connection in self._connections:
            try:
                connection.send(("close", ()))
            except OSError:
                continue
        until = time.monotonic() + self._close_seconds
        for child in self._children:
            child.join(max(0.0, until - time.monotonic()))
            if child.is_alive():
                child.kill()
                child.join()
        for connection in self._connections:
            connection.close()
        self._children, self._connections = [], []

    def _host(self, slot: int) -> int:
        return slot % len(self._children)

    def _ask(
        self,
        command: str,
        arguments: Callable[[int], tuple[Any, ...]],
        only: Sequence[int] | None = None,
    ) -> list[Any]:
        """Send a command to every host with its own arguments; return the answers in order.

        Raises:
            MembersLost: A host is gone or has failed; the others have answered, unless they share
                their experience with it: then they may wait for a lock that it held, and are lost
                with it.
        """
        asked = range(len(self._children)) if only is None else only
        problem: TrainingError | None = None
        pending: set[int] = set()
        answers: dict[int, Any] = {}
        for number in asked:
            try:
                self._connections[number].send((command, arguments(number)))
                pending.add(number)
            except OSError:
                problem = self._lose(number, self._death(number))
        deadline: float | None = None
        while pending and not (problem and self._shares_experience):
            for number in self._speaking(pending):
                try:
                    answer = self._receive(number)
                except _Final:
                    raise
                except TrainingError as failed:
                    problem = self._lose(number, failed)
                    pending.discard(number)
                    continue
                if answer is not None:
                    answers[number] = answer[0]
                    pending.discard(number)
            if self._stopping():
                self._flag[0] = 1
                deadline = deadline or time.monotonic() + STOP_SECONDS
                if pending and time.monotonic() > deadline:
                    self._close_seconds = 0.0  # who does not answer this will not answer a goodbye
                    raise StopTimeout
        if problem is not None:
            slots = [slot for number in sorted(self._lost) for slot in self._slots_of(number)]
            raise MembersLost(slots, problem, [answers[number] for number in sorted(answers)])
        return [answers[number] for number in sorted(answers)]

    def _lose(self, number: int, problem: TrainingError) -> TrainingError:
        """Note that a host is lost, with those that share their experience with it."""
        self._lost |= set(range(len(self._children))) if self._shares_experience else {number}
        return problem

    def _speaking(self, pending: set[int]) -> list[int]:
        """Return the hosts that have said something or have ended, of those that were asked."""
        sources: dict[Any, int] = {}
        for number in pending:
            sources[self._connections[number]] = number
            sources[self._children[number].sentinel] = number
        return sorted({sources[ready] for ready in wait(list(sources), timeout=POLL_SECONDS)})

    def _receive(self, number: int) -> tuple[Any] | None:
        """Take one message of a host; return its answer in a tuple, or None for progress.

        Raises:
            TrainingError: It is gone, or has failed in a way that may pass; any other failure ends
                the run at once, as `_Final`.
        """
        connection = self._connections[number]
        try:
            if not connection.poll():  # only its end woke us: what it held may keep the pipe open
                raise EOFError
            kind, content = connection.recv()
        except (EOFError, OSError):
            raise self._death(number) from None
        if kind == "progress":
            self._progress(*content)
            return None
        if isinstance(content, Failure):
            kind_of = TrainingError if content.passing else _Final
            raise kind_of(content.message, content.error_code, content.stack)
        return (content,)

    def _death(self, number: int) -> TrainingError:
        child = self._children[number]
        child.join(1.0)
        code = child.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        hint = "; the machine may have run out of memory" if code == -9 else ""
        return TrainingError(
            f"Member process {number + 1} of {len(self._children)} ended by itself ({how}{hint}). "
            "Its last words are in the log.",
            "MEMBER_DIED",
        )
