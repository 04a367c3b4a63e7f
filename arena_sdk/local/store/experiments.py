"""Experiments and all that hangs on them, as functions over a session.

Every function works inside the caller's transaction. The ones that append records keep three
things true: sequence numbers of an experiment are dense from 1, the experiment's row summarises
exactly the records that are committed with it, and a generation is taken in once.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from arena_sdk.records import encode_number

from .models import Checkpoint, Experiment, Member, Project, Record, utcnow

ACTIVE_STATES = frozenset({"queued", "running", "stopping"})
FINISHED_STATES = frozenset({"stopped", "completed", "failed", "interrupted"})
HISTORY_LENGTH = 60
"""How many generations the row's own short history of best fitness holds, for sparklines."""

RecordData = dict[str, Any]


def encode_tree(value: Any) -> Any:
    """Return JSON data with every non-finite float written as its name, as the wire has it."""
    if isinstance(value, dict):
        return {key: encode_tree(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [encode_tree(inner) for inner in value]
    return encode_number(value) if isinstance(value, float) else value


def record_json(record: Record) -> RecordData:
    """Return a record as it is sent: `{"seq", "kind", "time", "data"}`."""
    return {"seq": record.seq, "kind": record.kind, "time": record.time, "data": record.data}


# --- finding ------------------------------------------------------------------------------------


def by_name(session: Session, name: str) -> Experiment | None:
    """Return the experiment of that name."""
    return session.scalar(select(Experiment).where(Experiment.name == name))


def names(session: Session) -> list[str]:
    """Return every experiment's name, newest first."""
    return list(session.scalars(select(Experiment.name).order_by(Experiment.id.desc())))


def listed(session: Session, project: str | None = None) -> list[Experiment]:
    """Return the experiments of a project (or all), newest first."""
    query = select(Experiment).order_by(Experiment.id.desc())
    if project is not None:
        query = query.join(Project).where(Project.name == project)
    return list(session.scalars(query))


def in_states(session: Session, states: Iterable[str]) -> list[Experiment]:
    """Return the experiments in any of these states, oldest first."""
    query = select(Experiment).where(Experiment.state.in_(list(states))).order_by(Experiment.id)
    return list(session.scalars(query))


def free_name(session: Session, stem: str) -> str:
    """Return the first of `stem-1`, `stem-2`, … that no experiment has."""
    taken = set(names(session))
    number = 1
    while f"{stem}-{number}" in taken:
        number += 1
    return f"{stem}-{number}"


# --- appending ----------------------------------------------------------------------------------


def append(
    session: Session, experiment: Experiment, kind: str, items: Iterable[RecordData]
) -> list[RecordData]:
    """Append records of one kind, numbered on from the experiment's last; return them as sent."""
    now = time.time()
    appended = []
    for data in items:
        experiment.last_seq += 1
        record = Record(
            experiment_id=experiment.id,
            seq=experiment.last_seq,
            kind=kind,
            time=now,
            data=encode_tree(data),
        )
        session.add(record)
        appended.append(record_json(record))
    return appended


def change_state(
    session: Session, experiment: Experiment, state: str, error: str | None = None, **more: Any
) -> list[RecordData]:
    """Move to a state and append the record that says so.

    Args:
        session: The transaction.
        experiment: The row.
        state: The new state.
        error: The sentence that explains a failure; kept on the row until the next run.
        more: Further keys of the record's data, such as the reason of an end.
    """
    experiment.state = state
    experiment.error = error
    if state == "running":
        experiment.started_at = experiment.started_at or utcnow()
        experiment.ended_at = None
    elif state in FINISHED_STATES:
        experiment.ended_at = utcnow()
        experiment.steps_per_second = None
    data: RecordData = {"state": state, **more}
    if error is not None:
        data["error"] = error
    return append(session, experiment, "state", [data])


def add_warning(session: Session, experiment: Experiment, message: str) -> list[RecordData]:
    """Note a warning once: on the row and as a record."""
    if message in experiment.warnings:
        return []
    experiment.warnings = [*experiment.warnings, message]
    return append(session, experiment, "warning", [{"message": message}])


def ingest_generation(
    session: Session, experiment: Experiment, message: dict[str, Any]
) -> list[RecordData]:
    """Take in what a generation reported, unless it was taken in before.

    Args:
        session: The transaction.
        experiment: The row.
        message: A trainer's `generation` message.

    Returns:
        The records that were appended: none for a generation seen before, save for a checkpoint
        of it that was not yet known.
    """
    appended: list[RecordData] = []
    generation = int(message["generation"])
    add_members(session, experiment, message.get("lineage", ()))
    if generation > experiment.generation:
        members = message["members"]
        shared = {"generation": generation, "total_steps": message["total_steps"]}
        appended += append(session, experiment, "metrics", [{**m, **shared} for m in members])
        _summarise(experiment, message)
    if message.get("checkpoint"):
        appended += add_checkpoint(session, experiment, message["checkpoint"])
    return appended


def rewind(session: Session, experiment: Experiment, generation: int, steps: int) -> None:
    """Take the row back to a checkpoint (0, 0: to the start), to be trained on from there.

    Records are never unwritten. Generations that came after the checkpoint will be reported
    again, so the row forgets having seen them; so are members that were born in them. The state
    record that follows names the generation, from which a reader knows what was superseded.
    """
    if generation >= experiment.generation:
        return
    session.execute(
        delete(Member).where(Member.experiment_id == experiment.id, Member.generation > generation)
    )
    experiment.generation = generation
    experiment.steps = steps
    last = _newest_of_generation(session, experiment.id, generation, 1)
    experiment.total_steps = int(last[0]["total_steps"]) if last else 0


def _newest_of_generation(
    session: Session, experiment_id: int, generation: int, limit: int
) -> list[RecordData]:
    """Return at most `limit` of what members reported of a generation, newest first."""
    query = (
        select(Record)
        .where(
            Record.experiment_id == experiment_id,
            Record.kind == "metrics",
            func.json_extract(Record.data, "$.generation") == generation,
        )
        .order_by(Record.seq.desc())
        .limit(limit)
    )
    return [record.data for record in session.scalars(query)]


def _summarise(experiment: Experiment, message: dict[str, Any]) -> None:
    """Make the row tell what its last generation did."""
    members = message["members"]
    experiment.generation = int(message["generation"])
    experiment.steps = int(message["steps"])
    experiment.total_steps = int(message["total_steps"])
    experiment.steps_per_second = _finite_sum(m.get("steps_per_second") for m in members)
    fitness = _finite(m.get("fitness") for m in members)
    if fitness:
        best = max(fitness)
        earlier = experiment.best_fitness
        experiment.best_fitness = best if earlier is None else max(best, earlier)
        experiment.mean_fitness = sum(fitness) / len(fitness)
        experiment.fitness_history = [*experiment.fitness_history, best][-HISTORY_LENGTH:]


def _finite(values: Iterable[Any]) -> list[float]:
    """Return those of the values that are finite numbers."""
    return [
        float(v)
        for v in values
        if isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v)
    ]


def _finite_sum(values: Iterable[Any]) -> float | None:
    finite = _finite(values)
    return sum(finite) if finite else None


def add_members(
    session: Session, experiment: Experiment, lineage: Iterable[dict[str, Any]]
) -> None:
    """Note the members that are new; a member's origin never changes."""
    for row in lineage:
        if session.get(Member, (experiment.id, row["member"])) is None:
            session.add(
                Member(
                    experiment_id=experiment.id,
                    member=row["member"],
                    parent=row.get("parent"),
                    mutation=row.get("mutation"),
                    generation=row.get("generation", 0),
                )
            )
            session.flush()


def add_checkpoint(
    session: Session, experiment: Experiment, data: dict[str, Any]
) -> list[RecordData]:
    """Note a checkpoint unless it is known; return the record that tells of it, if new.

    One of the same name and other content was written over the earlier one, and is new.
    """
    row = checkpoint_named(session, experiment, data["name"])
    if row is not None and row.sha256 == data["sha256"]:
        return []
    if row is None:
        row = Checkpoint(experiment_id=experiment.id, name=data["name"])
        session.add(row)
    row.steps, row.generation = int(data["steps"]), int(data["generation"])
    row.member = data.get("member")
    row.evaluation_score = _score(data.get("evaluation_score"))
    row.training_score = _score(data.get("training_score"))
    row.size_mb, row.sha256, row.path = data["size_mb"], data["sha256"], str(data["path"])
    session.flush()
    told = {key: value for key, value in data.items() if key not in ("path", "kind")}
    return append(session, experiment, "checkpoint", [told])


def _score(value: Any) -> float | None:
    """Return a finite score, or None."""
    finite = _finite([value])
    return finite[0] if finite else None


# --- reading ------------------------------------------------------------------------------------


def records_after(session: Session, experiment_id: int, after: int, limit: int) -> list[RecordData]:
    """Return at most `limit` records whose number is above `after`, in order."""
    query = (
        select(Record)
        .where(Record.experiment_id == experiment_id, Record.seq > after)
        .order_by(Record.seq)
        .limit(limit)
    )
    return [record_json(record) for record in session.scalars(query)]


def metric_records(session: Session, experiment_id: int, page: int = 2000) -> Iterator[Record]:
    """Yield every metrics record in order, a page of rows in memory at a time."""
    query = (
        select(Record)
        .where(Record.experiment_id == experiment_id, Record.kind == "metrics")
        .order_by(Record.seq)
        .execution_options(yield_per=page)
    )
    yield from session.scalars(query)


def state_records(session: Session, experiment_id: int) -> list[Record]:
    """Return every change of state, in order."""
    query = (
        select(Record)
        .where(Record.experiment_id == experiment_id, Record.kind == "state")
        .order_by(Record.seq)
    )
    return list(session.scalars(query))


def named_metrics(session: Session, experiment_id: int, group: str) -> list[str]:
    """Return the names that ever occurred under `losses`, `hyperparameters` or `load`, sorted."""
    entries = func.json_each(Record.data, f"$.{group}").table_valued("key")
    query = (
        select(entries.c.key)
        .select_from(Record)
        .join(entries, onclause=Record.kind == "metrics")
        .where(Record.experiment_id == experiment_id)
        .distinct()
    )
    return sorted(session.scalars(query))


def population(session: Session, experiment: Experiment) -> list[dict[str, Any]]:
    """Return the members of the latest generation as they last reported, by member number."""
    size = max(1, experiment.pop_size)
    latest = _newest_of_generation(session, experiment.id, experiment.generation, size)
    return sorted(latest, key=lambda member: member["member"])


def lineage(session: Session, experiment_id: int) -> list[dict[str, Any]]:
    """Return every member that ever lived, with its parent, oldest first."""
    query = select(Member).where(Member.experiment_id == experiment_id).order_by(Member.member)
    return [
        {
            "member": m.member,
            "parent": m.parent,
            "mutation": m.mutation,
            "generation": m.generation,
        }
        for m in session.scalars(query)
    ]


def checkpoints(session: Session, experiment: Experiment) -> list[Checkpoint]:
    """Return the checkpoints in order of steps."""
    query = (
        select(Checkpoint)
        .where(Checkpoint.experiment_id == experiment.id)
        .order_by(Checkpoint.steps, Checkpoint.id)
    )
    return list(session.scalars(query))


def checkpoint_named(session: Session, experiment: Experiment, name: str) -> Checkpoint | None:
    """Return the checkpoint of that name."""
    return session.scalar(
        select(Checkpoint).where(Checkpoint.experiment_id == experiment.id, Checkpoint.name == name)
    )


def best_of(saved: list[Checkpoint]) -> Checkpoint:
    """Return the checkpoint of highest fitness, the later one of equals."""

    def rank(checkpoint: Checkpoint) -> tuple[float, int]:
        score = checkpoint.evaluation_score
        return (-math.inf if score is None or math.isnan(score) else score, checkpoint.steps)

    return max(saved, key=rank)
