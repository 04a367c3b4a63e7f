"""Small runs whose members, trainers and server are killed at random until all runs have ended.

`soak` is the whole of it; the test of it kills a few times, `tests/benchmarks/kills.py` fifty.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from tests.local.conftest import (
    ArenaServer,
    end_arena,
    is_alive,
    start_arena,
    wait_until,
    workers_of,
)

POPULATION, EVO_STEPS, GENERATIONS = 2, 400, 6
TARGETS = ("member", "trainer", "server")
ENDED = ("completed", "failed", "stopped", "interrupted")
MANIFEST: dict[str, Any] = {
    "algorithm": {"name": "DQN", "lr": 0.001, "batch_size": 32, "learn_step": 4},
    "environment": {"name": "CartPole-v1", "num_envs": 4},
    "training": {
        "max_steps": EVO_STEPS * GENERATIONS,
        "pop_size": POPULATION,
        "evo_steps": EVO_STEPS,
        "eval_steps": 50,
    },
    "network": {
        "latent_dim": 16,
        "encoder_config": {"hidden_size": [32]},
        "head_config": {"hidden_size": [32]},
    },
    "replay_buffer": {"max_size": 5_000},
}
Record = dict[str, Any]


@dataclass
class Told:
    """What the Arena has answered about a run so far: none of it may be gone later.

    Attributes:
        records: Its records, in order.
    """

    records: list[Record] = field(default_factory=list)

    def read(self, api: httpx.Client, name: str) -> None:
        """Read what is new, and check that it follows what was read before."""
        query = {"experiment_name": name, "after": len(self.records)}
        answer = api.get("/experiments/records", params=query)
        answer.raise_for_status()
        self.records += answer.json()["records"]
        assert [r["seq"] for r in self.records] == list(range(1, len(self.records) + 1)), name


@dataclass
class Soak:
    """A soak under way.

    Attributes:
        home: `ARENA_HOME`.
        server: The Arena that runs now.
        chance: What is killed when.
        told: What was answered about each run.
        kills: How often what was killed.
    """

    home: Path
    server: ArenaServer
    chance: random.Random
    told: dict[str, Told] = field(default_factory=dict)
    kills: Counter[str] = field(default_factory=Counter)

    def keep_running(self, runs: int) -> None:
        """Have so many runs that have not ended yet: resume what ended early, submit what lacks."""
        with self.server.client() as api:
            for name in [n for n in self.told if row(api, n)["state"] in ENDED[1:]]:
                resume(api, name)
            active = [n for n in self.told if row(api, n)["state"] != "completed"]
            for _ in range(runs - len(active)):
                name = f"run-{len(self.told)}"
                submit(api, name)
                self.told[name] = Told()

    def kill(self) -> str | None:
        """Kill a member, a trainer or the server; return which, or None where there was none."""
        self.read()
        target = self.chance.choice(TARGETS)
        victims = {"member": self.members, "trainer": self.trainers}.get(target, self.servers)()
        if not victims:
            return None
        victim = self.chance.choice(victims)
        with contextlib.suppress(psutil.NoSuchProcess):
            victim.send_signal(signal.SIGKILL)
            self.kills[target] += 1
        if target == "server":
            self.start_again()
        return target

    def servers(self) -> list[psutil.Process]:
        """Return the server's process."""
        return [psutil.Process(self.server.pid)]

    def trainers(self) -> list[psutil.Process]:
        """Return the process of each run that is trained."""
        found = []
        for process in workers_of(self.server.data_dir):
            with contextlib.suppress(psutil.Error):
                if "train" in process.cmdline() and process.ppid() == self.server.pid:
                    found.append(process)
        return found

    def members(self) -> list[psutil.Process]:
        """Return the processes that trainers started."""
        found: list[psutil.Process] = []
        for process in self.trainers():
            with contextlib.suppress(psutil.Error):
                found += process.children(recursive=True)
        return found

    def start_again(self) -> None:
        """Start an Arena over the same data once the killed one and its workers are gone."""
        assert wait_until(lambda: not is_alive(self.server.pid), 30)
        assert wait_until(lambda: not workers_of(self.server.data_dir), 30)
        self.server = start_arena(self.home)

    def read(self) -> None:
        """Read what the Arena has to tell of every run."""
        with self.server.client() as api:
            for name, told in self.told.items():
                told.read(api, name)

    def finish(self, seconds: float) -> None:
        """Let every run come to its end, and check what is told of each."""
        deadline = time.monotonic() + seconds
        with self.server.client() as api:
            for name in self.told:
                while row(api, name)["state"] != "completed":
                    if row(api, name)["state"] in ENDED:
                        resume(api, name)
                    assert time.monotonic() < deadline, row(api, name)
                    time.sleep(0.2)
            self.read()
            for name, told in self.told.items():
                check(api, name, told.records)


def row(api: httpx.Client, name: str) -> dict[str, Any]:
    """Return where a run stands."""
    answer = api.get("/experiments/one", params={"experiment_name": name})
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


def submit(api: httpx.Client, name: str) -> None:
    """Submit a run that is resumed by itself after a crash."""
    body = {"manifest": MANIFEST, "project": "soak", "experiment_name": name}
    answer = api.post("/experiments/jobs/submit", json={**body, "options": {"auto_resume": True}})
    assert '"status":"completed"' in answer.text.replace(" ", ""), answer.text


def resume(api: httpx.Client, name: str) -> None:
    """Resume a run that ended before its budget was used up.

    One that was ended at its very end, with all steps done, has to be given a generation more.
    """
    stands = row(api, name)
    budget = max(stands["max_steps"], stands["steps"] + EVO_STEPS)
    body = {"experiment_name": name, "max_steps": budget}
    answer = api.post("/experiments/jobs/resume", json=body)
    assert answer.status_code in (200, 409), answer.text


def check(api: httpx.Client, name: str, records: list[Record]) -> None:
    """Check that a completed run has every generation once, in order, and a tree of members."""
    metrics = standing(records)
    numbers = sorted({m["generation"] for m in metrics})
    assert numbers == list(range(1, row(api, name)["generation"] + 1)), name
    seen = Counter((m["generation"], m["member"]) for m in metrics)
    assert set(seen.values()) == {1}, f"{name}: told twice: {seen.most_common(3)}"
    steps = [{m["steps"] for m in metrics if m["generation"] == n} for n in numbers]
    assert all(len(s) == 1 for s in steps), f"{name}: {steps}"
    reached = [next(iter(s)) for s in steps]
    assert all(later > earlier for earlier, later in itertools.pairwise(reached)), reached
    check_tree(api, name)


def standing(records: list[Record]) -> list[dict[str, Any]]:
    """Return the metrics that hold: those after the checkpoint of a resume are superseded."""
    metrics: list[dict[str, Any]] = []
    for record in records:
        data = record["data"]
        if record["kind"] == "metrics":
            metrics.append(data)
        elif record["kind"] == "state" and data["state"] == "queued" and "generation" in data:
            metrics = [m for m in metrics if m["generation"] <= data["generation"]]
    return metrics


def check_tree(api: httpx.Client, name: str) -> None:
    """Check that each member comes from the first generation or from an earlier member."""
    answer = api.get("/experiments/lineage", params={"experiment_name": name})
    members = {member["member"]: member for member in answer.json()["members"]}
    assert len(members) == len(answer.json()["members"]), name
    for member in members.values():
        parent = member["parent"]
        assert parent is None or parent in members, f"{name}: {member}"
        assert parent is None or members[parent]["generation"] < member["generation"], member


def soak(
    home: Path,
    kills: int,
    *,
    runs: int = 2,
    seed: int = 0,
    say: Callable[[str], None] = lambda line: None,
) -> Soak:
    """Kill so many times while so many small runs are trained; then let all of them end.

    Args:
        home: `ARENA_HOME`, a folder that is empty.
        kills: How many processes are killed.
        runs: How many runs are under way at a time; new ones follow those that complete.
        seed: Of what is killed when.
        say: Takes a line about each kill.

    Raises:
        AssertionError: Something was lost, told twice, or did not come to its end.
    """
    under_way = Soak(home, start_arena(home), random.Random(seed))
    try:
        with under_way.server.client() as api:
            api.post("/projects/create", json={"name": "soak"}).raise_for_status()
        while sum(under_way.kills.values()) < kills:
            under_way.keep_running(runs)
            time.sleep(under_way.chance.uniform(0.2, 5.0))
            target = under_way.kill()
            if target is not None:
                done = sum(under_way.kills.values())
                say(f"{done}/{kills} killed a {target}; {len(under_way.told)} runs so far")
        under_way.finish(seconds=120 + 60 * runs)
    finally:
        end_arena(under_way.server)
    return under_way
