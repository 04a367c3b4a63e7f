"""Tables of the embedded Arena.

What is here is the whole durable state beside the files that it names. A record (`Record`) is the
one thing that is both stored and pushed: its sequence number is per experiment, dense, and never
reused, so that a reader that says the last number it has can be given exactly the rest.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Integer,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


def utcnow() -> dt.datetime:
    """Now, with its zone."""
    return dt.datetime.now(dt.UTC)


class UtcDateTime(TypeDecorator[dt.datetime]):
    """A point in time; SQLite keeps no zone, so every value is written and read as UTC."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: dt.datetime | None, dialect: Dialect) -> dt.datetime | None:
        """Drop the zone after moving to UTC."""
        return None if value is None else value.astimezone(dt.UTC).replace(tzinfo=None)

    def process_result_value(
        self, value: dt.datetime | None, dialect: Dialect
    ) -> dt.datetime | None:
        """Give the zone back."""
        return None if value is None else value.replace(tzinfo=dt.UTC)


class Base(DeclarativeBase):
    """The declarative base of every table."""

    type_annotation_map = {dict[str, Any]: JSON, list[Any]: JSON, dt.datetime: UtcDateTime()}


class Project(Base):
    """A named group of experiments."""

    __tablename__ = "projects"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100), unique=True)
    description: Mapped[str] = mapped_column(Text, default="")
    llm_based: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[dt.datetime] = mapped_column(default=utcnow)

    experiments: Mapped[list[Experiment]] = relationship(back_populates="project")


class EnvironmentVersion(Base):
    """One immutable version of a custom environment; its files lie under `sources/<digest>`."""

    __tablename__ = "environment_versions"
    __table_args__ = (UniqueConstraint("name", "version"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100), index=True)
    version: Mapped[str] = mapped_column(String(100))
    digest: Mapped[str] = mapped_column(String(64))
    description: Mapped[str] = mapped_column(Text, default="")
    multi_agent: Mapped[bool] = mapped_column(default=False)
    language_based: Mapped[bool] = mapped_column(default=False)
    entrypoint: Mapped[str | None] = mapped_column(String(400))
    entrypoints: Mapped[list[Any]] = mapped_column(default=list)
    env_config: Mapped[dict[str, Any]] = mapped_column(default=dict)
    requirements: Mapped[str] = mapped_column(Text, default="")
    overlay: Mapped[str | None] = mapped_column(String(64))
    validated: Mapped[bool] = mapped_column(default=False)
    profiled: Mapped[bool] = mapped_column(default=False)
    checks: Mapped[list[Any]] = mapped_column(default=list)
    spaces: Mapped[dict[str, Any]] = mapped_column(default=dict)
    rollouts: Mapped[dict[str, Any]] = mapped_column(default=dict)
    profile: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_at: Mapped[dt.datetime] = mapped_column(default=utcnow)
    validated_at: Mapped[dt.datetime | None] = mapped_column()


class Experiment(Base):
    """One training run of a population, through all its stops and resumes."""

    __tablename__ = "experiments"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100), unique=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), index=True)
    manifest: Mapped[dict[str, Any]] = mapped_column()
    algorithm: Mapped[str] = mapped_column(String(40))
    environment: Mapped[str] = mapped_column(String(200))
    environment_version: Mapped[str | None] = mapped_column(String(100))
    resource_id: Mapped[str] = mapped_column(String(100))
    num_nodes: Mapped[int] = mapped_column(default=1)
    state: Mapped[str] = mapped_column(String(20), index=True)
    error: Mapped[str | None] = mapped_column(Text)
    warnings: Mapped[list[Any]] = mapped_column(default=list)
    max_steps: Mapped[int] = mapped_column(Integer)
    target_score: Mapped[float | None] = mapped_column(Float)
    pop_size: Mapped[int] = mapped_column(Integer)
    generation: Mapped[int] = mapped_column(default=0)
    steps: Mapped[int] = mapped_column(default=0)
    total_steps: Mapped[int] = mapped_column(default=0)
    best_fitness: Mapped[float | None] = mapped_column(Float)
    mean_fitness: Mapped[float | None] = mapped_column(Float)
    steps_per_second: Mapped[float | None] = mapped_column(Float)
    fitness_history: Mapped[list[Any]] = mapped_column(default=list)
    last_seq: Mapped[int] = mapped_column(default=0)
    options: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    overrides: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    created_at: Mapped[dt.datetime] = mapped_column(default=utcnow)
    started_at: Mapped[dt.datetime | None] = mapped_column()
    ended_at: Mapped[dt.datetime | None] = mapped_column()

    project: Mapped[Project] = relationship(back_populates="experiments")


class Record(Base):
    """One acknowledged fact of a run: a member's metrics, a state, a checkpoint, a warning."""

    __tablename__ = "records"

    experiment_id: Mapped[int] = mapped_column(ForeignKey("experiments.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))
    time: Mapped[float] = mapped_column(Float)
    data: Mapped[dict[str, Any]] = mapped_column()


class Member(Base):
    """A member of a population: its identity, where it came from, for life."""

    __tablename__ = "members"

    experiment_id: Mapped[int] = mapped_column(ForeignKey("experiments.id"), primary_key=True)
    member: Mapped[int] = mapped_column(primary_key=True)
    parent: Mapped[int | None] = mapped_column()
    mutation: Mapped[str | None] = mapped_column(String(200))
    generation: Mapped[int] = mapped_column(default=0)


class Checkpoint(Base):
    """A saved population at a step count of one member; its files lie under `path`."""

    __tablename__ = "checkpoints"
    __table_args__ = (UniqueConstraint("experiment_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    experiment_id: Mapped[int] = mapped_column(ForeignKey("experiments.id"), index=True)
    name: Mapped[str] = mapped_column(String(60))
    steps: Mapped[int] = mapped_column(Integer)
    generation: Mapped[int] = mapped_column(Integer)
    member: Mapped[int | None] = mapped_column()
    evaluation_score: Mapped[float | None] = mapped_column(Float)
    training_score: Mapped[float | None] = mapped_column(Float)
    size_mb: Mapped[float] = mapped_column(Float)
    sha256: Mapped[str] = mapped_column(String(64))
    path: Mapped[str] = mapped_column(Text)
    created_at: Mapped[dt.datetime] = mapped_column(default=utcnow)


class Deployment(Base):
    """A trained agent that is, or was, being served."""

    __tablename__ = "deployments"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100), unique=True)
    experiment_id: Mapped[int] = mapped_column(ForeignKey("experiments.id"), index=True)
    checkpoint: Mapped[str] = mapped_column(String(60))
    status: Mapped[str] = mapped_column(String(20))
    url: Mapped[str] = mapped_column(String(200), default="")
    error: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[dt.datetime] = mapped_column(default=utcnow)


class Dataset(Base):
    """A dataset as it was uploaded; its files lie under `datasets/<folder>`."""

    __tablename__ = "datasets"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100), unique=True)
    category: Mapped[str] = mapped_column(String(20))
    description: Mapped[str] = mapped_column(Text, default="")
    column_mapping: Mapped[dict[str, Any]] = mapped_column(default=dict)
    config: Mapped[str | None] = mapped_column(String(200))
    hf_dataset_id: Mapped[str | None] = mapped_column(String(200))
    hf_config: Mapped[str | None] = mapped_column(String(200))
    hf_split: Mapped[str | None] = mapped_column(String(200))
    folder: Mapped[str] = mapped_column(String(64))
    files: Mapped[list[Any]] = mapped_column(default=list)
    columns: Mapped[list[Any]] = mapped_column(default=list)
    preview: Mapped[list[Any]] = mapped_column(default=list)
    num_rows: Mapped[int] = mapped_column(BigInteger)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[dt.datetime] = mapped_column(default=utcnow)


class Activity(Base):
    """Something worth telling on the Overview: what happened, to what, how bad."""

    __tablename__ = "activity"

    id: Mapped[int] = mapped_column(primary_key=True)
    time: Mapped[dt.datetime] = mapped_column(default=utcnow, index=True)
    level: Mapped[str] = mapped_column(String(10))
    subject: Mapped[str] = mapped_column(String(20))
    name: Mapped[str] = mapped_column(String(100))
    message: Mapped[str] = mapped_column(Text)
