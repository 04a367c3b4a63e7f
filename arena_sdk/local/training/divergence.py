"""When a population has diverged: nothing that goes on from it can learn any more."""

from __future__ import annotations

import math
from typing import Any

from .errors import TrainingError


def refuse_divergence(message: dict[str, Any]) -> None:
    """End a run whose every member has a loss or a fitness that is no finite number.

    A single member may diverge: selection replaces it by a copy of another.

    Args:
        message: What is told of the generation that ended.

    Raises:
        TrainingError: All members have diverged.
    """
    members = message["members"]
    if not all(_has_diverged(member) for member in members):
        return
    names = sorted({name for member in members for name in _not_finite(member)})
    raise TrainingError(
        f"The run diverged: in generation {message['generation']} every member had a value that is"
        f" no finite number ({', '.join(names)}). Lower the learning rate or scale the rewards, and"
        " begin anew or from an earlier checkpoint.",
        "DIVERGED",
    )


def _has_diverged(member: dict[str, Any]) -> bool:
    return bool(_not_finite(member))


def _not_finite(member: dict[str, Any]) -> list[str]:
    values = {"fitness": member["fitness"], **member["losses"]}
    return [name for name, v in values.items() if v is not None and not math.isfinite(v)]
