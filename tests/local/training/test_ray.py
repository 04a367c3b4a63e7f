"""The Ray executor: like the process executor, on nodes that may be lost.

What needs Ray is slow and left out where Ray is not installed.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena_sdk.local.training import ray_cluster
from arena_sdk.local.training.errors import TrainingError
from arena_sdk.local.training.ray_cluster import Cluster, _share

from .conftest import StartJob
from .support import custom, dqn
from .test_job import check_lineage, comparable, wait_until_gone

ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
NOTICED_SOON = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 1000,
    "health_check_failure_threshold": 5,
}


def small(**training: Any) -> dict[str, Any]:
    return dqn(**{"max_steps": 800, "evo_steps": 400, "pop_size": 2, **training})


def deadly(tmp_path: Path, times: int = 0) -> dict[str, Any]:
    """An environment with source of its own, which has to reach the other node."""
    deaths = tmp_path / "deaths"
    deaths.mkdir(exist_ok=True)
    reference = custom("Deadly", deaths=str(deaths), times=times, how="kill")
    return {**reference, "entrypoint": "deadly:Deadly"}


def told(generations: list[dict[str, Any]]) -> list[Any]:
    return [comparable(generation) for generation in generations]


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Ray's module, with Ray kept to loopback and its files out of the way."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed: python -m pip install -e '.[ray]'")
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
    before = dict(os.environ)
    os.environ.update(ENVIRONMENT, RAY_TMPDIR=folder)
    import ray

    yield ray
    os.environ.clear()
    os.environ.update(before)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def cluster(ray: Any) -> Iterator[Any]:
    """Two simulated nodes with a core each; the job is on the first.

    One for all tests, since it takes long to start: the test that loses a node is the last of it.
    """
    from ray.cluster_utils import Cluster as Simulated

    memory = 128 * 1024 * 1024
    head = {
        "num_cpus": 1,
        "include_dashboard": False,
        "object_store_memory": memory,
        "_system_config": NOTICED_SOON,
    }
    simulated = Simulated(initialize_head=True, head_node_args=head)
    try:
        simulated.second = simulated.add_node(num_cpus=1, object_store_memory=memory)
        yield simulated
    finally:
        simulated.shutdown()


@pytest.mark.slow
def test_two_nodes_give_the_figures_of_processes(
    start_job: StartJob, cluster: Any, tmp_path: Path
) -> None:
    environment = deadly(tmp_path)
    here = start_job(small(), environment, folder="here")
    assert here.finish()["state"] == "completed"
    there = start_job(
        small(), environment, executor="ray", ray_address=cluster.address, num_nodes=3
    )
    assert there.finish()["state"] == "completed"
    (started,) = there.of("started")
    assert (started["processes"], started["nodes"]) == (2, 2)
    assert told(there.of("generation")) == told(here.of("generation"))
    (warning,) = there.of("warning")
    assert warning["message"].startswith("3 nodes were asked for; the Ray cluster has 2")


@pytest.mark.slow
def test_the_loss_of_a_node_costs_no_step_that_was_told(
    start_job: StartJob, cluster: Any, checkpoints: Path
) -> None:
    job = start_job(
        small(max_steps=12_000, evo_steps=4_000),
        executor="ray",
        ray_address=cluster.address,
        num_nodes=2,
    )
    job.until("generation", generation=1)
    cluster.remove_node(cluster.second, allow_graceful=False)
    assert job.finish()["state"] == "completed"
    generations = job.of("generation")
    assert [g["generation"] for g in generations] == [1, 2, 3]
    assert [g["total_steps"] for g in generations] == [8_000, 16_000, 24_000]
    assert all(m["steps"] == g["steps"] for g in generations for m in g["members"])
    check_lineage(generations)
    warnings = [warning["message"] for warning in job.of("warning")]
    assert any("was lost" in text and "Restarted member" in text for text in warnings)


@pytest.mark.slow
def test_without_an_address_ray_begins_and_ends_with_the_job(
    start_job: StartJob, ray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A member that dies is taken up again; a stop is kept, with the experience."""
    temporary = tmp_path / ("deep" * 10)
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    job = start_job(
        small(max_steps=100_000), deadly(tmp_path, times=1), executor="ray", num_nodes=1
    )
    job.until("generation", generation=2)
    job.stop()
    assert job.finish()["state"] == "stopped"
    (warning,) = job.of("warning")
    assert "Restarted member" in warning["message"]
    files = {path.name for path in (tmp_path / "checkpoints" / "experience").iterdir()}
    assert files == {"slot_0.npy", "slot_1.npy"}
    assert list(temporary.glob("ray-*/session_2*"))
    assert not [link for link in Path("/tmp").glob("arena-ray-*") if not link.exists()]
    assert wait_until_gone(job.process.pid, 30)


def test_a_cluster_that_does_not_answer_is_named_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ray_cluster.os, "environ", dict(os.environ))
    with pytest.raises(TrainingError, match=r"Nothing answers at 127\.0\.0\.1:9,") as caught:
        Cluster("127.0.0.1:9", 1).open()
    assert caught.value.error_code == "RAY_UNREACHABLE"


@pytest.mark.parametrize(
    ("gpus", "actors", "share"), [(0, 2, 0), (4, 2, 2), (5, 2, 2), (1, 2, 0.5), (1, 3, 0.3333)]
)
def test_actors_share_the_gpus_of_their_node(gpus: int, actors: int, share: float) -> None:
    assert _share(gpus, actors) == share
