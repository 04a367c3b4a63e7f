"""What a request may say of several agents beside their observations: masks and given actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arena_sdk.local.training.team import TeamSpace

from .codec import BadRequest, decode_mask, to_array

Array = npt.NDArray[Any]


def decode_team_masks(payload: Any, space: TeamSpace, batch: int) -> dict[str, Array] | None:
    """Return action masks by agent; agents without one are left out.

    Args:
        payload: The JSON value under `action_mask`: an object by agent id, or null.
        space: The agents' action spaces.
        batch: How many observations there are of each.

    Raises:
        BadRequest: It is no such object, or a mask does not fit its space.
    """
    masks = {}
    for agent, given in _by_agent(payload, space, "action_mask").items():
        mask = decode_mask(given, space[agent], batch)
        if mask is not None:
            masks[agent] = mask
    return masks or None


def decode_team_actions(payload: Any, space: TeamSpace, batch: int) -> dict[str, Array]:
    """Return actions that an environment defines, by agent; NaN where the policy is to choose.

    Args:
        payload: The JSON value under `env_defined_actions`: an object by agent id.
        space: The agents' action spaces.
        batch: How many observations there are of each.

    Returns:
        float64 arrays of shape (batch, *action_space.shape).

    Raises:
        BadRequest: It is no such object, or an array does not fit its space.
    """
    actions = {}
    for agent, given in _by_agent(payload, space, "env_defined_actions").items():
        if given is None:
            continue
        where, wanted = f"env_defined_actions.{agent}", (batch, *space[agent].shape)
        array = to_array(given, where).astype(np.float64)
        if array.size != int(np.prod(wanted)):
            raise BadRequest(f"{where} has shape {array.shape}; expected {wanted}.")
        actions[agent] = array.reshape(wanted)
    return actions


def replaced(action: Array, chosen: Array | None) -> Array:
    """Return the policy's actions with those that were chosen, where they are not NaN."""
    if chosen is None:
        return action
    return np.where(np.isnan(chosen), action, chosen).astype(action.dtype)


def _by_agent(payload: Any, space: TeamSpace, where: str) -> dict[str, Any]:
    if payload is None:
        return {}
    if not isinstance(payload, dict):
        raise BadRequest(f"{where} must be a JSON object with the keys {', '.join(space.agents)}.")
    unknown = [agent for agent in payload if agent not in space.spaces]
    if unknown:
        raise BadRequest(
            f"{where}.{unknown[0]} is no agent here; there are {', '.join(space.agents)}."
        )
    return payload
