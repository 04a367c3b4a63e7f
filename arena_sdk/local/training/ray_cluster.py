"""The Ray cluster that a run is trained on: one that runs already, or one of this machine alone.

Joining needs a Ray node on this machine, as every Ray driver does. A cluster of this machine alone
begins and ends with the job: it listens on the loopback interface only, wants a token that nobody
else has, and keeps its files in the job's folder.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import Stopped, TrainingError
from .ray_errors import first_line

PLACE_SECONDS = 10.0
"""How long cores are waited for before fewer are asked for, or it is said that they are."""
JOIN_SECONDS = 5.0
OBJECT_BYTES = 512 * 1024 * 1024
"""Memory of the object store of a cluster of our own; more goes to the job's folder."""
LONGEST_FOLDER = 40
"""Characters; Ray's sockets add 64 to it, and their names must stay below 107."""
LINKS = "arena-ray-"

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_COLOR_PREFIX": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # or it announces a change of this at every start
}
THREADS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
}
HEADLESS = {"MPLBACKEND": "Agg", "SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}


class Cluster:
    """A cluster that this job has joined or begun.

    Args:
        address: Of the cluster; None begins one of this machine.
        cpus: Cores of a cluster that is begun.
    """

    def __init__(self, address: str | None, cpus: int) -> None:
        self.own = address is None
        self._address = address
        self._cpus = cpus
        self._link: Path | None = None

    def open(self) -> None:
        """Join it, or begin it.

        Raises:
            TrainingError: Ray is not installed, or the cluster cannot be joined.
        """
        os.environ.update(QUIET)
        if self.own:
            # Which has Ray, on any system, keep to the loopback interface.
            os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
            os.environ["RAY_AUTH_MODE"] = "token"
            os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
        elif self._address != "auto":
            _require_answer(str(self._address))
        try:
            import ray
        except ImportError as problem:
            raise TrainingError(
                f"Ray cannot be imported ({problem}); install the extra: pip install "
                "'arena-tui[ray]', or start the Arena with --executor processes.",
                "RAY_MISSING",
            ) from None
        handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            ray.init(
                logging_level="ERROR",
                runtime_env={"env_vars": {**THREADS, **HEADLESS}},
                **self._where(),
            )
        except Exception as problem:
            raise self._not_open(problem) from problem
        finally:
            for number, handler in handlers.items():  # Ray puts its own in place of ours
                signal.signal(number, handler)

    def close(self) -> None:
        """Leave it; one that was begun ends."""
        import ray

        with contextlib.suppress(Exception):
            ray.shutdown()
        if self._link is not None:
            self._link.unlink(missing_ok=True)

    def nodes(self) -> list[dict[str, Any]]:
        """Return the nodes that are alive and have a core, most cores first, as Ray tells them."""
        import ray

        alive = [n for n in ray.nodes() if n["Alive"] and n["Resources"].get("CPU", 0) >= 1]
        return sorted(alive, key=lambda n: (-n["Resources"]["CPU"], n["NodeID"]))

    def reserve(
        self, count: int, nodes: int, warn: Callable[[str], None], stopping: Callable[[], bool]
    ) -> Reservation:
        """Reserve a core, and a share of the node's GPUs, for each of up to `count` actors.

        Args:
            count: Actors that are wanted; there will be fewer where there are fewer cores.
            nodes: Nodes to spread them over; fewer where there are fewer.
            warn: Called with a sentence when it is not as was asked for, or takes long.
            stopping: Asked while waiting.

        Raises:
            Stopped: The run is being stopped.
            TrainingError: There is no node with a core.
        """
        found = self.nodes()
        if not found:
            raise TrainingError(
                f"No node of the Ray cluster at {self._address} has a core; start one with "
                "`ray start --address=...` and submit the run again.",
                "RAY_EMPTY",
            )
        if nodes > len(found) and not self.own:
            warn(
                f"{nodes} nodes were asked for; the Ray cluster has {len(found)} with a core, "
                "which the members share."
            )
        nodes = min(nodes, len(found), count)
        least = found[nodes - 1]["Resources"]
        count = min(count, nodes * int(least["CPU"]))
        gpus = min(int(node["Resources"].get("GPU", 0)) for node in found[:nodes])
        said = False
        while True:
            reserved = Reservation(count, nodes, gpus)
            if reserved.made_within(PLACE_SECONDS, stopping):
                return reserved
            reserved.release()
            if stopping():
                raise Stopped
            if gpus:
                gpus = 0
            elif count > nodes:
                count = max(nodes, count // 2)
            elif not said:
                said = True
                cores = "a core" if nodes == 1 else f"a core on each of {nodes} nodes"
                warn(f"The run waits for {cores} of the Ray cluster: others hold them all.")

    def _where(self) -> dict[str, Any]:
        if not self.own:
            return {"address": self._address}
        return {
            "address": "local",
            "num_cpus": self._cpus,
            "include_dashboard": False,
            "object_store_memory": OBJECT_BYTES,
            "_temp_dir": str(self._folder()),
        }

    def _folder(self) -> Path:
        """Return where Ray keeps its files: in the job's folder, by a short name where it needs."""
        folder = Path(tempfile.mkdtemp(prefix="ray-"))
        if len(str(folder)) <= LONGEST_FOLDER:
            return folder
        system = Path("/tmp")
        for left in system.glob(f"{LINKS}*"):  # of jobs that were killed
            if left.is_symlink() and not left.exists():
                with contextlib.suppress(OSError):
                    left.unlink()
        self._link = system / f"{LINKS}{secrets.token_hex(6)}"
        self._link.symlink_to(folder)
        return self._link

    def _not_open(self, problem: Exception) -> TrainingError:
        reason = first_line(problem)
        if self.own:
            return TrainingError(
                f"Ray could not be started on this machine ({reason}); start the Arena with "
                "--executor processes, which needs no Ray.",
                "RAY_FAILED",
            )
        return TrainingError(
            f"The Ray cluster at {self._address} could not be joined ({reason}). The Arena has to "
            "run on a node of the cluster, with the cluster's versions of Ray and Python.",
            "RAY_UNREACHABLE",
        )


class Reservation:
    """Cores for actors, in a placement group with a bundle for each node.

    Args:
        count: Actors.
        nodes: Nodes that they are spread over.
        gpus: Whole GPUs of each node.
    """

    def __init__(self, count: int, nodes: int, gpus: int) -> None:
        from ray.util.placement_group import placement_group

        self.count = count
        self.nodes = nodes
        self._on_node = [len(range(node, count, nodes)) for node in range(nodes)]
        self._gpus = gpus
        shared = {"GPU": gpus} if gpus else {}
        bundles = [{"CPU": actors, **shared} for actors in self._on_node]
        self._group = placement_group(bundles, strategy="STRICT_SPREAD" if nodes > 1 else "PACK")

    def made_within(self, seconds: float, stopping: Callable[[], bool]) -> bool:
        """Wait until it is made; return whether it was, and not stopped before."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not stopping():
            if self._group.wait(timeout_seconds=0.2):
                return True
        return False

    def is_whole(self) -> bool:
        """Whether all of it is there; not so where a node is lost and none took its place."""
        from ray.util.placement_group import placement_group_table

        return bool(placement_group_table(self._group).get("state") == "CREATED")

    def options(self, number: int) -> dict[str, Any]:
        """Return what Ray needs to place an actor in it."""
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        bundle = number % self.nodes
        return {
            "num_cpus": 1,
            "num_gpus": _share(self._gpus, self._on_node[bundle]),
            "scheduling_strategy": PlacementGroupSchedulingStrategy(
                self._group, placement_group_bundle_index=bundle
            ),
        }

    def release(self) -> None:
        """Give it back."""
        from ray.util.placement_group import remove_placement_group

        with contextlib.suppress(Exception):
            remove_placement_group(self._group)


def _share(gpus: int, actors: int) -> float:
    """Return the GPUs of one actor: whole ones, or a part of one, which Ray wants below 1."""
    if gpus >= actors:
        return gpus // actors
    return int(10_000 * gpus / actors) / 10_000


def _require_answer(address: str) -> None:
    """Look whether anything answers at HOST:PORT; Ray itself would try for two minutes.

    Raises:
        TrainingError: Nothing does.
    """
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=JOIN_SECONDS).close()
    except (OSError, ValueError, OverflowError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem) or "no answer"
        raise TrainingError(
            f"Nothing answers at {address}, where the Ray cluster is to be ({reason}); start it "
            "with `ray start --head`, or start the Arena with its present --ray-address.",
            "RAY_UNREACHABLE",
        ) from None
