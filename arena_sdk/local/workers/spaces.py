"""The worker that makes an environment only to describe its spaces.

Payload: `{"environment": reference}`. Result: `{"observation": tree, "action": tree,
"multi_agent": bool}`; of several agents a Dict by agent each.
"""

from __future__ import annotations

from typing import Any

from arena_sdk.local.workers.channel import Channel, WorkerError


def main(payload: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Make the environment.

    Raises:
        WorkerError: It cannot be made.
    """
    from arena_sdk.local.training.team import TeamEnv, as_one
    from arena_sdk.local.validation.loading import make_env, space_tree

    try:
        env = as_one(make_env(payload["environment"]))
        found = {
            "observation": space_tree(env.observation_space),
            "action": space_tree(env.action_space),
            "multi_agent": isinstance(env, TeamEnv),
        }
        env.close()
    except Exception as problem:
        reason = f"{type(problem).__name__}: {problem}".rstrip(". ")
        raise WorkerError(f"{reason}.", error_code="ENVIRONMENT_FAILED") from problem
    return found
