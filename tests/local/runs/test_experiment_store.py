"""What the store promises of records: dense numbers, one transaction, each generation once."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.services.metrics import check_metrics, csv_lines, metric_names
from arena_sdk.local.store import experiments as store
from arena_sdk.local.store.database import Database
from arena_sdk.local.store.models import Checkpoint, Experiment, Project

from .trainer import report


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A store with a project."""
    database = Database(tmp_path_factory.mktemp("store") / "arena.db")
    database.migrate()
    with database.session() as session:
        session.add(Project(name="tests"))
    yield database
    database.close()


def new_experiment(database: Database) -> int:
    with database.session() as session:
        experiment = Experiment(
            name=store.free_name(session, "run"),
            project_id=1,
            manifest={},
            algorithm="DQN",
            environment="CartPole-v1",
            resource_id="local",
            state="running",
            max_steps=1000,
            pop_size=2,
            warnings=[],
            fitness_history=[],
            generation=0,
            last_seq=0,
        )
        session.add(experiment)
        session.flush()
        return experiment.id


def ingest(database: Database, experiment_id: int, message: dict[str, Any]) -> list[dict[str, Any]]:
    with database.session() as session:
        experiment = session.get_one(Experiment, experiment_id)
        return store.ingest_generation(session, experiment, message)


def table(database: Database, experiment_id: int, metrics: list[str] | None = None, rows: int = 99):
    with database.reading() as session:
        names = metric_names(session, experiment_id)
    lines = csv_lines(database.reading, experiment_id, metrics or names, rows)
    return list(csv.DictReader(io.StringIO("".join(lines))))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 6), max_size=20))
def test_each_generation_is_taken_in_once(database: Database, order: list[int]) -> None:
    """Whatever is told again or late, numbers are dense and no generation comes twice."""
    experiment_id = new_experiment(database)
    newest, expected = 0, []
    for generation in order:
        appended = ingest(database, experiment_id, report(generation))
        assert len(appended) == (2 if generation > newest else 0)
        if generation > newest:
            newest = generation
            expected += [generation] * 2
    with database.reading() as session:
        records = store.records_after(session, experiment_id, 0, 1000)
        experiment = session.get_one(Experiment, experiment_id)
        assert experiment.last_seq == len(records)
        assert experiment.generation == newest
    assert [r["seq"] for r in records] == list(range(1, len(records) + 1))
    assert [r["data"]["generation"] for r in records] == expected


def test_a_change_that_fails_leaves_no_trace(database: Database) -> None:
    experiment_id = new_experiment(database)
    ingest(database, experiment_id, report(1))
    broken = report(2)
    broken["checkpoint"] = {"name": "step_200"}  # lacks all else
    with pytest.raises(KeyError):
        ingest(database, experiment_id, broken)
    with database.reading() as session:
        experiment = session.get_one(Experiment, experiment_id)
        assert (experiment.last_seq, experiment.generation, experiment.steps) == (2, 1, 100)
        assert len(store.lineage(session, experiment_id)) == 2
    assert [r["seq"] for r in ingest(database, experiment_id, report(2))] == [3, 4]


def test_numbers_that_are_not_finite_are_kept_by_name(database: Database) -> None:
    experiment_id = new_experiment(database)
    message = report(1)
    message["members"][0]["fitness"] = math.nan
    message["members"][0]["losses"]["loss"] = math.inf
    message["members"][1]["score"] = -math.inf
    records = ingest(database, experiment_id, message)
    assert records[0]["data"]["fitness"] == "NaN"
    assert records[0]["data"]["losses"]["loss"] == "Infinity"
    with database.reading() as session:
        experiment = session.get_one(Experiment, experiment_id)
        assert experiment.best_fitness == 2.0
        assert experiment.mean_fitness == 2.0
    rows = table(database, experiment_id)
    assert (rows[0]["fitness"], rows[0]["loss"], rows[1]["score"]) == (
        "NaN", "Infinity", "-Infinity",
    )  # fmt: skip


def test_the_csv_has_a_row_a_member_and_generation(database: Database) -> None:
    experiment_id = new_experiment(database)
    for generation in (1, 2, 3):
        ingest(database, experiment_id, report(generation))
    rows = table(database, experiment_id)
    assert list(rows[0]) == [
        "generation", "member", "parent", "mutation", "steps", "total_steps", "time",
        "fitness", "score", "episodes", "steps_per_second", "loss", "batch_size", "lr",
    ]  # fmt: skip
    assert [(r["generation"], r["member"]) for r in rows] == [
        ("1", "0"), ("1", "1"), ("2", "2"), ("2", "3"), ("3", "4"), ("3", "5"),
    ]  # fmt: skip
    assert (rows[0]["parent"], rows[2]["parent"]) == ("", "0")
    assert [r["fitness"] for r in table(database, experiment_id, rows=2)] == ["1.0", "2.0"]
    assert table(database, experiment_id, rows=0) == []
    chosen = table(database, experiment_id, metrics=["lr", "fitness"])
    assert list(chosen[0])[-2:] == ["lr", "fitness"]


def test_the_csv_gives_what_was_done_again_once(database: Database) -> None:
    experiment_id = new_experiment(database)
    for generation in (1, 2, 3):
        ingest(database, experiment_id, report(generation))
    with database.session() as session:
        experiment = session.get_one(Experiment, experiment_id)
        store.rewind(session, experiment, 1, 100)
        assert (experiment.steps, experiment.total_steps) == (100, 200)
        store.change_state(session, experiment, "queued", generation=1)
    again = report(2)
    again["members"][0]["fitness"] = 77.0
    ingest(database, experiment_id, again)
    rows = table(database, experiment_id)
    assert [r["generation"] for r in rows] == ["1", "1", "2", "2"]
    assert rows[2]["fitness"] == "77.0"


def test_a_hyperparameter_never_hides_a_loss(database: Database) -> None:
    experiment_id = new_experiment(database)
    message = report(1)
    for member in message["members"]:
        member["losses"] = {"lr": 5.0, "steps": 6.0}
    ingest(database, experiment_id, message)
    row = table(database, experiment_id)[0]
    assert (row["lr"], row["hyperparameter_lr"]) == ("5.0", "0.001")
    assert (row["steps"], row["loss_steps"]) == ("100", "6.0")


def test_metrics_that_the_run_does_not_have_are_named() -> None:
    known = ["fitness", "lr"]
    assert check_metrics([], known, "run") == known
    assert check_metrics(["lr", "lr"], known, "run") == ["lr"]
    with pytest.raises(ApiError, match=r"'fitnes', 'x'.*fitness, lr") as refused:
        check_metrics(["fitnes", "x", "lr"], known, "run")
    assert refused.value.status == 404


def test_the_best_checkpoint_is_the_fittest_and_later_of_equals() -> None:
    def saved(name: str, score: float | None) -> Checkpoint:
        return Checkpoint(name=name, steps=int(name[5:]), evaluation_score=score)

    rows = [saved("step_1", 5.0), saved("step_2", None), saved("step_3", 5.0), saved("step_4", 1.0)]
    assert store.best_of(rows).name == "step_3"
    assert store.best_of([saved("step_1", None), saved("step_2", math.nan)]).name == "step_2"


def test_a_checkpoint_written_over_is_told_again(database: Database) -> None:
    experiment_id = new_experiment(database)
    told = {
        "name": "step_100", "steps": 100, "generation": 1, "member": 0, "evaluation_score": 1.0,
        "training_score": "NaN", "size_mb": 1.0, "sha256": "a", "path": str(Path("x")),
    }  # fmt: skip
    with database.session() as session:
        experiment = session.get_one(Experiment, experiment_id)
        assert len(store.add_checkpoint(session, experiment, told)) == 1
        assert store.add_checkpoint(session, experiment, told) == []
        again = store.add_checkpoint(session, experiment, {**told, "sha256": "b", "member": 3})
        assert again[0]["data"]["member"] == 3
        rows = store.checkpoints(session, experiment)
        assert [(r.member, r.sha256, r.training_score) for r in rows] == [(3, "b", None)]
