"""What the service answers, as dicts whose known keys are attributes too.

They are dicts, not copies of them in another shape: what the documents say of an answer holds, it
can be indexed, merged and written as JSON, and keys that a service adds are kept. A known key that
a service leaves out is None as an attribute. Values are the service's own: times are ISO 8601
texts in UTC, scores of no number are None.

    >>> run = Experiment(name="first", steps=1200, flavour="new")
    >>> run.steps, run["steps"], run.best_fitness, run.flavour
    (1200, 1200, None, 'new')
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

A = TypeVar("A", bound="Answer")


@cache
def _known(kind: type[Answer]) -> frozenset[str]:
    return frozenset(key for base in kind.__mro__ for key in vars(base).get("__annotations__", ()))


class Answer(dict[str, Any]):
    """An object of the service's JSON."""

    def __getattr__(self, key: str) -> Any:
        """Return a key's value; None for a known key that the service left out."""
        if key in self:
            return self[key]
        if key in _known(type(self)):
            return None
        there = ", ".join(map(str, self)) or "nothing"
        raise AttributeError(f"{type(self).__name__} has no {key!r}; it has: {there}.")

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *map(str, self), *_known(type(self))})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({super().__repr__()})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    @classmethod
    def each(cls: type[A], rows: Iterable[dict[str, Any]]) -> list[A]:
        """Return rows as answers."""
        return [cls(row) for row in rows]


class User(Answer):
    """Your account."""

    first_name: str | None
    last_name: str | None
    email: str | None


class Project(Answer):
    """A project; `type` is `simulation` or `llm`."""

    name: str
    type: str | None
    description: str | None


class Tier(Answer):
    """What an experiment can run on; the price is in credits for a node and an hour."""

    name: str
    num_gpus: int | None
    gpu_type: str | None
    num_cpus: int | None
    ram_gb: float | None
    price_per_node_hour: float | None


class Resources(Answer):
    """All tiers by resource id."""

    tiers: dict[str, Tier]


class EnvironmentVersion(Answer):
    """What is known of a version."""

    validated: bool | None
    profiled: bool | None


class Environment(Answer):
    """One version of an environment with what was found of it (embedded Arena)."""

    name: str
    version: str
    versions: list[str] | None
    validated: bool | None
    profiled: bool | None
    entrypoint: str | None
    entrypoints: list[str] | None
    checks: list[dict[str, Any]] | None
    spaces: dict[str, Any] | None
    profile: dict[str, Any] | None
    rollouts: dict[str, Any] | None
    requirements: str | None
    description: str | None
    created_at: str | None
    validated_at: str | None


class Validation(Answer):
    """How a validation ended."""

    validated: bool | None
    entrypoint: str | None
    entrypoints: list[str] | None
    checks: list[dict[str, Any]] | None


class Profile(Answer):
    """What an environment costs: CPU in percent of a core, memory in GB."""

    steps_per_second: float | None
    avg_cpu_per_env: float | None
    peak_cpu_per_env: float | None
    memory_per_env_gb: float | None


class Dataset(Answer):
    """A dataset; `category` is `sft`, `preference` or `reasoning`.

    `version` is by its content, where the service tells it; `warnings` is of one just made.
    """

    id: Any
    name: str
    version: str | None
    hf_dataset_id: str | None
    category: str | None
    description: str | None
    num_rows: int | None
    columns: list[Any] | None
    size_mb: float | None
    is_ready: bool | None
    uploaded: bool | None
    files: list[Any] | None
    preview: list[dict[str, Any]] | None
    warnings: list[str] | None


class DatasetExistence(Answer):
    """Whether there is a dataset."""

    exists: bool
    id: Any
    datasetType: str | None


class DatasetSearch(Answer):
    """What a search found; `warnings` say where it could not look."""

    datasets: list[dict[str, Any]] | None
    warnings: list[str] | None


class RewardCheck(Answer):
    """What became of one call of a reward file; `seconds` is of the call, without the import."""

    sound: bool
    value: float | None
    seconds: float | None
    import_seconds: float | None
    error: str | None
    warnings: list[str] | None
    output: str | None


class Model(Answer):
    """A language model."""

    model_name: str
    num_params: Any
    lora_info: Any
    max_context_length: int | None


class Submission(Answer):
    """What became of a submission."""

    accepted: bool | None
    experiment_id: Any
    experiment_name: str | None


class Experiment(Answer):
    """A training run; steps are environment steps of one member, `total_steps` those of all."""

    name: str
    id: Any
    project: str | None
    state: str | None
    algorithm: str | None
    environment: str | None
    environment_version: str | None
    resource_id: str | None
    num_nodes: int | None
    pop_size: int | None
    max_steps: int | None
    target_score: float | None
    generation: int | None
    steps: int | None
    total_steps: int | None
    best_fitness: float | None
    mean_fitness: float | None
    steps_per_second: float | None
    fitness_history: list[float] | None
    created_at: str | None
    started_at: str | None
    ended_at: str | None
    error: str | None
    warnings: list[str] | None
    options: dict[str, Any] | None
    overrides: dict[str, Any] | None
    waiting: str | None
    manifest: dict[str, Any] | None


class Checkpoint(Answer):
    """A state of a population; the scores are mean returns of an episode."""

    name: str | None
    steps: int
    evaluation_score: float | None
    training_score: float | None
    size_mb: float | None
    generation: int | None
    member: int | None
    created_at: str | None


class Deployment(Answer):
    """A served agent; `url` is empty while it is provisioned."""

    name: str
    url: str | None
    status: str | None
    experiment_name: str | None
    project_name: str | None
    checkpoint: str | None
    algorithm: str | None
    environment: str | None
    created_at: str | None
    error: str | None


class Record(Answer):
    """One record of a run; `kind` is `metrics`, `state`, `checkpoint` or `warning`.

    `seq` is its number, from 1 without gaps; `time` is in seconds since 1970.
    """

    seq: int
    kind: str
    time: float
    data: dict[str, Any]
