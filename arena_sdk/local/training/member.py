"""One slot of the population in the process that hosts it: an agent, its stage, its replay."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from . import (
    agents,
    bandit,
    evaluation,
    off_policy,
    offline,
    on_policy,
    on_policy_recurrent,
    on_policy_team,
)
from .agents import AgentState
from .bandit_env import context_space
from .catalogue import ALGORITHMS, Family
from .errors import Stopped, TrainingError
from .replay import Replay
from .seeds import seed_everything
from .spec import captures_dormancy
from .stage import Stages
from .tasks import EvalReport, EvalTask, Setup, TrainReport, TrainTask

REPORT_EVERY = 0.5
"""Seconds between reports of progress."""


class Member:
    """Trains and evaluates whichever member is in its slot."""

    def __init__(self, setup: Setup, stages: Stages, replay: Replay | None) -> None:
        self.replay = replay
        self._setup = setup
        self._family = ALGORITHMS[setup.spec.algorithm].family
        if self._family is Family.BANDIT:
            contexts = context_space(setup.observation_space)
            self.replay = Replay(setup.spec.buffer_size, contexts, setup.action_space)
        self._stages = stages
        self._agent: Any = None

    def train_generation(
        self, task: TrainTask, stopped: Callable[[], bool], progress: Callable[[int], None]
    ) -> TrainReport:
        """Train the member for the task's steps, or until the run is being stopped."""
        if task.agent is not None:
            self._agent = agents.restore(task.agent, task.member)
            agents.speed_up(self._agent)
        agent, spec = self._agent, self._setup.spec
        try:
            if stopped():
                raise Stopped
            stage = self._stages.of(task.slot)
        except Stopped:
            return _not_begun(task, agents.hyperparameters(agent))
        stage.enter(task.member)
        rng = seed_everything(task.seed)
        agent.set_training_mode(True)
        agent.init_training_step()
        watch = _Watch(stopped, progress)
        dormancy = captures_dormancy(spec)
        begun = time.perf_counter()
        epsilon = task.epsilon
        if self._family is Family.ROLLOUT:
            steps = self._way(spec.algorithm).train(agent, stage, task, watch, dormancy=dormancy)
        elif self._family is Family.OFFLINE:
            recorded = self._recorded()
            steps = offline.train(agent, recorded, task, rng, watch, dormancy=dormancy)
        elif self.replay is None:
            raise TrainingError(f"{spec.algorithm} needs a replay buffer.")
        elif self._family is Family.BANDIT:
            steps = bandit.train(agent, stage, self.replay, task, rng, watch, dormancy=dormancy)
        else:
            steps, epsilon = off_policy.train(
                agent, stage, self.replay, spec, task, rng, watch, dormancy=dormancy
            )
        agent.finalize_training_step(steps)
        return TrainReport(
            slot=task.slot,
            member=task.member,
            steps=steps,
            scores=stage.scores or stage.inherited,
            losses=_losses(agent) | _gradient_norm(agent),
            seconds=time.perf_counter() - begun,
            epsilon=epsilon,
            stopped=steps < task.steps,
            hyperparameters=agents.hyperparameters(agent),
        )

    def evaluate(self, task: EvalTask, stopped: Callable[[], bool]) -> EvalReport:
        """Evaluate the member that is in the slot."""
        spec = self._setup.spec
        try:
            vector, adapter = self._stages.evaluation()
        except Stopped:
            return EvalReport(task.slot, None, 0, 0)
        seed_everything(task.seed)
        played = evaluation.evaluate(
            self._agent,
            vector,
            adapter,
            loops=spec.eval_loop,
            limit=self._setup.eval_limit,
            seed=task.seed,
            stopped=stopped,
        )
        if played is None:
            return EvalReport(task.slot, None, 0, 0)
        fitness = played.fitness
        self._agent.metrics.add_fitness(fitness)
        episodes = len(played.returns)
        return EvalReport(task.slot, fitness, episodes, played.cut_off, played.statistics())

    @staticmethod
    def _way(name: str) -> Any:
        """Return how rollouts of an algorithm are made and learned from."""
        algorithm = ALGORITHMS[name]
        if algorithm.multi_agent:
            return on_policy_team
        return on_policy_recurrent if algorithm.recurrent else on_policy

    def _recorded(self) -> Replay:
        """Return the recorded steps of an offline run, which the members of a process share."""
        kept = self._stages.recorded
        if kept is None:
            setup = self._setup
            dataset = setup.environment["dataset"]
            kept = offline.load(dataset, setup.observation_space, setup.action_space)
            self._stages.recorded = kept
        return kept

    def state(self) -> AgentState:
        """Return the member's agent."""
        return agents.dump(self._agent)


class _Watch:
    """Asked at every vector step: reports progress now and then, says when to stop."""

    def __init__(self, stopped: Callable[[], bool], progress: Callable[[int], None]) -> None:
        self._stopped = stopped
        self._progress = progress
        self._next = time.monotonic() + REPORT_EVERY

    def __call__(self, steps: int) -> bool:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + REPORT_EVERY
            self._progress(steps)
        return self._stopped()


def _not_begun(task: TrainTask, hyperparameters: dict[str, float | int]) -> TrainReport:
    """Return the report of a member that made no step, as the run is being stopped."""
    return TrainReport(
        slot=task.slot,
        member=task.member,
        steps=0,
        scores=[],
        losses={},
        seconds=0.0,
        epsilon=task.epsilon,
        stopped=True,
        hyperparameters=hyperparameters,
    )


def _losses(agent: Any) -> dict[str, float]:
    """Return the mean of each loss that was logged, and forget them; over agents where several."""
    from agilerl.metrics import MultiAgentMetrics

    metrics = agent.metrics
    several = isinstance(metrics, MultiAgentMetrics)  # by network, also where agents share
    losses = {}
    for name in metrics.additional_metrics:
        if several:
            means = [metrics.get_mean(name, network) for network in agent.observation_space]
        else:
            means = [metrics.get_mean(name)]
        known = [mean for mean in means if mean == mean]  # no value logged reads as NaN
        if known:
            losses[name] = sum(known) / len(known)
    metrics.clear()
    return losses


def _gradient_norm(agent: Any) -> dict[str, float]:
    """Return the norm of the policy's gradient at its last learning step, if it made one.

    AgileRL keeps no record of gradients; what a step leaves in the parameters is after clipping.
    """
    policy = getattr(agent, agent.registry.policy())
    squares = [float(p.grad.square().sum()) for p in policy.parameters() if p.grad is not None]
    return {"gradient_norm": sum(squares) ** 0.5} if squares else {}
