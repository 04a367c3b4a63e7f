"""How good a member is: the mean return of its deterministic policy, within a limit of steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .spec import RunSpec
from .vectorize import ActionAdapter, TeamAdapter, Vector

LEAST_LIMIT = 1_000
"""Steps that an evaluation episode may always take where neither manifest nor environment says."""


def step_limit(spec: RunSpec, max_episode_steps: int | None) -> int:
    """Return after how many steps an evaluation episode is cut off.

    `eval_steps` says so; else the environment's own time limit ends episodes first; else an
    evaluation is given about as many steps as a generation of training takes.
    """
    if spec.eval_steps is not None:
        return spec.eval_steps
    if max_episode_steps is not None:
        return max_episode_steps + 1
    return max(LEAST_LIMIT, spec.evo_steps // spec.num_envs)


@dataclass(frozen=True)
class Evaluation:
    """The episodes of an evaluation.

    Attributes:
        returns: Of each episode.
        lengths: Steps of each.
        cut_off: How many the step limit ended.
    """

    returns: list[float]
    lengths: list[int]
    cut_off: int

    @property
    def fitness(self) -> float:
        """The mean return."""
        return float(np.mean(self.returns))

    def statistics(self) -> dict[str, float]:
        """Return what is told of the episodes beside the mean return.

        `evaluation_std`, `evaluation_min` and `evaluation_max` are of their returns,
        `evaluation_length` is their mean number of steps, `evaluation_episodes` how many there
        were.
        """
        return {
            "evaluation_std": float(np.std(self.returns)),
            "evaluation_min": float(np.min(self.returns)),
            "evaluation_max": float(np.max(self.returns)),
            "evaluation_length": float(np.mean(self.lengths)),
            "evaluation_episodes": float(len(self.returns)),
        }


def evaluate(
    agent: Any,
    vector: Vector,
    adapter: ActionAdapter | TeamAdapter,
    *,
    loops: int,
    limit: int,
    seed: int,
    stopped: Callable[[], bool],
) -> Evaluation | None:
    """Play one episode in every copy, `loops` times over, with the policy that would be served.

    Args:
        agent: An AgileRL agent; left in evaluation mode.
        vector: Environment copies, reset from `seed`: members of one generation are compared on
            the same episodes.
        adapter: Turns actions into the environment's.
        loops: `training.eval_loop`.
        limit: Steps after which an episode is cut off; what it has returned so far counts.
        seed: Of the first copy.
        stopped: True when the run is being stopped.

    Returns:
        What came of it; None when stopped.
    """
    from arena_sdk.local.serving.policy import RecurrentPolicy, make_policy

    policy = make_policy(agent)
    returns: list[float] = []
    lengths: list[int] = []
    cut_off = 0
    for loop in range(loops):
        if isinstance(policy, RecurrentPolicy):
            policy.begin()
        obs, mask = vector.reset(seed + loop * vector.count)
        total = np.zeros(vector.count)
        playing = np.ones(vector.count, dtype=np.bool_)
        length = np.zeros(vector.count, dtype=np.int64)
        for _ in range(limit):
            if stopped():
                return None
            step = vector.step(adapter(policy(obs, mask)))
            total[playing] += step.reward[playing]
            length += playing
            playing &= ~(step.terminated | step.truncated)
            if not playing.any():
                break
            obs, mask = step.obs, step.mask
        returns.extend(total.tolist())
        lengths.extend(length.tolist())
        cut_off += int(playing.sum())
    return Evaluation(returns, lengths, cut_off)
