"""How figures are written: short, and of one width in a column."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime
from typing import Any

NOTHING = "–"
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def number(value: Any, digits: int = 2) -> str:
    """Return a figure with few digits: `12.35`, `1.2e-05`, `NaN`; a dash for nothing."""
    if value is None or isinstance(value, bool):
        return NOTHING
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    size = abs(value)
    if size and (size < 10 ** -(digits + 1) or size >= 1e7):
        return f"{value:.{digits}e}"
    if size and size < 0.1:
        return f"{value:.{digits + 2}f}"
    return f"{value:,.{digits}f}"


def count(value: float | None) -> str:
    """Return a count in at most five characters: `950`, `12.4k`, `3.2M`."""
    if value is None:
        return NOTHING
    for unit, name in _UNITS:
        if abs(value) >= unit * 0.9995:
            scaled = value / unit
            return f"{scaled:.0f}{name}" if abs(scaled) >= 99.95 else f"{scaled:.1f}{name}"
    return f"{value:.0f}"


def duration(seconds: float | None) -> str:
    """Return a length of time by its two largest units: `42s`, `3m10s`, `2h05m`, `4d3h`."""
    if seconds is None or math.isnan(seconds) or math.isinf(seconds):
        return NOTHING
    total = max(0, int(seconds))
    if total < 60:
        return f"{total}s"
    if total < 3600:
        return f"{total // 60}m{total % 60:02d}s"
    if total < 86400:
        return f"{total // 3600}h{total % 3600 // 60:02d}m"
    return f"{total // 86400}d{total % 86400 // 3600}h"


def moment(text: Any) -> float | None:
    """Return the epoch seconds of an ISO-8601 time of the service, or None."""
    if isinstance(text, int | float):
        return float(text)
    if not isinstance(text, str) or not text:
        return None
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


def age(text: Any, now: float | None = None) -> str:
    """Return how long ago a time of the service was: `42s`, `3m`, `2h`, `4d`."""
    then = moment(text)
    if then is None:
        return NOTHING
    seconds = max(0, int((time.time() if now is None else now) - then))
    for unit, name in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= unit:
            return f"{seconds // unit}{name}"
    return f"{seconds}s"


def clock(text: Any) -> str:
    """Return the time of day, in UTC, of a time of the service: `12:04:31`."""
    then = moment(text)
    return NOTHING if then is None else datetime.fromtimestamp(then, UTC).strftime("%H:%M:%S")


def percent(part: float | None, whole: float | None) -> float | None:
    """Return a share from 0 to 1, or None where there is no whole."""
    if part is None or not whole:
        return None
    return min(1.0, max(0.0, part / whole))


def bar(share: float | None, width: int) -> str:
    """Return a horizontal bar of `width` cells, eighths of a cell fine."""
    if share is None:
        return "·" * width
    eighths = round(min(1.0, max(0.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    text = "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")
    return text.ljust(width, "·")


def sparkline(values: list[Any], width: int) -> str:
    """Return the last `width` values as bars of one cell; what is not a finite number is a gap."""
    levels = "▁▂▃▄▅▆▇█"
    recent = list(values)[-width:]
    numbers = [
        float(v) if isinstance(v, int | float) and math.isfinite(v) else None for v in recent
    ]
    finite = [value for value in numbers if value is not None]
    if not finite:
        return ""
    low, high = min(finite), max(finite)
    span = (high - low) or 1.0
    flat = high == low
    return "".join(
        " " if value is None else levels[3 if flat else round((value - low) / span * 7)]
        for value in numbers
    )
