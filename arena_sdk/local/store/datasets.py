"""Datasets: found, listed, shown."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from arena_sdk.local.datasets.content import version_of
from arena_sdk.local.store.models import Dataset
from arena_sdk.local.times import iso


def by_name(session: Session, name: str) -> Dataset | None:
    """Return the dataset of that name."""
    return session.scalar(select(Dataset).where(Dataset.name == name))


def names(session: Session) -> list[str]:
    """Return the names of all datasets, sorted."""
    return list(session.scalars(select(Dataset.name).order_by(Dataset.name)))


def folders(session: Session) -> set[str]:
    """Return the folders that datasets have."""
    return set(session.scalars(select(Dataset.folder)))


def every(session: Session) -> list[Dataset]:
    """Return all datasets, oldest first."""
    return list(session.scalars(select(Dataset).order_by(Dataset.id)))


def listed(session: Session, name: str | None, search: str | None) -> list[dict[str, Any]]:
    """Return the rows that fit, newest first.

    Args:
        session: A transaction.
        name: Only the one of this name.
        search: Only those whose name, description or hub id holds this, in any case.
    """
    query = select(Dataset).order_by(Dataset.id.desc())
    if name is not None:
        query = query.where(Dataset.name == name)
    found = list(session.scalars(query))
    if search is not None:
        wanted = search.casefold()
        texts = [(r, f"{r.name}\n{r.description}\n{r.hf_dataset_id or ''}") for r in found]
        found = [r for r, text in texts if wanted in text.casefold()]
    return [row(dataset) for dataset in found]


def row(dataset: Dataset) -> dict[str, Any]:
    """Return a dataset as lists have it."""
    return {
        "id": dataset.id,
        "name": dataset.name,
        "hf_dataset_id": dataset.hf_dataset_id,
        "category": dataset.category,
        "description": dataset.description,
        "num_rows": dataset.num_rows,
        "columns": [column["name"] for column in dataset.columns],
        "size_mb": round(dataset.size_bytes / 1e6, 3),
        "version": version_of(dataset.files),
        "is_ready": bool(dataset.files),
        "uploaded": bool(dataset.files) and dataset.hf_dataset_id is None,
        "created_at": iso(dataset.created_at),
        "column_mapping": dataset.column_mapping,
    }


def details(dataset: Dataset) -> dict[str, Any]:
    """Return everything that is known of a dataset."""
    return {
        **row(dataset),
        "columns": dataset.columns,
        "size_bytes": dataset.size_bytes,
        "config": dataset.config,
        "hf_config": dataset.hf_config,
        "hf_split": dataset.hf_split,
        "files": dataset.files,
        "preview": dataset.preview,
    }
