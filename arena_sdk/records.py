"""Numbers of records as JSON says them: non-finite floats travel by name."""

from __future__ import annotations

import math
from typing import Any

_NAMED = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def encode_number(value: float) -> float | str:
    """Return a float, or its name when it is not finite."""
    if math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def decode_number(value: Any) -> Any:
    """Return the float of that name; anything else as it is."""
    return _NAMED.get(value, value) if isinstance(value, str) else value
