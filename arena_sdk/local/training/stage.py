"""Where members act: the environment copies of each slot and the episodes under way in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .observations import Batch
from .replay import Replay
from .seeds import Purpose, derive
from .tasks import Setup
from .team import TeamSpace, TeamVector
from .vectorize import ActionAdapter, MakeEnv, Step, TeamAdapter, Vector, make_adapter, make_vector


class Stage:
    """The copies of one slot. Episodes go on from one generation to the next.

    A member that takes over a slot finds episodes half played by another. It finishes them, but
    their returns are kept apart from those of its own.

    Attributes:
        scores: Returns of the present member's own episodes that ended.
        inherited: Returns of those that it finished for the one before.
    """

    def __init__(self, vector: Vector, adapter: ActionAdapter | TeamAdapter, seed: int) -> None:
        self.vector = vector
        self.scores: list[float] = []
        self.inherited: list[float] = []
        self._adapter = adapter
        self._owner: int | None = None
        self._returns = np.zeros(vector.count)
        self._foreign = np.zeros(vector.count, dtype=np.bool_)
        self.obs: Batch
        self.obs, self.mask = vector.reset(seed)

    def enter(self, member: int) -> None:
        """Hand the stage to a member."""
        self.scores, self.inherited = [], []
        if self._owner is not None and self._owner != member:
            self._foreign[:] = True
        self._owner = member

    def act(self, actions: Any) -> Step:
        """Step every copy with the agent's actions and note the episodes that end."""
        step = self.vector.step(self._adapter(actions))
        self._returns += step.reward
        ended = step.terminated | step.truncated
        if ended.any():
            self.scores.extend(self._returns[ended & ~self._foreign].tolist())
            self.inherited.extend(self._returns[ended & self._foreign].tolist())
            self._returns[ended] = 0.0
            self._foreign[ended] = False
        self.obs, self.mask = step.obs, step.mask
        return step


class Stages:
    """The stages of one process's slots, and copies to evaluate in.

    Copies in this process are cheap: every slot keeps its own. Copies that are processes are not:
    the slots of a process take turns with one set, beginning new episodes at every change.

    Attributes:
        recorded: The steps that an offline run learns from, once loaded.
    """

    def __init__(self, setup: Setup, make: MakeEnv) -> None:
        self._setup = setup
        self._make = make
        self._adapter = make_adapter(setup.action_space)
        self._stages: dict[int, Stage] = {}
        self._evaluation: Vector | None = None
        self.recorded: Replay | None = None

    def of(self, slot: int) -> Stage:
        """Return the stage of a slot, made at first use."""
        if slot not in self._stages:
            if self._setup.vectorization == "sync":
                vector = self._new_vector()
            else:
                vector = self._common_vector()
                self._stages.clear()
            seed = derive(self._setup.spec.seed, Purpose.ENVIRONMENT, slot, self._setup.seed_steps)
            self._stages[slot] = Stage(vector, self._adapter, seed)
        return self._stages[slot]

    def evaluation(self) -> tuple[Vector, ActionAdapter | TeamAdapter]:
        """Return copies to evaluate in and how to act in them."""
        if self._setup.vectorization == "async":
            self._stages.clear()  # their episodes end here
        return self._common_vector(), self._adapter

    def close(self) -> None:
        """Close every copy."""
        vectors = {id(stage.vector): stage.vector for stage in self._stages.values()}
        if self._evaluation is not None:
            vectors[id(self._evaluation)] = self._evaluation
        for vector in vectors.values():
            vector.close()

    def _new_vector(self) -> Vector:
        if isinstance(self._setup.action_space, TeamSpace):
            return TeamVector(self._make, self._setup.spec.num_envs)
        return make_vector(self._make, self._setup.spec.num_envs, self._setup.vectorization)

    def _common_vector(self) -> Vector:
        if self._evaluation is None:
            self._evaluation = self._new_vector()
        return self._evaluation
