"""Limits, ticks and the figures on them, for linear, logarithmic and time axes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime

import numpy as np

from arena_tui.widgets.chart.columns import Floats

Limits = tuple[float, float]

# Beyond these a span, or the padding of one, would leave what a float can hold.
_LARGEST = 4e307
_SMALLEST_SPAN = 1e-300
_SI = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_TIME_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
_DAY = 86400


def widened(low: float, high: float, share: float = 0.0) -> Limits:
    """Return limits with some room at both ends; a level line gets room of its own size.

    Args:
        low: Least value.
        high: Greatest value.
        share: Part of the span to add at each end.
    """
    low, high = (min(max(value, -_LARGEST), _LARGEST) for value in (low, high))
    span = high - low
    size = max(abs(low), abs(high))
    if span <= max(size * 1e-12, _SMALLEST_SPAN):
        room = size * 0.1 if size > _SMALLEST_SPAN * 1e12 else 0.5
        return low - room, high + room
    return low - span * share, high + span * share


def merged(extents: Iterable[Limits | None]) -> Limits | None:
    """Return what holds all extents, None when there is none."""
    known = [extent for extent in extents if extent is not None]
    if not known:
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def fences(values: Floats, extent: Limits) -> Limits:
    """Return limits that leave out far outliers, never wider than the extent.

    A value is far out when it is three interquartile ranges beyond the quartiles (Tukey,
    "Exploratory Data Analysis", 1977, section 2E).

    Args:
        values: A sample of the values in view, shape (n,), without gaps.
        extent: Least and greatest value in view.
    """
    if len(values) < 8:
        return extent
    lower, upper = (float(v) for v in np.percentile(values, (25, 75)))
    room = 3 * (upper - lower)
    if not room > 0 or not math.isfinite(room):
        return extent
    return max(extent[0], lower - room), min(extent[1], upper + room)


def _steps(span: float, count: int) -> tuple[float, float]:
    """Return the least of 1, 2, 5 times a power of ten that makes at most `count` steps.

    The second one is the next finer.
    """
    rough = span / max(1, count)
    power = 10.0 ** math.floor(math.log10(rough))
    rising = (power / 2, power, power * 2, power * 5, power * 10)
    at = next((at for at in (1, 2, 3) if rising[at] >= rough * 0.999999), 4)
    return rising[at], rising[at - 1]


def ticks(low: float, high: float, count: int) -> list[float]:
    """Return round numbers within the limits: at least two, and hardly more than `count`."""
    if not low < high or count < 1:
        return []
    wide, fine = _steps(high - low, count)
    found = _multiples(low, high, wide, count)
    # One figure alone does not tell the scale.
    return found if len(found) > 1 else _multiples(low, high, fine, 4)


def _multiples(low: float, high: float, step: float, count: int) -> list[float]:
    if not step > 0:
        return []
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    # Adding zero turns a negative zero into zero.
    return [index * step + 0.0 for index in range(first, min(last, first + count + 1) + 1)]


def log_ticks(low: float, high: float, count: int) -> list[float]:
    """Return places of round values on an axis in powers of ten, such as 0.301 for 2.

    Whole decades where there are many; 1, 2, 5 of each where there are few; linear ones where all
    of the axis is within less than a decade.
    """
    if not low < high or count < 1:
        return []
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    decades = last - first + 1
    if decades > count + 1:
        every = -(-decades // (count + 1))
        start = -(-first // every) * every
        return [float(power) for power in range(start, last + 1, every)]
    finer = [
        power + math.log10(digit)
        for power in range(math.floor(low), math.ceil(high) + 1)
        for digit in (1, 2, 5)
        if low - 1e-9 <= power + math.log10(digit) <= high + 1e-9
    ]
    if 2 <= len(finer) <= count + 1:
        return finer
    if decades >= 2:
        return [float(power) for power in range(first, last + 1)]
    if max(abs(low), abs(high)) > 300:
        return finer[: count + 1]
    inner = [math.log10(value) for value in ticks(10**low, 10**high, count) if value > 0]
    return inner or finer[: count + 1]


def time_ticks(low: float, high: float, count: int) -> list[float]:
    """Return round moments of an axis in epoch seconds."""
    if not low < high or count < 1:
        return []
    rough = (high - low) / count
    if rough < 1:
        return ticks(low, high, count)
    step = next((s for s in _TIME_STEPS if s >= rough), None)
    step = step or _DAY * max(1, math.ceil(rough / _DAY))
    first, last = math.ceil(low / step), math.floor(high / step)
    return [float(index * step) for index in range(first, last + 1)]


def trimmed(text: str) -> str:
    """Return a figure without zeros that say nothing."""
    if "." not in text or "e" in text:
        return text
    return text.rstrip("0").rstrip(".")


def si_number(value: float, digits: int = 4) -> str:
    """Return a number in few characters: `1.25M`, `0.031`, `1.2e-07`, `NaN`, `-∞`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 1e18 or size < 1e-4:
        mantissa, _, power = f"{value:.{max(0, digits - 2)}e}".partition("e")
        return f"{trimmed(mantissa)}e{int(power)}"
    if size >= 9999.5:
        for unit, name in _SI:
            if size >= unit * 0.99995:
                return trimmed(f"{value / unit:.{max(0, digits - _whole(size / unit))}f}") + name
    return trimmed(f"{value:.{min(6, max(0, digits - _whole(size)))}f}")


def _whole(size: float) -> int:
    """Return how many digits stand before the point; leading zeros behind it count backwards."""
    return math.floor(math.log10(size)) + 1 if size > 0 else 1


def tick_labels(places: list[float]) -> list[str]:
    """Return figures for ticks, with as many digits as tell neighbours apart, and no more."""
    for digits in range(2, 16):
        labels = [si_number(place, digits) for place in places]
        exact = all(_close(label, place) for label, place in zip(labels, places, strict=True))
        if len(set(labels)) == len(labels) and (exact or digits > 8):
            return labels
    return [si_number(place, 6) for place in places]


def _close(label: str, place: float) -> bool:
    unit = next((size for size, name in _SI if label.endswith(name)), 1.0)
    try:
        shown = float(label.rstrip("PTGMk")) * unit
    except ValueError:
        return False
    return abs(shown - place) <= abs(place) * 1e-4 + 1e-300


def log_labels(places: list[float]) -> list[str]:
    """Return figures for ticks of an axis in powers of ten."""
    return [_power(place) for place in places]


def _power(place: float) -> str:
    if abs(place) > 300:
        return f"1e{round(place)}"
    return si_number(10**place, 2 if abs(10 ** (place - math.floor(place)) % 1) < 1e-6 else 4)


def time_labels(places: list[float]) -> list[str]:
    """Return times of the day in UTC for ticks; the date at midnight."""
    if len(places) > 1 and places[1] - places[0] < 1:
        return [f"{place % 60:.2f}s" for place in places]
    fine = any(place % 60 for place in places)
    return [moment_label(place, seconds=fine, midnight=True) for place in places]


def moment_label(value: float, *, seconds: bool = True, midnight: bool = False) -> str:
    """Return one time of the day in UTC, as `14:03:20` or `14:03`; the date at midnight, if so."""
    try:
        moment = datetime.fromtimestamp(value, UTC)
    except (OverflowError, OSError, ValueError):
        return si_number(value)
    if midnight and value % _DAY == 0:
        return moment.strftime("%m-%d")
    return moment.strftime("%H:%M:%S" if seconds else "%H:%M")


def elapsed_label(seconds: float) -> str:
    """Return a length of time as a clock shows it: `0:42`, `1:02:05`, `3d04:00`."""
    sign, size = ("-", -seconds) if seconds < 0 else ("", seconds)
    if not math.isfinite(size) or size >= 1e12:
        return si_number(seconds)
    if size % 1 and size < 60:
        return f"{sign}{trimmed(f'{size:.2f}')}s"
    minutes, rest = divmod(round(size), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 24:
        return f"{sign}{hours // 24}d{hours % 24:02d}:{minutes:02d}"
    return f"{sign}{hours}:{minutes:02d}:{rest:02d}" if hours else f"{sign}{minutes}:{rest:02d}"


def place_ticks(window: Limits, count: int, kind: str) -> tuple[list[float], list[str]]:
    """Return ticks of an x axis and their figures: of a "number", "time" or "elapsed" axis."""
    if kind == "number":
        places = ticks(*window, count)
        return places, tick_labels(places)
    places = time_ticks(*window, count)
    labels = [elapsed_label(p) for p in places] if kind == "elapsed" else time_labels(places)
    return places, labels
