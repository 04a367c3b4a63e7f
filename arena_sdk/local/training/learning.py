"""From the replay buffer to one learning step of AgileRL's: plain, several steps, prioritized.

AgileRL's own learning steps take a batch and no weights, except Rainbow's. Prioritized replay needs
the error of every transition and weighs it; both happen where every one of these algorithms
compares values with targets, in the agent's `criterion`, which is exchanged while it trains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from .replay import Replay
from .spec import RunSpec

Learn = Callable[[int], None]
"""Makes one learning step; called with the environment steps made in this piece of work."""


@contextmanager
def make_learner(
    agent: Any, replay: Replay, spec: RunSpec, rng: np.random.Generator
) -> Iterator[Learn]:
    """Yield what makes one learning step of an agent.

    Args:
        agent: The agent.
        replay: What it learns from.
        spec: The run.
        rng: Draws what is replayed.
    """
    learner = Learner(agent, replay, spec, rng)
    if spec.algorithm == "Rainbow DQN":
        yield learner.rainbow
    elif replay.priorities is not None:
        with learner.weighted_criterion():
            yield learner.prioritized
    else:
        yield learner.plain


class Learner:
    """The learning steps of one agent from one buffer."""

    def __init__(self, agent: Any, replay: Replay, spec: RunSpec, rng: np.random.Generator) -> None:
        self._agent = agent
        self._replay = replay
        self._spec = spec
        self._rng = rng
        self._made_before = int(agent.steps)
        self._loss = WeightedSquares()

    def plain(self, steps: int) -> None:
        """Learn from transitions drawn uniformly."""
        agent, replay = self._agent, self._replay
        with replay.lock:
            rows, _ = replay.draw(agent.batch_size, self._rng, 0.0)
            batch = self._batch(rows)
        agent.learn(batch)

    def prioritized(self, steps: int) -> None:
        """Learn from transitions drawn by priority, and set their priorities to their errors."""
        agent, replay = self._agent, self._replay
        with replay.lock:
            rows, weights = replay.draw(agent.batch_size, self._rng, self._beta(steps))
            batch = self._batch(rows)
        self._loss.expect(torch.from_numpy(weights))
        agent.learn(batch)
        self._prioritize(rows, self._loss.errors() + self._spec.prior_eps)

    def rainbow(self, steps: int) -> None:
        """Learn as Rainbow does: from one step, from several, by priority, as asked for."""
        agent, replay = self._agent, self._replay
        by_priority = replay.priorities is not None
        with replay.lock:
            rows, weights = replay.draw(agent.batch_size, self._rng, self._beta(steps))
            batch = replay.transitions(rows)
            batch["weights"] = torch.from_numpy(weights)
            batch["idxs"] = torch.from_numpy(rows)
            ahead = None
            if replay.n_step > 1:
                ahead = replay.steps_ahead(rows, float(agent.gamma), power=int(agent.n_step))
        _, _, priorities = agent.learn(batch, n_experiences=ahead, per=by_priority)
        if by_priority:
            self._prioritize(rows, np.asarray(priorities))

    @contextmanager
    def weighted_criterion(self) -> Iterator[None]:
        """Have the agent compare by `WeightedSquares` for a while."""
        own = self._agent.criterion
        self._agent.criterion = self._loss
        try:
            yield
        finally:
            self._agent.criterion = own

    def _batch(self, rows: Any) -> Any:
        if self._replay.n_step > 1:
            return self._replay.steps_ahead(rows, float(self._agent.gamma))
        return self._replay.transitions(rows)

    def _prioritize(self, rows: Any, priorities: Any) -> None:
        assert self._replay.priorities is not None
        with self._replay.lock:
            self._replay.priorities.update(rows, priorities)

    def _beta(self, steps: int) -> float:
        """Return how much of the bias is taken back: all of it by the end of the run."""
        begin = float(getattr(self._agent, "beta", self._spec.beta))
        part = min(1.0, (self._made_before + steps) / self._spec.max_steps)
        return begin + part * (1.0 - begin)


class WeightedSquares(torch.nn.Module):  # type: ignore[misc]
    """A weighted mean of squared errors that remembers the errors."""

    def __init__(self) -> None:
        super().__init__()
        self._weights = torch.ones(1)
        self._errors: list[Any] = []

    def expect(self, weights: torch.Tensor) -> None:
        """Take the weights of the next batch, (rows,), and forget the errors of the last."""
        self._weights = weights[:, None]
        self._errors = []

    def forward(self, values: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return the loss of values and targets, (rows, 1) each."""
        error = values - targets
        self._errors.append(error.detach().abs().cpu().numpy()[:, 0])
        loss: torch.Tensor = (self._weights * error.square()).mean()
        return loss

    def errors(self) -> Any:
        """Return the error of every row of the batch, (rows,): the mean over twin critics."""
        return np.mean(self._errors, axis=0)
