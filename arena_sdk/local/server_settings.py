"""How a server of the embedded Arena runs its work: what `arena local up` is given."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from typing import Any

EXECUTORS = ("processes", "ray")
ADDRESS = re.compile(r"auto|(\[[0-9A-Fa-f:.]+\]|[\w.-]+):\d{1,5}")


@dataclass(frozen=True)
class ServerSettings:
    """Settings of one server; they last until it ends.

    Attributes:
        cpus: Cores that runs may hold together; all of this machine when None.
        memory_gb: GiB that they may hold together; most of this machine when None.
        auto_resume: Resume every run that an earlier server left interrupted.
        executor: What members are trained in: processes of this machine, or a Ray cluster.
        ray_address: Of the cluster, as `ray.init` takes it; None starts one on this machine.
    """

    cpus: int | None = None
    memory_gb: float | None = None
    auto_resume: bool = False
    executor: str = "processes"
    ray_address: str | None = None

    def arguments(self) -> list[str]:
        """Return them as `arena local up` takes them."""
        words: list[str] = []
        for name, value in (("--cpus", self.cpus), ("--memory-gb", self.memory_gb)):
            words += [] if value is None else [name, str(value)]
        words += ["--auto-resume"] if self.auto_resume else []
        words += [] if self.executor == "processes" else ["--executor", self.executor]
        words += [] if self.ray_address is None else ["--ray-address", self.ray_address]
        return words

    @property
    def cluster(self) -> str | None:
        """Address of the cluster that runs train on; None when that is this machine."""
        return self.ray_address if self.executor == "ray" else None

    def problem(self) -> str | None:
        """Say in a sentence why no server can be started with these; None when one can."""
        if self.executor != "ray":
            return None if self.ray_address is None else "--ray-address needs --executor ray."
        address = self.ray_address
        if address is not None and not ADDRESS.fullmatch(address):
            return (
                f"--ray-address {address} is not HOST:PORT of a Ray cluster, as in 10.0.0.5:6379,"
                " nor auto, for the cluster that this machine is a node of."
            )
        if importlib.util.find_spec("ray") is None:
            return (
                "Training on Ray needs the extra `ray`, which is not installed:"
                ' python -m pip install "arena-tui[ray]"'
            )
        return None

    def of_jobs(self, nodes: int) -> dict[str, Any]:
        """Return what a train job needs to know of them, with the nodes that it asks for."""
        return {"executor": self.executor, "ray_address": self.ray_address, "num_nodes": nodes}


DEFAULTS = ServerSettings()
