"""The train job as the server runs it: a worker process with member processes of its own."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path
from typing import Any

import pytest

from arena_sdk.local.training import checkpoints as disk
from arena_sdk.local.training.checkpoints import load_agent

from .conftest import StartJob
from .support import custom, dqn, ppo, registered


def alive(group: int) -> list[int]:
    """Return the processes of a group that still run, without the guard that the server ends."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        state, parent, its_group = fields[:3]
        if int(its_group) == group and int(parent) != 1 and state not in ("Z", "X"):
            found.append(int(entry.name))
    return found


def wait_until_gone(group: int, seconds: float = 5) -> bool:
    end = time.monotonic() + seconds
    while alive(group) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(group)


def check_lineage(generations: list[dict[str, Any]]) -> None:
    """Every member is introduced once, before or with its first figures, after its parent."""
    known: dict[int, dict[str, Any]] = {}
    for generation in generations:
        before = set(known)
        for entry in generation["lineage"]:
            assert entry["member"] not in known
            assert entry["parent"] is None or entry["parent"] in before
            assert entry["generation"] == generation["generation"]
            known[entry["member"]] = entry
        for member in generation["members"]:
            assert member["parent"] == known[member["member"]]["parent"]
            assert member["mutation"] == known[member["member"]]["mutation"]


def comparable(generation: dict[str, Any]) -> Any:
    """A generation's figures without those that depend on the clock or the place."""
    members = [
        {k: v for k, v in m.items() if k not in ("steps_per_second", "load")}
        for m in generation["members"]
    ]
    checkpoint = {
        k: v for k, v in generation["checkpoint"].items() if k not in ("sha256", "path", "size_mb")
    }
    return {**generation, "members": members, "checkpoint": checkpoint}


def hyperparameters(generation: dict[str, Any]) -> list[Any]:
    return [member["hyperparameters"] for member in generation["members"]]


def test_a_run_reports_every_generation_and_member(start_job: StartJob, checkpoints: Path) -> None:
    job = start_job(dqn())
    result = job.finish()
    assert result["state"] == "completed"
    assert (result["reason"], result["steps"]) == ("max_steps", 1200)
    (started,) = job.of("started")
    assert (started["num_envs"], started["vectorization"]) == (4, "sync")
    assert started["processes"] == min(3, len(os.sched_getaffinity(0)))
    generations = job.of("generation")
    assert [g["generation"] for g in generations] == [1, 2, 3]
    assert [g["total_steps"] for g in generations] == [1200, 2400, 3600]
    check_lineage(generations)
    for generation in generations:
        assert len(generation["members"]) == 3
        for member in generation["members"]:
            assert member["steps"] == generation["steps"] == 400 * generation["generation"]
            assert member["fitness"] > 0
            assert member["score"] > 0
            assert member["steps_per_second"] > 0
            assert member["losses"]["loss"] >= 0
            assert set(member["load"]) >= {"cpu_percent", "memory_mb"}
            assert set(member["hyperparameters"]) == {"lr", "batch_size"}
    last = generations[-1]
    best = max(last["members"], key=lambda m: m["fitness"])
    assert result["best_fitness"] == last["checkpoint"]["evaluation_score"] == best["fitness"]
    assert disk.names(checkpoints) == ["step_1200", "step_800", "step_400"]
    agent = load_agent(checkpoints / "step_1200")
    assert agent.index == last["checkpoint"]["member"] == best["member"]
    assert agent.fitness[-1] == best["fitness"]
    assert wait_until_gone(job.process.pid)


def test_the_same_seed_gives_the_same_figures(
    start_job: StartJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever order sets of strings are in."""
    figures = []
    for number in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", number)
        job = start_job(dqn(pop_size=4), folder=f"run-{number}")
        job.finish()
        figures.append([comparable(g) for g in job.of("generation")])
    mutations = {m["mutation"] for g in figures[0] for m in g["members"]}
    assert any(name and name.startswith(("encoder.", "head_net.")) for name in mutations)
    assert figures[0] == figures[1]


def test_a_stopped_run_goes_on_where_it_was(start_job: StartJob, checkpoints: Path) -> None:
    manifest = dqn(max_steps=6000, evo_steps=2000)
    first = start_job(manifest)
    first.until("generation", generation=1)
    first.until("progress", generation=2)
    asked = time.monotonic()
    first.stop()
    result = first.finish()
    assert time.monotonic() - asked < 5
    assert (result["state"], result["reason"]) == ("stopped", "stop")
    (stopped,) = first.of("checkpoint")
    assert 2000 < stopped["steps"] < 4000
    assert stopped["evaluation_score"] is None

    second = start_job(manifest, resume_from=stopped["name"])
    result = second.finish()
    assert result["state"] == "completed"
    generations = second.of("generation")
    assert [g["generation"] for g in generations] == [1, 2, 3]
    assert generations[0] == first.of("generation")[0]
    assert [g["total_steps"] for g in generations] == [6000, 12000, 18000]
    assert all(m["steps"] == 6000 for m in generations[-1]["members"])
    check_lineage(generations)
    assert disk.read(checkpoints / "step_6000")


@pytest.mark.slow
def test_a_resume_between_generations_equals_an_unbroken_run(
    start_job: StartJob, checkpoints: Path
) -> None:
    """The evolution that the first run did not come to is made up for in the same way."""
    manifest, environment = dqn(), custom("Bandit")
    del manifest["network"]
    whole = start_job(manifest, environment, folder="whole")
    whole.finish()
    start_job(manifest, environment, max_steps=400).finish()
    rest = start_job(manifest, environment, resume_from=disk.names(checkpoints)[0])
    rest.finish()
    unbroken, resumed = whole.of("generation"), rest.of("generation")
    assert len(resumed) == len(unbroken) == 3
    for ours, theirs in zip(resumed[:2], unbroken[:2], strict=True):
        assert ours["lineage"] == theirs["lineage"]
        assert hyperparameters(ours) == hyperparameters(theirs)
    for ours, theirs in zip(resumed, unbroken, strict=True):
        assert (ours["steps"], ours["total_steps"]) == (theirs["steps"], theirs["total_steps"])


def test_a_run_that_was_killed_resumes_without_loss(start_job: StartJob, checkpoints: Path) -> None:
    manifest = dqn(max_steps=6000, evo_steps=2000)
    first = start_job(manifest)
    first.until("generation", generation=1)
    first.until("progress", generation=2)
    first.kill()
    latest = disk.latest_good(checkpoints)
    assert latest is not None
    assert latest.name == "step_2000"
    second = start_job(manifest, resume_from=latest.name)
    assert second.finish()["state"] == "completed"
    generations = second.of("generation")
    assert generations[0] == first.of("generation")[0]
    assert [g["total_steps"] for g in generations] == [6000, 12000, 18000]
    check_lineage(generations)


def test_members_die_with_the_server(start_job: StartJob) -> None:
    job = start_job(dqn(max_steps=10**6, evo_steps=10**6))
    job.until("progress")
    job.hang_up()
    assert wait_until_gone(job.process.pid)


def test_a_damaged_checkpoint_is_passed_over(start_job: StartJob, checkpoints: Path) -> None:
    start_job(dqn()).finish()
    member = next((checkpoints / "step_1200" / "members").iterdir())
    member.write_bytes(member.read_bytes()[:-100])
    job = start_job(dqn(), resume_from="step_1200", max_steps=1600)
    assert job.finish()["state"] == "completed"
    (warning,) = job.of("warning")
    assert "step_1200 is damaged" in warning["message"]
    assert "Going on from step_800" in warning["message"]
    assert [g["generation"] for g in job.of("generation")] == [2, 3, 4]


def test_a_full_disk_ends_the_run_with_what_it_needs(
    start_job: StartJob, checkpoints: Path
) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    error = start_job(dqn(), setup=limited).finish()
    assert error["error_code"] == "DISK_FULL"
    assert str(checkpoints) in error["message"]
    assert "step_400 needs" in error["message"]
    assert list(checkpoints.iterdir()) == []


def test_an_endless_environment_is_trained_and_evaluated(start_job: StartJob) -> None:
    job = start_job(dqn(max_steps=800, pop_size=1), custom("Endless"))
    assert job.finish()["best_fitness"] == 1000.0
    (warning,) = job.of("warning")
    assert "training.eval_steps" in warning["message"]
    assert all(g["members"][0]["score"] is None for g in job.of("generation"))


def test_more_copies_than_steps_of_a_generation_still_progress(start_job: StartJob) -> None:
    manifest = dqn(max_steps=60, evo_steps=10, pop_size=2)
    manifest["environment"]["num_envs"] = 20
    job = start_job(manifest)
    assert job.finish()["steps"] == 60
    assert [g["steps"] for g in job.of("generation")] == [20, 40, 60]


def test_a_target_ends_the_run(start_job: StartJob) -> None:
    job = start_job(dqn(max_steps=10**6, target_score=5.0))
    assert job.finish()["reason"] == "target_score"
    assert len(job.of("generation")) == 1


def test_a_time_limit_ends_the_run_with_a_checkpoint(start_job: StartJob) -> None:
    job = start_job(dqn(max_steps=10**6, evo_steps=10**6, max_wall_seconds=2))
    result = job.finish()
    assert (result["state"], result["reason"]) == ("completed", "max_wall_seconds")
    assert len(job.of("checkpoint")) == 1


@pytest.mark.slow
def test_checkpoints_within_a_generation(start_job: StartJob, checkpoints: Path) -> None:
    job = start_job(dqn(max_steps=800, checkpoint_steps=100, pop_size=2))
    assert job.finish()["state"] == "completed"
    names = [f"step_{n}" for n in range(800, 0, -100)]
    assert disk.names(checkpoints) == names
    assert [c["steps"] for c in job.of("checkpoint")] == [100, 200, 300, 500, 600, 700]
    resumed = start_job(dqn(max_steps=800, pop_size=2), resume_from="step_500")
    resumed.finish()
    assert [g["total_steps"] for g in resumed.of("generation")] == [800, 1600]


def test_costly_steps_are_made_in_processes_and_a_stop_is_prompt(start_job: StartJob) -> None:
    job = start_job(dqn(max_steps=10**6, evo_steps=10**6, pop_size=3), custom("Slow"))
    job.until("progress")
    asked = time.monotonic()
    job.stop()
    assert job.finish()["state"] == "stopped"
    assert time.monotonic() - asked < 5
    (started,) = job.of("started")
    assert started["vectorization"] == "async"
    assert wait_until_gone(job.process.pid)


@pytest.mark.parametrize(
    ("make", "environment"),
    [
        (ppo, registered("Pendulum-v1")),
        (dqn, custom("Images")),
        (ppo, custom("Parts")),
        pytest.param(dqn, custom("Parts"), marks=pytest.mark.slow),
        pytest.param(dqn, custom("Bandit"), marks=pytest.mark.slow),
        pytest.param(ppo, custom("Bandit"), marks=pytest.mark.slow),
        pytest.param(dqn, custom("Masked"), marks=pytest.mark.slow),
        pytest.param(ppo, custom("Masked"), marks=pytest.mark.slow),
    ],
    ids=lambda value: (
        value.get("name", value.get("id")) if isinstance(value, dict) else value.__name__
    ),
)
def test_other_spaces_train_and_resume(
    start_job: StartJob, checkpoints: Path, make: Any, environment: dict[str, Any]
) -> None:
    manifest = make(max_steps=512, evo_steps=256, pop_size=2)
    del manifest["network"]
    job = start_job(manifest, environment)
    end = job.finish()
    assert end.get("state") == "completed", end
    resumed = start_job(
        manifest, environment, resume_from=disk.names(checkpoints)[0], max_steps=600
    )
    assert resumed.finish()["state"] == "completed"
    generations = resumed.of("generation")
    assert [g["generation"] for g in generations] == [2, 3]
    assert all(m["fitness"] is not None for m in generations[-1]["members"])


def test_shared_experience_is_learned_from(start_job: StartJob, checkpoints: Path) -> None:
    job = start_job(dqn(experience_sharing=True, max_steps=800))
    assert job.finish()["state"] == "completed"
    assert job.of("warning") == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Broken", "could not be made: RuntimeError: no licence found."),
        ("Faulty", "ValueError: the arm is off its rail."),
    ],
)
def test_an_environment_that_fails_is_one_sentence(
    start_job: StartJob, name: str, words: str
) -> None:
    error = start_job(dqn(pop_size=1), custom(name)).finish()
    assert words in error["message"]
    assert "\n" not in error["message"]
    assert "traceback" not in error
