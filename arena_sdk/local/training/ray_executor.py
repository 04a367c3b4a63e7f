"""The executor of a cluster: member processes are Ray actors, on as many nodes as are asked for.

Nothing but Ray joins the nodes: agents, replay buffers and the source of an environment travel as
objects, and only the coordinator writes files. Each node needs this package with the extras
`local` and `ray`, and what the environment imports.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import experience, parcels
from .agents import AgentState
from .errors import MembersLost, Stopped, StopTimeout, TrainingError
from .executor import Progress
from .host import Failure
from .ray_actor import CONTROL, Answer, MemberActor, Where
from .ray_cluster import Cluster, Reservation
from .ray_errors import is_unfit, unfit, why_lost
from .tasks import EvalReport, EvalTask, Setup, TrainReport, TrainTask

STOP_SECONDS = 3.0
"""How long a member may take to answer once the run is being stopped."""
CLOSE_SECONDS = 2.0
POLL_SECONDS = 0.1
LOOK_SECONDS = 0.5
"""Between two looks at how far the members have come."""
PATIENCE = 3.0
"""How long another node is waited for in the place of a lost one."""


class _Final(TrainingError):
    """A failure that would only happen again."""


@dataclass
class _Hosted:
    """An actor, its slots, and where it is once that is known."""

    number: int
    actor: Any
    slots: list[int]
    where: Where | None = None


class RayExecutor:
    """Hosts slot i in actor i mod n, for n = min(population, cores of the nodes) actors.

    Args:
        address: Of the cluster, as Ray takes it; None begins one of this machine.
        nodes: Nodes to spread the actors over.
        cpus: At most so many actors; as many as there are cores unless given.
        warn: Called with a sentence about what is not as was asked for.
    """

    def __init__(
        self, address: str | None, nodes: int, cpus: int | None, warn: Callable[[str], None]
    ) -> None:
        self._address, self._nodes, self._most, self._warn = address, nodes, cpus, warn
        self._cluster: Cluster | None = None
        self._reserved: Reservation | None = None
        self._hosts: list[_Hosted] = []
        self._lost: set[int] = set()
        self._progress: Progress = lambda _slot, _steps: None
        self._stopping: Callable[[], bool] = lambda: False
        self._told_to_stop = False
        self._setup: Setup | None = None
        self._kept: dict[str, Any] = {}
        self._close_seconds = CLOSE_SECONDS

    @property
    def processes(self) -> int:
        """How many actors host members."""
        return len(self._hosts)

    @property
    def nodes(self) -> int:
        """How many nodes they are on."""
        return len({host.where.node for host in self._hosts if host.where is not None})

    def start(self, setup: Setup, progress: Progress, stopping: Callable[[], bool]) -> None:
        """Join or begin the cluster and place the actors.

        Raises:
            Stopped: The run is being stopped.
            TrainingError: There is no such cluster, or it has no room.
        """
        self._setup, self._progress, self._stopping = setup, progress, stopping
        spec = setup.spec
        wanted = min(spec.pop_size, self._most or spec.pop_size)
        if spec.off_policy and spec.experience_sharing and wanted > 1:
            wanted = 1
            self._warn(
                "Members that share experience are in one Ray actor and take turns: their buffer "
                "is in its memory. Start the Arena with --executor processes to train them side "
                "by side."
            )
        cores = len(os.sched_getaffinity(0))
        self._cluster = Cluster(self._address, min(wanted, cores))
        self._cluster.open()
        self._reserved = self._cluster.reserve(wanted, self._nodes, self._warn, stopping)
        count = self._reserved.count
        for number in range(count):
            slots = list(range(number, spec.pop_size, count))
            self._hosts.append(_Hosted(number, self._make(number, slots), slots))
        try:
            for host in self._hosts:
                self._settle(host)
        except MembersLost as loss:
            raise loss.problem from loss

    def restart(self, folder: Path) -> list[str]:
        """Make the lost actors anew, on another node where theirs is lost, with their buffers."""
        lost, self._lost = sorted(self._lost), set()
        for number in lost:
            host = self._hosts[number]
            self._end(host)
            host.actor = self._make(number, host.slots)
        for number in lost:
            try:
                self._settle(self._hosts[number])
            except Stopped:
                raise StopTimeout from None
        return self._give_experience(folder, lost)

    def train_generation(self, tasks: Sequence[TrainTask]) -> list[TrainReport]:
        """Train all members side by side."""
        answers = self._ask("train", lambda host: ([t for t in tasks if t.slot in host.slots],))
        reports: list[TrainReport] = [report for answer in answers for report in answer]
        return sorted(reports, key=lambda report: report.slot)

    def evaluate(self, tasks: Sequence[EvalTask]) -> list[EvalReport]:
        """Evaluate members side by side."""
        answers = self._ask("evaluate", lambda host: ([t for t in tasks if t.slot in host.slots],))
        reports: list[EvalReport] = [report for answer in answers for report in answer]
        return sorted(reports, key=lambda report: report.slot)

    def state(self, slots: Sequence[int]) -> dict[int, AgentState]:
        """Return the agents in the given slots."""
        answers = self._ask("state", lambda host: ([s for s in slots if s in host.slots],))
        return {slot: agent for answer in answers for slot, agent in answer.items()}

    def save_experience(self, folder: Path) -> list[str]:
        """Fetch the replay buffers and write them, all together within the limit."""
        spec = self._set_up.spec
        share = experience.LIMIT // (1 if spec.experience_sharing else spec.pop_size)
        problems = []
        for files in self._ask("give_experience", lambda _host: (share,)):
            for name, data in files.items():
                try:
                    experience.write(folder / name, data)
                except OSError as problem:
                    problems.append(experience.not_saved(folder, problem))
        return problems

    def load_experience(self, folder: Path) -> list[str]:
        """Read the replay buffers and send them to their members."""
        return self._give_experience(folder, range(len(self._hosts)))

    def close(self) -> None:
        """End the actors, and the cluster if it is ours; members are asked first."""
        if self._cluster is None:
            return
        import ray

        with contextlib.suppress(Exception):
            asked = [host.actor.ask.remote("close", ()) for host in self._hosts]
            self._tell_to_stop()
            if asked and self._close_seconds:
                ray.wait(asked, num_returns=len(asked), timeout=self._close_seconds)
        for host in self._hosts:
            self._end(host)
        if self._reserved is not None:
            self._reserved.release()
        self._cluster.close()
        self._hosts, self._cluster = [], None

    @property
    def _set_up(self) -> Setup:
        assert self._setup is not None, "the executor has not been started"
        return self._setup

    # --- actors ---------------------------------------------------------------------------------

    def _make(self, number: int, slots: list[int], **options: Any) -> Any:
        """Have Ray make an actor: in its reserved place, or as the options say."""
        import ray

        assert self._reserved is not None
        placed = options or self._reserved.options(number)
        kind = ray.remote(max_restarts=0, max_task_retries=0, concurrency_groups={CONTROL: 1})
        return kind(MemberActor).options(**placed).remote(slots)

    def _settle(self, host: _Hosted) -> None:
        """Wait until an actor is there, elsewhere if need be, and give it what it needs.

        Raises:
            Stopped: The run is being stopped.
            MembersLost: It was lost again.
            TrainingError: It cannot be made on its node.
        """
        import ray

        asked = host.actor.where.remote()
        broken_since: float | None = None
        while not ray.wait([asked], timeout=POLL_SECONDS)[0]:
            if self._stopping():
                raise Stopped
            now = time.monotonic()
            if self._is_whole():
                broken_since = None
            elif now - (broken_since := broken_since or now) > PATIENCE:
                self._end(host)
                host.actor = self._make_guest(host)
                asked, broken_since = host.actor.where.remote(), None
        host.where = self._get(host, asked)
        host.actor.prepare.remote(self._keep("setup", lambda: self._set_up), self._parcel_for(host))

    def _is_whole(self) -> bool:
        return self._reserved is not None and self._reserved.is_whole()

    def _make_guest(self, host: _Hosted) -> Any:
        """Make an actor on the node that hosts the fewest: no core is free, so it shares one."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        assert self._cluster is not None
        nodes = [node["NodeID"] for node in self._cluster.nodes()]
        if not nodes:
            raise TrainingError(
                "No node of the Ray cluster with a core is left. Start one, then resume the run.",
                "RAY_EMPTY",
            )
        others = [other.where for other in self._hosts if other is not host]
        held = [where.node for where in others if where is not None]
        node = min(nodes, key=held.count)
        strategy = NodeAffinitySchedulingStrategy(node, soft=True)
        return self._make(host.number, host.slots, num_cpus=0, scheduling_strategy=strategy)

    def _parcel_for(self, host: _Hosted) -> Any:
        """Return what the environment is made of, for a node other than the coordinator's."""
        import ray

        if host.where is None or host.where.node == ray.get_runtime_context().get_node_id():
            return None
        return self._keep("parcel", lambda: parcels.pack(self._set_up.environment))

    def _keep(self, name: str, make: Callable[[], Any]) -> Any:
        """Return a reference to what every actor gets, put into the object store once."""
        import ray

        if name not in self._kept:
            self._kept[name] = ray.put(make())
        return self._kept[name]

    def _end(self, host: _Hosted) -> None:
        import ray

        with contextlib.suppress(Exception):
            ray.kill(host.actor)

    # --- commands -------------------------------------------------------------------------------

    def _give_experience(self, folder: Path, numbers: Sequence[int]) -> list[str]:
        """Send buffers as they were written to the actors with the given numbers."""

        def files(host: _Hosted) -> dict[str, bytes]:
            names = [f"slot_{slot}.npy" for slot in host.slots]
            names += ["shared.npy"] if 0 in host.slots else []
            paths = [folder / name for name in names]
            return {path.name: path.read_bytes() for path in paths if path.is_file()}

        answers = self._ask("take_experience", lambda host: (folder, files(host)), only=numbers)
        return [problem for answer in answers for problem in answer]

    def _ask(
        self,
        command: str,
        arguments: Callable[[_Hosted], tuple[Any, ...]],
        only: Sequence[int] | None = None,
    ) -> list[Any]:
        """Send a command to every actor with its own arguments; return the answers in order.

        Raises:
            MembersLost: An actor is gone or has failed; the others have answered.
        """
        import ray

        asked = self._hosts if only is None else [self._hosts[number] for number in only]
        pending = {host.actor.ask.remote(command, arguments(host)): host for host in asked}
        looks: dict[Any, _Hosted] = {}
        answers: dict[int, Any] = {}
        problem: TrainingError | None = None
        deadline, due = None, time.monotonic() + LOOK_SECONDS
        while pending:
            ready, _ = ray.wait([*pending, *looks], timeout=POLL_SECONDS)
            for ref in ready:
                if ref in looks:
                    with contextlib.suppress(ray.exceptions.RayError):
                        self._tell_progress(ray.get(ref))
                    del looks[ref]
                    continue
                host = pending.pop(ref)
                try:
                    answers[host.number] = self._take(host, ref)
                except _Final:
                    raise
                except MembersLost as loss:
                    problem = loss.problem
            now = time.monotonic()
            if now >= due and not looks:
                due = now + LOOK_SECONDS
                looks = {
                    host.actor.look.options(concurrency_group=CONTROL).remote(): host
                    for host in pending.values()
                }
            if self._stopping():
                self._tell_to_stop()
                deadline = deadline or now + STOP_SECONDS
                if pending and now > deadline:
                    self._close_seconds = 0.0  # who does not answer this will answer no goodbye
                    raise StopTimeout
        if problem is not None:
            slots = [slot for number in sorted(self._lost) for slot in self._hosts[number].slots]
            raise MembersLost(slots, problem, [answers[number] for number in sorted(answers)])
        return [answers[number] for number in sorted(answers)]

    def _take(self, host: _Hosted, ref: Any) -> Any:
        """Return what an actor answered.

        Raises:
            MembersLost: It is gone, or has failed in a way that may pass; any other failure ends
                the run at once, as `_Final`.
        """
        answer: Answer = self._get(host, ref)
        self._tell_progress(answer.steps)
        failed = answer.content
        if not isinstance(failed, Failure):
            return failed
        kind_of = TrainingError if failed.passing else _Final
        problem = kind_of(failed.message, failed.error_code, failed.stack)
        if not failed.passing:
            raise problem
        self._lost.add(host.number)
        raise MembersLost(host.slots, problem)

    def _get(self, host: _Hosted, ref: Any) -> Any:
        """Return what Ray has for a reference.

        Raises:
            MembersLost: The actor is lost.
            TrainingError: It cannot be made on its node.
        """
        import ray

        try:
            return ray.get(ref)
        except ray.exceptions.RayError as problem:
            if is_unfit(problem):
                raise _Final(unfit(problem), "RAY_NODE_UNFIT") from problem
            self._lost.add(host.number)
            where = "" if host.where is None else f" on node {host.where.address}"
            death = TrainingError(
                f"Member actor {host.number + 1} of {len(self._hosts)}{where} was lost: "
                f"{why_lost(problem)}.",
                "MEMBER_DIED",
            )
            raise MembersLost(host.slots, death) from problem

    def _tell_progress(self, steps: dict[int, int]) -> None:
        for slot, made in steps.items():
            self._progress(slot, made)

    def _tell_to_stop(self) -> None:
        if self._told_to_stop:
            return
        self._told_to_stop = True
        for host in self._hosts:
            with contextlib.suppress(Exception):
                host.actor.stop.options(concurrency_group=CONTROL).remote()
