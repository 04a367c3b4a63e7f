"""Experience replay as plain arrays: cheap to add to, cheap to sample, private or shared.

AgileRL's buffer makes a TensorDict of every step, which costs more than stepping CartPole. Here a
step is a few row copies into preallocated arrays, and only the sampled rows become the TensorDict
that AgileRL's `learn` takes. When members share experience the arrays lie in memory that their
processes inherited, behind a lock.
"""

from __future__ import annotations

import mmap
import multiprocessing
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from tensordict import TensorDict

from . import observations
from .observations import Batch
from .priorities import Priorities
from .team import TeamStep
from .vectorize import Step

Array = npt.NDArray[Any]

SIZE, CURSOR, ADDED = range(3)
"""Places in the buffer's counters."""
NOTHING = -1
"""What a step follows that is the first of its episode."""


class Replay:
    """A ring of transitions: observation, action, reward, terminated, next observation.

    Rows of observations keep the space's own dtype (an image stays uint8), so a buffer of 100,000
    LunarLander transitions takes 8 MB. `terminated` is 1.0 only where the episode truly ended: a
    truncated step is bootstrapped from.

    Args:
        capacity: Transitions held; the oldest are overwritten.
        observation_space: Space of one observation.
        action_space: Space of one action, as the algorithm learns from it; a Dict by agent for
            several agents, whose actions, rewards and ends are then kept and given by agent.
        shared: Put everything into memory that processes forked later share.
        n_step: Steps that `steps_ahead` may look ahead; 1 keeps no track of what followed what.
        alpha: How much priorities count when rows are drawn; None draws uniformly.
    """

    def __init__(
        self,
        capacity: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        *,
        shared: bool = False,
        n_step: int = 1,
        alpha: float | None = None,
    ) -> None:
        self.capacity = capacity
        self.shared = shared
        self.n_step = n_step
        self._like = observations.first_of(observation_space)
        self.lock: AbstractContextManager[Any] = (
            multiprocessing.get_context("fork").RLock() if shared else nullcontext()
        )
        self._counters = _zeros((3,), np.dtype(np.int64), shared)
        like = observations.leaves(self._like)
        self._obs = [_zeros((capacity, *leaf.shape[1:]), leaf.dtype, shared) for leaf in like]
        self._next = [_zeros((capacity, *leaf.shape[1:]), leaf.dtype, shared) for leaf in like]
        action = _flat(observations.first_of(action_space))
        self._agents = _widths(action_space)
        each = max(1, len(self._agents))
        self._action = _zeros((capacity, action.shape[1]), action.dtype, shared)
        self._reward = _zeros((capacity, each), np.dtype(np.float32), shared)
        self._done = _zeros((capacity, each), np.dtype(np.float32), shared)
        self._follows: list[Array] = []
        if n_step > 1:
            self._follows = [_zeros((capacity, 1), np.dtype(np.int64), shared)]
        self.priorities: Priorities | None = None
        if alpha is not None:
            self.priorities = Priorities(
                capacity, alpha, lambda shape, dtype: _zeros(shape, dtype, shared)
            )

    def __len__(self) -> int:
        return int(self._counters[SIZE])

    @property
    def columns(self) -> list[Array]:
        """All arrays, first axis the transition."""
        facts = [self._action, self._reward, self._done]
        return [*self._obs, *self._next, *facts, *self._follows]

    @property
    def row_bytes(self) -> int:
        """Bytes of one transition."""
        return sum(column[:1].nbytes for column in self.columns)

    def add(self, obs: Batch, action: Batch, step: Step, after: Array | None = None) -> Array:
        """Store one step of every environment copy.

        Args:
            obs: What was acted on.
            action: What the algorithm is to learn from as its action.
            step: What came of it.
            after: What the last `add` for these copies returned; None at the beginning.

        Returns:
            Numbers of the new transitions, to be given as `after` next time.
        """
        count = len(step.reward)
        with self.lock:
            cursor = int(self._counters[CURSOR])
            rows: Any = slice(cursor, cursor + count)
            if cursor + count > self.capacity:
                rows = np.arange(cursor, cursor + count) % self.capacity
            for column, leaf in zip(self._obs, observations.leaves(obs), strict=True):
                column[rows] = leaf
            for column, leaf in zip(self._next, observations.leaves(step.next_obs), strict=True):
                column[rows] = leaf
            self._action[rows] = _flat(action)
            if isinstance(step, TeamStep):
                self._reward[rows], self._done[rows] = step.rewards, step.dones
            else:
                self._reward[rows, 0], self._done[rows, 0] = step.reward, step.terminated
            numbers = int(self._counters[ADDED]) + np.arange(count)
            self._link(rows, numbers, after)
            if self.priorities is not None:
                self.priorities.add(numbers % self.capacity)
            self._advance(cursor, count)
        # Nothing follows the last step of an episode.
        return np.where(step.terminated | step.truncated, NOTHING, numbers)

    def sample(self, count: int, rng: np.random.Generator) -> TensorDict:
        """Return transitions drawn uniformly with replacement, as AgileRL's `learn` takes them."""
        with self.lock:
            return self.transitions(rng.integers(0, len(self), size=count))

    def draw(self, count: int, rng: np.random.Generator, beta: float) -> tuple[Array, Array]:
        """Return rows drawn with replacement, and the importance weight of each.

        Args:
            count: How many.
            rng: Draws them.
            beta: How much of the bias of prioritized drawing the weights take back, 0 to 1.
        """
        if self.priorities is None:
            rows = rng.integers(0, len(self), size=count)
            return rows, np.ones(count, dtype=np.float32)
        rows = self.priorities.draw(count, len(self), rng)
        return rows, self.priorities.weights(rows, len(self), beta)

    def transitions(self, rows: Array) -> TensorDict:
        """Return the transitions in the given rows."""
        return self._batch(rows, rows, self._reward[rows], self._done[rows])

    def steps_ahead(self, rows: Array, gamma: float, power: int = 1) -> TensorDict:
        """Return transitions over up to `n_step` steps of the same episode.

        The reward is the discounted sum. A sum may be over fewer steps (at the end of an episode,
        or where the rest is yet to come); "done" is then a fraction, chosen so that a learner
        which multiplies the worth of the next observation by (1 - done) and by gamma ** `power`
        discounts it by the very steps that were made.

        Args:
            rows: The first row of each.
            gamma: Discount of one step.
            power: Of gamma in the learner.
        """
        last = np.array(rows)
        total = self._reward[rows].copy()
        made = np.ones(len(rows), dtype=np.int64)
        going = np.ones(len(rows), dtype=np.bool_)
        for step in range(1, self.n_step):
            follower = self._follows[0][last, 0] - 1
            going &= follower >= 0
            if not going.any():
                break
            last = np.where(going, follower % self.capacity, last)
            total += np.where(going, gamma**step, 0.0)[:, None] * self._reward[last]
            made += going
        stretch = np.power(gamma, (made - power).astype(np.float64)) if gamma > 0 else made * 0.0
        done = 1.0 - stretch[:, None] * (1.0 - self._done[last])
        return self._batch(rows, last, total.astype(np.float32), done.astype(np.float32))

    def recent(self, count: int) -> list[Array]:
        """Return copies of the columns with the latest transitions, oldest first."""
        with self.lock:
            count = min(count, len(self))
            first = int(self._counters[ADDED]) - count
            rows = (first + np.arange(count)) % self.capacity
            columns = [column[rows] for column in self.columns]
        if self._follows:
            columns[-1] = np.maximum(columns[-1] - first, 0)
        return columns

    def fill(self, columns: list[Array]) -> None:
        """Put transitions back, as `recent` gave them.

        Raises:
            ValueError: They are not of this environment.
        """
        own = self.columns
        if [c.shape[1:] for c in columns] != [c.shape[1:] for c in own]:
            raise ValueError("the stored transitions have other shapes")
        count = min(len(columns[0]), self.capacity)
        dropped = len(columns[0]) - count
        with self.lock:
            for target, column in zip(own, columns, strict=True):
                target[:count] = column[dropped:]
            if self._follows:
                self._follows[0][:count] = np.maximum(self._follows[0][:count] - dropped, 0)
            self._counters[:] = (count, count % self.capacity, count)
            if self.priorities is not None and count:
                self.priorities.add(np.arange(count))

    def _link(self, rows: Any, numbers: Array, after: Array | None) -> None:
        """Note which transitions these follow. Kept as number + 1, so that 0 says none."""
        if not self._follows:
            return
        follows = self._follows[0]
        follows[rows] = 0
        if after is None:
            return
        oldest = int(self._counters[ADDED]) + len(after) - self.capacity
        kept = (after != NOTHING) & (after >= oldest)
        follows[after[kept] % self.capacity, 0] = numbers[kept] + 1

    def _advance(self, cursor: int, count: int) -> None:
        self._counters[CURSOR] = (cursor + count) % self.capacity
        self._counters[SIZE] = min(self.capacity, int(self._counters[SIZE]) + count)
        self._counters[ADDED] += count

    def _batch(self, rows: Array, last: Array, reward: Array, done: Array) -> TensorDict:
        return TensorDict(
            {
                "obs": self._tensors(self._obs, rows),
                "action": self._by_agent(self._action[rows], self._agents),
                "reward": self._by_agent(reward, dict.fromkeys(self._agents, 1)),
                "next_obs": self._tensors(self._next, last),
                "done": self._by_agent(done, dict.fromkeys(self._agents, 1)),
            },
            batch_size=[len(rows)],
        )

    def _by_agent(self, values: Array, widths: dict[str, int]) -> Any:
        """Return values as a tensor, of several agents as one each with its part of the width."""
        tensor = torch.from_numpy(values)
        if not widths:
            return tensor
        parts = tensor.split(list(widths.values()), dim=1)
        return TensorDict(dict(zip(widths, parts, strict=True)), batch_size=[len(values)])

    def _tensors(self, columns: list[Array], rows: Array) -> Any:
        flat = [torch.from_numpy(column[rows]) for column in columns]
        batch = observations.as_agent_input(observations.unflatten(self._like, flat))
        return TensorDict(batch, batch_size=[len(rows)]) if isinstance(batch, dict) else batch


def _flat(action: Batch) -> Array:
    """Return a batch of actions as rows: several agents' beside each other."""
    leaves = observations.leaves(action)
    return np.concatenate([np.asarray(leaf).reshape(len(leaf), -1) for leaf in leaves], axis=1)


def _widths(space: spaces.Space[Any]) -> dict[str, int]:
    """Return how many numbers an action of each agent is; {} where there is one agent."""
    if not isinstance(space, spaces.Dict):
        return {}
    return {agent: max(1, int(np.prod(part.shape))) for agent, part in space.spaces.items()}


def _zeros(shape: tuple[int, ...], dtype: np.dtype[Any], shared: bool) -> Array:
    """Return zeros; untouched pages of either kind take no memory."""
    if not shared:
        return np.zeros(shape, dtype=dtype)
    size = max(1, int(np.prod(shape)) * dtype.itemsize)
    return np.frombuffer(mmap.mmap(-1, size), dtype=dtype, count=int(np.prod(shape))).reshape(shape)
