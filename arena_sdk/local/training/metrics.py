"""The messages of a run, as the server stores and shows them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .population import MemberRecord, Population

PROGRESS_EVERY = 0.5
"""Seconds between two progress messages, at least."""


def member_message(record: MemberRecord) -> dict[str, Any]:
    """Return what is told of a member at the end of a generation.

    `steps_per_second` counts environment steps over the time the member trained, `score` is the
    mean return of training episodes, `fitness` that of the evaluation.
    """
    effort = record.effort
    return {
        "member": record.member,
        "parent": record.parent,
        "mutation": record.mutation,
        "steps": record.steps,
        "episodes": record.episodes,
        "fitness": record.fitness,
        "score": record.score,
        "steps_per_second": round(effort.steps / effort.seconds, 1) if effort.seconds else 0.0,
        "evaluation": dict(record.evaluation),
        "losses": dict(effort.losses),
        "hyperparameters": dict(record.hyperparameters),
    }


def lineage_message(record: MemberRecord) -> dict[str, Any]:
    """Return where a member comes from."""
    return {
        "member": record.member,
        "parent": record.parent,
        "mutation": record.mutation,
        "generation": record.generation,
    }


def generation_message(generation: int, population: Population) -> dict[str, Any]:
    """Return what is told of a generation, its checkpoint yet to be added."""
    members = population.members
    return {
        "kind": "generation",
        "generation": generation,
        "steps": population.steps,
        "total_steps": population.total_steps,
        "members": [member_message(record) for record in members],
        "lineage": [lineage_message(r) for r in members if r.generation == generation],
        "checkpoint": None,
    }


class ProgressMeter:
    """Turns members' own counts into at most two messages a second for the whole run."""

    def __init__(self, emit: Callable[[dict[str, Any]], None]) -> None:
        self._emit = emit
        self._generation = 0
        self._base = 0
        self._most = 0
        self._counts: dict[int, int] = {}
        self._next = 0.0
        self._rate_from = (time.monotonic(), 0)

    def begin(self, generation: int, population: Population) -> None:
        """Take the counts at the beginning of a piece of work."""
        self._generation = generation
        self._base = population.total_steps
        self._most = population.steps
        self._counts = {}
        self._rate_from = (time.monotonic(), self._base)

    def __call__(self, slot: int, steps: int) -> None:
        """Note how far a slot has come in its present piece of work."""
        self._counts[slot] = steps
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + PROGRESS_EVERY
        total = self._base + sum(self._counts.values())
        begun, then = self._rate_from
        self._emit(
            {
                "kind": "progress",
                "generation": self._generation,
                "steps": self._most + max(self._counts.values()),
                "total_steps": total,
                "steps_per_second": round((total - then) / max(now - begun, 1e-3), 1),
            }
        )
