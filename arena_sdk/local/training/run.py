"""A run from its first generation, or from a checkpoint, to its end: the coordinator.

A generation: train all members, evaluate them, evolve, write the checkpoint, tell of it. What is
told of a generation is in the checkpoint that is written before it is told, so that a run which
was cut off at any point tells it (again) when it is resumed, and nothing is lost.
"""

from __future__ import annotations

import copy
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import experience, metrics, saving
from .divergence import refuse_divergence
from .errors import MembersLost, StopTimeout
from .executor import Executor
from .load import gpu_load
from .population import MemberRecord, Population
from .saving import EVALUATED, EVOLVED, TRAINING, Best, Saved
from .seeds import Purpose, derive
from .tasks import EvalTask, Setup, TrainReport, TrainTask

Emit = Callable[[dict[str, Any]], None]

RESTARTS = 3
"""How often a member is restarted in a generation before its loss ends the run."""

EXPERIENCE_EVERY = 30.0
"""Seconds between two writings of the replay buffers; they are also written at a stop."""


class Run:
    """One run on one executor.

    Args:
        setup: The run and its environment.
        executor: Started already.
        folder: Where its checkpoints are.
        emit: Sends a message to the server.
        asked_to_stop: True once the user wants it stopped.
        saved: What to go on from; None to begin.
        stop_on_divergence: End it with an error once all members have diverged.
    """

    def __init__(
        self,
        setup: Setup,
        executor: Executor,
        folder: Path,
        emit: Emit,
        asked_to_stop: Callable[[], bool],
        saved: Saved | None,
        *,
        stop_on_divergence: bool = False,
    ) -> None:
        self._setup = setup
        self._spec = setup.spec
        self._executor = executor
        self._folder = folder
        self._emit = emit
        self._stop_on_divergence = stop_on_divergence
        self._asked_to_stop = asked_to_stop
        self._begun = time.monotonic()
        self._elapsed_before = saved.elapsed if saved else 0.0
        self._experience_due = self._begun + EXPERIENCE_EVERY
        self._warned_of_length = False
        self.meter = metrics.ProgressMeter(emit)
        self._marks: list[MemberRecord] = []
        self._loads: dict[int, dict[str, float]] = {}
        self._losses: Counter[int] = Counter()
        self._generation = 1
        self._message: dict[str, Any] | None = None
        self._unevolved = False
        self._last_checkpoint: dict[str, Any] | None = None
        if saved is None:
            self.population = Population.first(
                setup.spec, setup.observation_space, setup.action_space
            )
        else:
            self.population = self._restore(saved)

    def stopping(self) -> bool:
        """Whether members are to stop at their next step."""
        return self._asked_to_stop() or self._out_of_time()

    def complete(self) -> dict[str, Any]:
        """Train until something ends the run; return the job's result.

        Raises:
            TrainingError: A member failed or a checkpoint could not be written.
        """
        if self._message is not None:
            self._emit(self._message)
        reason = self._reason_to_end()
        while reason is None:
            try:
                reason = self._one_generation()
            except StopTimeout:
                return self._give_up_generation()
        return self._result(reason)

    def keep_unbegun(self) -> dict[str, Any]:
        """Write the first population as a checkpoint; return the result of a stopped run."""
        self._save_stopped()
        return self._result("stop")

    def _one_generation(self) -> str | None:
        """Train, evaluate, evolve, save and tell; return why the run ends with it, if it does."""
        if self._unevolved:
            self.population.evolve(self._generation - 1)
            self._unevolved = False
        self._mark()
        if not self._finish_generation():
            self._save_stopped()
            return "stop" if self._asked_to_stop() else "max_wall_seconds"
        self._end_generation()
        if self._stop_on_divergence and self._message is not None:
            refuse_divergence(self._message)
        return self._reason_to_end()

    def _finish_generation(self) -> bool:
        """Train and evaluate all members, and fetch them; return whether that was finished.

        Members that are lost meanwhile are taken up again from where they were last fetched.
        """
        while True:
            try:
                finished = self._train() and self._evaluate()
                self._collect_agents()
                return finished
            except MembersLost as loss:
                self._take_up_again(loss)

    def _mark(self) -> None:
        """Note how members stand whose agents are known: what a lost one goes back to."""
        self._marks = copy.deepcopy(self.population.members)

    def _take_up_again(self, loss: MembersLost) -> None:
        """Put lost members back to where they were last fetched, to be sent out again.

        Raises:
            TrainingError: One of them was lost too often in this generation.
        """
        population = self.population
        for report in (r for answer in loss.answers if isinstance(answer, list) for r in answer):
            if isinstance(report, TrainReport):
                self._note_training(report)
        self._losses.update(loss.slots)
        if max(self._losses[slot] for slot in loss.slots) > RESTARTS:
            raise loss.problem
        for slot in loss.slots:
            mark = copy.deepcopy(self._marks[slot])
            population.total_steps -= population.members[slot].steps - mark.steps
            population.members[slot] = mark
            population.fresh.add(mark.member)
        members = ", ".join(str(self._marks[slot].member) for slot in loss.slots)
        times = max(self._losses[slot] for slot in loss.slots)
        self._warn(
            f"{loss.problem} Restarted member{'s' if len(loss.slots) > 1 else ''} {members} from"
            f" the last state (restart {times} of at most {RESTARTS} in generation"
            f" {self._generation})."
        )
        try:
            problems = self._executor.restart(self._folder / experience.FOLDER)
        except MembersLost as again:
            self._take_up_again(again)
            return
        for problem in problems:
            self._warn(problem)

    def _train(self) -> bool:
        """Train all members for the rest of the generation; return whether it was finished."""
        while tasks := self._tasks():
            self.meter.begin(self._generation, self.population)
            for report in self._executor.train_generation(tasks):
                self._note_training(report)
            if self.stopping():
                return False
            if self._tasks():
                self._collect_agents()
                self._save_under_way()
        return True

    def _note_training(self, report: TrainReport) -> None:
        self.population.note_training(report)
        self._loads[report.member] = report.load

    def _tasks(self) -> list[TrainTask]:
        """Return what each member has still to do up to the next save; none when all is done."""
        tasks = []
        most = self._spec.checkpoint_steps or self._spec.evo_steps
        for record in self.population.members:
            made = record.effort.steps
            left = min(self._spec.evo_steps, self._spec.max_steps - record.steps + made) - made
            if left <= 0:
                continue
            seed = derive(
                self._spec.seed, Purpose.TRAIN, self._generation, record.member, record.steps
            )
            tasks.append(
                TrainTask(
                    slot=record.slot,
                    member=record.member,
                    agent=self._agent_to_send(record.member),
                    steps=min(left, most - made % most),
                    epsilon=record.epsilon,
                    seed=seed,
                )
            )
        return tasks

    def _agent_to_send(self, member: int) -> Any:
        return self.population.agents[member] if member in self.population.fresh else None

    def _evaluate(self) -> bool:
        """Evaluate all members; return whether that was finished."""
        self._place_untrained()
        seed = derive(self._spec.seed, Purpose.EVALUATE, self._generation)
        tasks = [EvalTask(record.slot, seed) for record in self.population.members]
        reports = self._executor.evaluate(tasks)
        if any(report.fitness is None for report in reports):
            return False
        for report in reports:
            self.population.note_fitness(report)
        self._warn_of_length(sum(r.cut_off for r in reports), sum(r.episodes for r in reports))
        return True

    def _place_untrained(self) -> None:
        """Send members to their slots that had nothing to train before their evaluation."""
        waiting = [r for r in self.population.members if r.member in self.population.fresh]
        tasks = [
            TrainTask(r.slot, r.member, self.population.agents[r.member], 0, r.epsilon, 0)
            for r in waiting
        ]
        if tasks:
            for report in self._executor.train_generation(tasks):
                self.population.note_training(report)

    def _collect_agents(self) -> None:
        """Fetch the agents of all members that have been in their slots."""
        slots = [r.slot for r in self.population.members if r.member not in self.population.fresh]
        for slot, agent in self._executor.state(slots).items():
            self.population.agents[self.population.members[slot].member] = agent
        self._mark()

    def _end_generation(self) -> None:
        """Evolve if the run goes on, write the checkpoint, tell of the generation."""
        population, generation = self.population, self._generation
        message = metrics.generation_message(generation, population)
        gpu = gpu_load()
        for member in message["members"]:
            member["load"] = {**self._loads.get(member["member"], {}), **gpu}
        self._loads.clear()
        best = Best.of(population, evaluated=True)
        steps = population.steps
        phase = EVALUATED
        if self._reason_to_end(evaluated=True) is None:
            population.evolve(generation)
            phase = EVOLVED
        message["checkpoint"] = self._save(best, steps, generation, phase, message)
        self._message = message
        self._emit(message)
        self._generation += 1
        self._losses.clear()
        self._unevolved = phase == EVALUATED
        if time.monotonic() >= self._experience_due:
            self._save_experience()

    def _save_under_way(self) -> None:
        """Write a checkpoint in the middle of a generation and tell of it."""
        best = Best.of(self.population, evaluated=False)
        checkpoint = self._save(
            best, self.population.mean_steps, self._generation, TRAINING, self._message
        )
        self._emit({"kind": "checkpoint", **checkpoint})

    def _save_stopped(self) -> None:
        """Write the checkpoint of a stop, unless one holds all of this already."""
        if self._last_checkpoint is None or any(r.effort.steps for r in self.population.members):
            self._save_under_way()
        self._save_experience()

    def _save(
        self,
        best: Best,
        steps: int,
        generation: int,
        phase: str,
        message: dict[str, Any] | None,
    ) -> dict[str, Any]:
        self._last_checkpoint = saving.save(
            self._folder,
            self._setup,
            self.population,
            best,
            steps=steps,
            generation=generation,
            phase=phase,
            message=message,
            elapsed=self._elapsed(),
        )
        return self._last_checkpoint

    def _save_experience(self) -> None:
        self._mark()
        try:
            problems = self._executor.save_experience(self._folder / experience.FOLDER)
        except MembersLost as loss:
            self._take_up_again(loss)
            problems = []
        for problem in problems:
            self._warn(problem)
        self._experience_due = time.monotonic() + EXPERIENCE_EVERY

    def _restore(self, saved: Saved) -> Population:
        """Take up a saved run; its replay buffers too."""
        self._message = saved.message
        under_way = saved.phase == TRAINING
        self._generation = saved.generation if under_way else saved.generation + 1
        self._unevolved = saved.phase == EVALUATED
        self._last_checkpoint = {"path": str(saved.path)}
        for problem in self._executor.load_experience(self._folder / experience.FOLDER):
            self._warn(problem)
        return Population.restored(self._spec, saved.population, saved.agents)

    def _reason_to_end(self, *, evaluated: bool = False) -> str | None:
        """Return why the run is over after the generation that ended, or None.

        Args:
            evaluated: Asked between the evaluation and the evolution of a generation.
        """
        target, population = self._spec.target_score, self.population
        ended = evaluated or self._unevolved
        fitness = population.best().fitness
        if ended and target is not None and fitness is not None and fitness >= target:
            return "target_score"
        if population.steps >= self._spec.max_steps and (ended or not self._tasks()):
            return "max_steps"
        return "max_wall_seconds" if ended and self._out_of_time() else None

    def _give_up_generation(self) -> dict[str, Any]:
        """End without what members did since the last checkpoint: one of them does not answer."""
        self._warn(
            "A member did not stop in time, probably inside of one long step; "
            "the steps since the last checkpoint are not kept."
        )
        if self._last_checkpoint is None:
            fresh = Population.first(
                self._spec, self._setup.observation_space, self._setup.action_space
            )
            self.population = fresh
            self._save_under_way()
        return self._result("stop" if self._asked_to_stop() else "max_wall_seconds")

    def _result(self, reason: str) -> dict[str, Any]:
        return {
            "state": "stopped" if reason == "stop" else "completed",
            "reason": reason,
            "steps": self.population.steps,
            "best_fitness": self.population.best().fitness,
        }

    def _warn(self, message: str) -> None:
        self._emit({"kind": "warning", "message": message})

    def _warn_of_length(self, cut_off: int, episodes: int) -> None:
        if not cut_off or self._warned_of_length or self._spec.eval_steps is not None:
            return
        self._warned_of_length = True
        self._warn(
            f"{cut_off} of {episodes} evaluation episodes had not ended after "
            f"{self._setup.eval_limit:,} steps and were cut off. Give the environment a time "
            "limit, or set training.eval_steps."
        )

    def _elapsed(self) -> float:
        return self._elapsed_before + time.monotonic() - self._begun

    def _out_of_time(self) -> bool:
        limit = self._spec.max_wall_seconds
        return limit is not None and self._elapsed() >= limit
