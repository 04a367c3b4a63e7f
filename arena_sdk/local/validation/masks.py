"""Action masks: which actions of a space are legal, flat, as training and serving take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from arena_sdk.local.validation.problems import CheckFailed

KEY = "action_mask"


def choices_of(space: Any) -> list[int] | None:
    """Return how many choices each part of a space has; None for one that takes no mask."""
    if isinstance(space, spaces.Discrete):
        return [int(space.n)]
    if isinstance(space, spaces.MultiDiscrete):
        return [int(count) for count in space.nvec.flat]
    return None


def judge_mask(space: Any, info: Any, at: str, *, ended: bool = False, owner: str = "") -> None:
    """Raise a finding when the mask in an info would break training.

    Args:
        space: Of the actions.
        info: Of `reset` or `step`; without `action_mask` there is nothing to judge.
        at: Where it comes from, as in "step 1 of the episode with seed 0".
        ended: No action follows it, so that none needs to be legal.
        owner: Whose it is, as in "a's "; nobody's in particular when empty.
    """
    mask = info.get(KEY) if isinstance(info, dict) else None
    choices = choices_of(space)
    if mask is None or choices is None:
        return
    problem = _problem(space, choices, mask, ended=ended)
    if problem is not None:
        raise CheckFailed(f'{owner}info["{KEY}"] at {at} {problem}')


def _problem(space: Any, choices: list[int], mask: Any, *, ended: bool) -> str | None:
    try:
        array = np.asarray(mask)
    except ValueError:
        return "has parts of unequal length. Make it one flat array of 0 and 1."
    if array.dtype.kind not in "biuf":
        return f"is of {array.dtype}. Make it an array of np.int8, or of bool."
    if array.shape != (sum(choices),):
        if len(choices) == 1:
            return (
                f"has shape {array.shape} where there are {choices[0]} actions."
                " Give it one element for each action."
            )
        return (
            f"has shape {array.shape} where {space} has {sum(choices)} choices. Give it one element"
            " for each choice of every part, one part after the other, in one dimension."
        )
    if not np.isin(array, (0, 1)).all():
        return "holds other numbers than 1 (legal) and 0 (illegal)."
    for index, part in enumerate(np.split(array, np.cumsum(choices)[:-1])):
        if not part.any() and not ended:
            what = "action" if len(choices) == 1 else f"choice of part {index}"
            return f"forbids every {what}. Leave one legal, or end the episode."
    return None


def obey(space: Any, holder: Any) -> Any:
    """Return an action that the mask in `holder` allows; None when there is none to obey."""
    mask = holder.get(KEY) if isinstance(holder, dict) else None
    choices = choices_of(space)
    if mask is None or choices is None or _problem(space, choices, mask, ended=False) is not None:
        return None
    array = np.asarray(mask).astype(np.int8)
    if isinstance(space, spaces.Discrete):
        return space.sample(mask=array)
    if space.nvec.ndim != 1:
        return None
    return space.sample(mask=tuple(np.split(array, np.cumsum(choices)[:-1])))
