"""How long one call into an environment may take while it is validated or profiled."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Mapping

logger = logging.getLogger(__name__)

VARIABLE = "ARENA_CALL_SECONDS"
DEFAULT_SECONDS = 30.0


def call_seconds(environment: Mapping[str, str] | None = None) -> float:
    """Return the limit in seconds: `ARENA_CALL_SECONDS`, or 30.

    A simulator that takes a minute to load needs more; what is no positive number is passed over,
    with a line in the log.
    """
    variables = os.environ if environment is None else environment
    text = variables.get(VARIABLE, "").strip()
    if not text:
        return DEFAULT_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        logger.warning("%s is %r, not a positive number; it counts as 30", VARIABLE, text)
        return DEFAULT_SECONDS
    return seconds
