"""What happened lately, for the Overview."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from arena_sdk.local.store.models import Activity
from arena_sdk.local.times import iso

MESSAGE_LIMIT = 1_000


def add(session: Session, level: str, subject: str, name: str, message: str) -> None:
    """Note that something happened.

    Args:
        session: A transaction.
        level: `info`, `warning` or `error`.
        subject: The kind of thing: `environment`, `experiment`, `deployment`, `dataset`,
            `project`, `server`.
        name: The thing's name.
        message: One sentence.
    """
    session.add(
        Activity(level=level, subject=subject, name=name[:100], message=message[:MESSAGE_LIMIT])
    )


def latest(session: Session, limit: int) -> list[dict[str, Any]]:
    """Return the newest `limit` entries, newest first."""
    rows = session.scalars(select(Activity).order_by(Activity.id.desc()).limit(limit))
    return [
        {
            "time": iso(row.time),
            "level": row.level,
            "subject": row.subject,
            "name": row.name,
            "message": row.message,
        }
        for row in rows
    ]
