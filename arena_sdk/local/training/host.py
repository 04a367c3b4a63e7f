"""A member process: hosts some slots and obeys the coordinator, one command after the other."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from . import experience
from .errors import Stopped, TrainingError
from .load import measured
from .member import Member
from .replay import Replay
from .stage import Stages
from .tasks import EvalTask, Setup, TrainTask
from .team import as_one


@dataclass
class Failure:
    """An exception of a member process, as the coordinator will raise it.

    Attributes:
        message: One sentence.
        error_code: Stable name of the kind of failure.
        stack: Where it was, line by line; empty for what was foreseen.
        passing: It may not happen again, so that it is worth another attempt.
    """

    message: str
    error_code: str
    stack: list[str] = field(default_factory=list)
    passing: bool = False


class Host:
    """The slots of one process. Each method is a command; its result is the answer."""

    def __init__(
        self,
        setup: Setup,
        slots: list[int],
        shared: Replay | None,
        stopped: Callable[[], bool],
        send: Callable[[tuple[str, Any]], None],
    ) -> None:
        from arena_sdk.local.validation.loading import make_env

        def make() -> Any:
            return as_one(make_env(setup.environment))

        def make_unless_stopped() -> Any:
            if stopped():
                raise Stopped
            return make()

        # Copies in processes of their own are made there, where an exception is a failure.
        in_process = setup.vectorization == "sync"
        self._stages = Stages(setup, make_unless_stopped if in_process else make)
        self._stopped = stopped
        self._send = send
        self._slots = slots
        self._shared = shared
        self._members = {slot: Member(setup, self._stages, shared) for slot in slots}
        if setup.spec.off_policy and shared is None:
            for member in self._members.values():
                member.replay = make_replay(setup)

    def train(self, tasks: list[TrainTask]) -> list[Any]:
        """Train the members one after the other."""
        reports = []
        for task in tasks:
            progress = partial(self._progress, task.slot)
            member = self._members[task.slot]
            with measured() as load:
                report = member.train_generation(task, self._stopped, progress)
            report.load = load
            progress(report.steps)
            reports.append(report)
        return reports

    def evaluate(self, tasks: list[EvalTask]) -> list[Any]:
        """Evaluate the members one after the other."""
        return [self._members[task.slot].evaluate(task, self._stopped) for task in tasks]

    def state(self, slots: list[int]) -> dict[int, Any]:
        """Return the agents."""
        return {slot: self._members[slot].state() for slot in slots}

    def save_experience(self, folder: Path, limit: int) -> list[str]:
        """Write this process's buffers, each within the limit in bytes."""
        problems = []
        for name, replay in self._replays():
            try:
                experience.save(replay, folder / name, limit)
            except OSError as problem:
                problems.append(experience.not_saved(folder, problem))
        return problems

    def load_experience(self, folder: Path) -> list[str]:
        """Read this process's buffers back."""
        found = (experience.load(replay, folder / name) for name, replay in self._replays())
        return [problem for problem in found if problem is not None]

    def give_experience(self, limit: int) -> dict[str, bytes]:
        """Return this process's buffers as files by name, each within the limit in bytes."""
        files = {name: experience.encode(replay, limit) for name, replay in self._replays()}
        return {name: data for name, (rows, data) in files.items() if rows}

    def take_experience(self, folder: Path, files: dict[str, bytes]) -> list[str]:
        """Fill this process's buffers from what `give_experience` gave.

        Args:
            folder: Where the coordinator keeps the files, for what is said of them.
            files: Their content by name.
        """
        found = (
            experience.decode(replay, files[name], folder / name)
            for name, replay in self._replays()
            if name in files
        )
        return [problem for problem in found if problem is not None]

    def close(self) -> None:
        """Close the environments."""
        self._stages.close()

    def _replays(self) -> list[tuple[str, Replay]]:
        if self._shared is not None:
            return [("shared.npy", self._shared)] if 0 in self._slots else []
        members = self._members.items()
        return [(f"slot_{slot}.npy", m.replay) for slot, m in members if m.replay is not None]

    def _progress(self, slot: int, steps: int) -> None:
        self._send(("progress", (slot, steps)))


def make_replay(setup: Setup, *, shared: bool = False) -> Replay:
    """Return an empty buffer of the size that the manifest says."""
    from .exploring import learned_action_space

    spec = setup.spec
    return Replay(
        max(spec.buffer_size, spec.num_envs),
        setup.observation_space,
        learned_action_space(spec.algorithm, setup.action_space),
        shared=shared,
        n_step=spec.n_step,
        alpha=spec.alpha,
    )


def serve(
    setup: Setup,
    slots: list[int],
    shared: Replay | None,
    connection: Connection,
    stopped: Callable[[], bool],
    adopt_child: Callable[[], None],
) -> None:
    """Obey commands until told to close or until the coordinator is gone."""
    # Stopping comes through the shared flag; the signals of the group are the coordinator's.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_child()
    import torch

    torch.set_num_threads(1)
    host: Host | None = None
    while True:
        try:
            command, arguments = connection.recv()
        except EOFError:
            return
        try:
            if host is None:
                host = Host(setup, slots, shared, stopped, connection.send)
            answer: tuple[str, Any] = ("done", getattr(host, command)(*arguments))
        except Exception as problem:
            traceback.print_exc()
            answer = ("failed", failure(problem, setup))
        connection.send(answer)
        if command == "close":
            return


def failure(problem: Exception, setup: Setup) -> Failure:
    """Return what the coordinator is told of an exception."""
    if isinstance(problem, TrainingError):
        return Failure(str(problem), problem.error_code)
    if isinstance(problem, MemoryError) or "can't allocate memory" in str(problem):
        return Failure(
            f"The run needs more memory than this machine has ({str(problem).rstrip('. ')});"
            " lower replay_buffer.max_size, training.pop_size, environment.num_envs or the size of"
            " the network.",
            "OUT_OF_MEMORY",
        )
    name = setup.environment.get("id") or setup.environment.get("name")
    where = traceback.extract_tb(problem.__traceback__)[-1]
    reason = f"{type(problem).__name__}: {problem}".rstrip(". ")
    return Failure(
        f"Training in {name} failed at {where.name}, line {where.lineno} of {where.filename}: "
        f"{reason}.",
        "MEMBER_FAILED",
        stack=traceback.format_exception(problem),
        passing=True,
    )
