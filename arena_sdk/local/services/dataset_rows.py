"""Datasets in the store: found, recognised, registered with or without files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from arena_sdk.local.api.errors import ApiError
from arena_sdk.local.datasets.content import digest_of
from arena_sdk.local.store import activity
from arena_sdk.local.store import datasets as store
from arena_sdk.local.store.models import Dataset

from .dataset_files import Given, Kept
from .refusals import conflict, not_found


@dataclass(frozen=True)
class NewDataset:
    """What came with a request to make a dataset.

    Attributes:
        column_mapping: JSON text.
        config: Which configuration of the files.
        hf_dataset_name: A dataset of the hub instead of files.
        hf_config: Which configuration of that.
        hf_split: Which split of that.
        files: The uploads.
    """

    name: str
    category: str
    column_mapping: str
    description: str = ""
    config: str | None = None
    hf_dataset_name: str | None = None
    hf_config: str | None = None
    hf_split: str | None = None
    files: tuple[Given, ...] = ()

    @property
    def has_content(self) -> bool:
        """Whether it comes with more than what is said of it."""
        return bool(self.files or self.hf_dataset_name)


def find(session: Session, name: str) -> Dataset:
    """Return a dataset.

    Raises:
        ApiError: 404 when there is none.
    """
    row = store.by_name(session, name)
    if row is None:
        have = ", ".join(store.names(session)[:8]) or "none yet"
        raise not_found(f"No dataset is named {name!r}; there are: {have}.", "DATASET_NOT_FOUND")
    return row


def _taken(name: str) -> ApiError:
    return conflict(
        f"There is already a dataset named {name!r}; choose another name, or delete it:"
        f" `arena datasets delete {name}`.",
        "NAME_TAKEN",
    )


def same(
    session: Session, new: NewDataset, mapping: dict[str, str], kept: Kept
) -> dict[str, Any] | None:
    """Return the row of a dataset that is all that is asked for; None where the name is free.

    Raises:
        ApiError: 409 when the name belongs to another content, category or mapping.
    """
    row = store.by_name(session, new.name)
    if row is None or not row.files:
        return None
    if (digest_of(row.files), row.category, row.column_mapping) != (
        digest_of(kept.files), new.category, mapping,
    ):  # fmt: skip
        raise _taken(new.name)
    note = f"Dataset {new.name!r} has this content already; nothing was changed."
    return {**store.row(row), "warnings": [note]}


def register_empty(session: Session, new: NewDataset, mapping: dict[str, str]) -> dict[str, Any]:
    """Store what is said of a dataset whose files are not there yet."""
    if store.by_name(session, new.name) is not None:
        raise _taken(new.name)
    row = Dataset(
        name=new.name,
        category=new.category,
        description=new.description,
        column_mapping=mapping,
        config=new.config,
        folder="",
        files=[],
        columns=[],
        preview=[],
        num_rows=0,
        size_bytes=0,
    )
    session.add(row)
    session.flush()
    activity.add(session, "info", "dataset", new.name, "Dataset without files stored.")
    return store.row(row)


def register(
    session: Session,
    new: NewDataset,
    mapping: dict[str, str],
    folder: str,
    kept: Kept,
    table: dict[str, Any],
) -> tuple[dict[str, Any], list[str]]:
    """Store a dataset; return its row, and the names of those with the same content."""
    before = store.by_name(session, new.name)
    if before is not None and before.files:
        raise _taken(new.name)  # another one came first while this one was read
    if before is not None:
        session.delete(before)
        session.flush()
    row = Dataset(
        name=new.name,
        category=new.category,
        description=new.description,
        column_mapping=mapping,
        config=new.config,
        hf_dataset_id=kept.hub_name,
        hf_config=new.hf_config,
        hf_split=new.hf_split,
        folder=folder,
        files=kept.files,
        columns=table["columns"],
        preview=table["preview"],
        num_rows=table["num_rows"],
        size_bytes=sum(file["size_bytes"] for file in kept.files),
    )
    digest = digest_of(kept.files)
    twins = [other.name for other in store.every(session) if digest_of(other.files) == digest]
    session.add(row)
    session.flush()
    told = f"Dataset of {row.num_rows:,} rows stored."
    activity.add(session, "info", "dataset", new.name, told)
    return store.row(row), twins
