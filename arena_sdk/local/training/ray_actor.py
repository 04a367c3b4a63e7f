"""A Ray actor that hosts members: what a member process does, on whatever node it is placed.

Its commands come one at a time; `look` and `stop` are answered beside them, by a thread of their
own. Importing this module imports neither Ray nor torch.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
import threading
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import parcels
from .parcels import Parcel

if TYPE_CHECKING:
    from .host import Host
    from .tasks import Setup

CONTROL = "control"
"""The concurrency group of what is answered beside the commands."""


@dataclass
class Where:
    """Where an actor is: the node's id and address, and the process there."""

    node: str
    address: str
    pid: int


@dataclass
class Answer:
    """What a command came to.

    Attributes:
        content: The result, or a `host.Failure`.
        steps: By slot, how far its task has come, where that was not told yet.
    """

    content: Any
    steps: dict[int, int]


class MemberActor:
    """Hosts some slots.

    Args:
        slots: Which.
    """

    def __init__(self, slots: list[int]) -> None:
        self._slots = slots
        self._stopped = threading.Event()
        self._steps: dict[int, int] = {}
        self._setup: Setup | None = None
        self._parcel: Parcel | None = None
        self._host: Host | None = None
        self._folder: Path | None = None

    def where(self) -> Where:
        """Say where it is."""
        import ray

        node = ray.get_runtime_context().get_node_id()
        return Where(node, ray.util.get_node_ip_address(), os.getpid())

    def prepare(self, setup: Setup, parcel: Parcel | None) -> None:
        """Take what it needs before the first command.

        Args:
            setup: The run.
            parcel: What the environment's reference names; None on the coordinator's own node.
        """
        self._setup, self._parcel = setup, parcel

    def ask(self, command: str, arguments: tuple[Any, ...]) -> Answer:
        """Obey one command of `Host`."""
        from .host import failure

        assert self._setup is not None, "the actor has not been prepared"
        content: Any
        try:
            content = getattr(self._begun(), command)(*arguments)
        except Exception as problem:
            traceback.print_exc()
            content = failure(problem, self._setup)
        if command == "close" and self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        return Answer(content, self.look())

    def look(self) -> dict[int, int]:
        """Return, by slot, how far its task has come since the last look."""
        steps, self._steps = self._steps, {}
        return steps

    def stop(self) -> None:
        """Have members stop at their next step."""
        self._stopped.set()

    def _begun(self) -> Host:
        """Return the host, made at the first command, where an exception is a failure."""
        if self._host is not None:
            return self._host
        from .starting import import_learning

        import_learning()  # which also sets this thread to one thread of torch's
        from .host import Host, make_replay

        setup = self._setup
        assert setup is not None
        if self._parcel is not None:
            self._folder = Path(tempfile.mkdtemp(prefix="arena-environment-"))
            moved = parcels.unpack(setup.environment, self._parcel, self._folder)
            setup = self._setup = dataclasses.replace(setup, environment=moved)
            self._parcel = None
        # Members that share experience are all in here, and a buffer of this process will do.
        sharing = setup.spec.off_policy and setup.spec.experience_sharing
        shared = make_replay(setup) if sharing else None
        self._host = Host(setup, self._slots, shared, self._stopped.is_set, self._hear)
        return self._host

    def _hear(self, message: tuple[str, Any]) -> None:
        slot, steps = message[1]
        self._steps[slot] = steps
