"""Points in time as JSON says them."""

from __future__ import annotations

import datetime as dt


def iso(value: dt.datetime) -> str:
    """Return a time as ISO 8601 in UTC, as in `2026-01-31T09:30:00.123Z`."""
    return value.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
