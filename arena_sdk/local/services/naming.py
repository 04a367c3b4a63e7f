"""Names for experiments that were given none."""

from __future__ import annotations

import re


def stem_for(algorithm: str, environment: str) -> str:
    """Return what a generated name begins with, as `dqn-cartpole-v1`."""
    words = f"{algorithm}-{environment}".lower()
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")[:80].rstrip("-") or "experiment"
