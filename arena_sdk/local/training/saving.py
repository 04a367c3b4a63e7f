"""A run's state as a checkpoint's files, and back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena_sdk.records import encode_number

from . import checkpoints
from .agents import AgentState
from .population import MemberRecord, Population
from .tasks import Setup

TRAINING = "training"
"""The generation is under way: `effort` of each member says how far it has come."""
EVALUATED = "evaluated"
"""The generation is over and evolution is yet to come."""
EVOLVED = "evolved"
"""The members are those of the next generation."""


@dataclass
class Saved:
    """A run as it stood.

    Attributes:
        generation: The one that is under way (TRAINING) or that ended.
        phase: TRAINING, EVALUATED or EVOLVED.
        message: The last generation's message, or None before the first.
        elapsed: Wall seconds of training so far.
        population: `Population.state()`.
        agents: By member id.
        path: The checkpoint that it came from.
    """

    generation: int
    phase: str
    message: dict[str, Any] | None
    elapsed: float
    population: dict[str, Any]
    agents: dict[int, AgentState]
    path: Path


@dataclass(frozen=True)
class Best:
    """The agent that a checkpoint offers for deployment.

    Attributes:
        record: Its member.
        agent: Itself, as it was evaluated.
        fitness: Of that evaluation; None when it has trained on since.
    """

    record: dict[str, Any]
    agent: AgentState
    fitness: float | None

    @classmethod
    def of(cls, population: Population, *, evaluated: bool) -> Best:
        """Return the best member as it is now."""
        record: MemberRecord = population.best()
        facts = {"member": record.member, "steps": record.steps, "score": record.score}
        agent = population.agents[record.member]
        return cls(facts, agent, record.fitness if evaluated else None)


def save(
    folder: Path,
    setup: Setup,
    population: Population,
    best: Best,
    *,
    steps: int,
    generation: int,
    phase: str,
    message: dict[str, Any] | None,
    elapsed: float,
) -> dict[str, Any]:
    """Write a checkpoint; return its CHECKPOINT message, which the stored message also holds.

    Args:
        folder: Where the checkpoints of the run are.
        setup: The run.
        population: All members with their agents.
        best: What the checkpoint offers for deployment.
        steps: The n of its name.
        generation: As in `Saved`.
        phase: As in `Saved`.
        message: As in `Saved`.
        elapsed: As in `Saved`.

    Raises:
        CheckpointError: It could not be written.
    """
    name = f"step_{steps}"
    files = _agent_files(setup, best)
    for record in population.members:
        agent = population.agents[record.member]
        files[f"members/{record.member}.agent"] = agent.checkpoint
        if agent.dormancy:
            files[f"members/{record.member}.dormancy"] = agent.dormancy
    told: dict[str, Any] = {
        "name": name,
        "steps": steps,
        "generation": generation,
        "member": best.record["member"],
        "evaluation_score": best.fitness,
        "training_score": best.record["score"],
        "size_mb": round(sum(len(data) for data in files.values()) / 1e6, 3),
    }
    state = {
        "generation": generation,
        "phase": phase,
        "message": message,
        "checkpoint": told,
        "elapsed": elapsed,
        "algorithm": setup.spec.algorithm,
        "population": population.state(),
    }
    files[checkpoints.STATE] = json.dumps(state).encode()
    written = checkpoints.write(folder, name, files)
    return {**told, "sha256": written.sha256, "path": str(written.path)}


def load(path: Path) -> Saved:
    """Return the run as a checkpoint has it.

    Raises:
        CheckpointError: The checkpoint is absent or damaged.
    """
    files = checkpoints.read(path)
    state = json.loads(files[checkpoints.STATE])
    agents = {}
    for entry in state["population"]["members"]:
        member = int(entry["member"])
        agents[member] = AgentState(
            state["algorithm"],
            files[f"members/{member}.agent"],
            files.get(f"members/{member}.dormancy", b""),
        )
    message = state["message"]
    if message is not None and message["generation"] == state["checkpoint"]["generation"]:
        message["checkpoint"] = _as_told(state["checkpoint"], path)
    return Saved(
        generation=int(state["generation"]),
        phase=str(state["phase"]),
        message=message,
        elapsed=float(state["elapsed"]),
        population=state["population"],
        agents=agents,
        path=path,
    )


def _as_told(told: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return a checkpoint's own message; its checksum cannot be part of what it sums."""
    import hashlib

    manifest = (path / checkpoints.MANIFEST).read_bytes()
    return {**told, "sha256": hashlib.sha256(manifest).hexdigest(), "path": str(path)}


def _agent_files(setup: Setup, best: Best) -> dict[str, bytes]:
    from arena_sdk.local.validation.loading import space_tree

    fitness = best.fitness
    info = {
        "algorithm": best.agent.algorithm,
        "steps": best.record["steps"],
        "fitness": None if fitness is None else encode_number(fitness),
        "member": best.record["member"],
        "observation_space": space_tree(setup.observation_space),
        "action_space": space_tree(setup.action_space),
    }
    return {
        checkpoints.AGENT: best.agent.checkpoint,
        checkpoints.AGENT_INFO: json.dumps(info).encode(),
    }
