"""How a server of the embedded Arena runs its work: what `arena local up` is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

EXECUTORS = ("processes", "ray")


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

    def of_jobs(self) -> dict[str, Any]:
        """Return what train jobs need to know of them."""
        return {"executor": self.executor, "ray_address": self.ray_address}


DEFAULTS = ServerSettings()
