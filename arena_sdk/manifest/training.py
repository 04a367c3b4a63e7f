"""How long, how many, how often: the budget of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from arena_sdk.manifest.algorithms import REGISTRY, is_llm
from arena_sdk.manifest.base import Fault, Section, about, fault


class CheckpointExport(Section):
    """When and in what form a fine-tuned model is exported."""

    format: Literal["adapter", "merged"] = about("Only the adapter, or merged weights.", "adapter")
    trigger: Literal["final", "best", "on_demand", "every"] = about(
        "Which checkpoints are exported.", "final"
    )


class Population(Section):
    """The budget and the population. Steps are environment steps of one member."""

    name: str | None = about("Name of the run.", None)
    max_steps: int = about("Steps after which the run ends.", 1_000_000, ge=1)
    evo_steps: int | None = about(
        "Steps of a generation; after it members are selected and mutated.",
        None, also="metrics_interval", ge=1,
    )  # fmt: skip
    pop_size: int = about("Members of the population.", 1, also="population_size", ge=1)
    hpo: bool = about("Evolve hyperparameters during the run.", False)
    target_score: float | None = about("Fitness at which the run ends early.", None)
    num_epochs: int | None = about("Passes over the data set after which the run ends.", None, ge=1)
    evo_epochs: int | None = about("Passes of a generation, instead of `evo_steps`.", None, ge=1)
    max_wall_seconds: float | None = about("Seconds after which the run ends.", None, gt=0)
    episode_steps: int | None = about("Steps after which an episode is cut off.", None, ge=1)
    sum_scores: bool | None = about("Add up the scores of all agents of an episode.", None)
    experience_sharing: bool | None = about("One replay buffer for the whole population.", None)
    env_resource_ratio: float | None = about(
        "Share of the machine that environments get.", None, gt=0.0, le=1.0
    )
    training_gpus_per_agent: int = about("GPUs that one member is trained on.", 1, ge=1)


class Exploration(Section):
    """How a value-based algorithm explores."""

    learning_delay: int | None = about("Steps before the first learning.", None, ge=0)
    eps_start: float | None = about("Share of random actions at the start.", None)
    eps_end: float | None = about("Share of random actions that is kept in the end.", None)
    eps_decay: float | None = about("Factor of the share of random actions, each step.", None)


class Evaluation(Section):
    """How members are compared, and what is written down."""

    eval_steps: int | None = about("Steps after which an evaluation episode ends.", None, ge=1)
    eval_loop: int = about("Evaluation episodes of a generation.", 1, ge=1)
    evaluation_interval: int | None = about("Steps between evaluations.", None, ge=1)
    eval_samples_per_task: int = about("Answers sampled for each evaluation task.", 0, ge=0)
    eval_greedy: bool = about("Evaluate with the likeliest answer only.", True)
    eval_max_concurrent_episodes: int | None = about(
        "Evaluation episodes that run side by side.", None, ge=1
    )
    reporting_interval: int = about("Steps between two rows of metrics.", 1024, ge=1)


class Checkpoints(Section):
    """What is kept of a run."""

    checkpoint_steps: int | None = about("Steps between checkpoints.", None, ge=1)
    checkpoint_path: str | None = about("Folder for checkpoints.", None)
    overwrite_checkpoints: bool = about("Keep only the newest checkpoint.", False)
    checkpoint_optimizer: bool = about("Keep the optimizer's state in checkpoints.", True)
    checkpoint_export: CheckpointExport | None = about("Export of the fine-tuned model.", None)


class Rollouts(Section):
    """How language models are sampled while they are trained."""

    rollout_mode: Literal["colocated", "async"] = about(
        "Sample on the GPUs that train, or on others meanwhile.", "colocated"
    )
    rollout_batch_size: int | None = about("Groups of answers in one batch.", None, ge=1)
    rollout_engines_per_agent: int | Literal["auto"] = about(
        "Engines that sample for one member.", 0
    )
    weight_sync_backend: Literal["filesystem", "nccl"] | None = about(
        "How new weights reach the engines.", None
    )
    weight_sync_interval: int | None = about(
        "Updates between two transfers of weights.", None, ge=1
    )
    reuse_prefix_cache_across_syncs: bool = about("Keep engines' caches after new weights.", False)
    rollout_version_stamp: Literal["publish", "oldest_turn"] | None = about(
        "Which weights an answer counts as sampled with.", None
    )


class Training(Population, Exploration, Evaluation, Checkpoints, Rollouts):
    """The `training` section."""

    only_when_written: ClassVar[frozenset[str]] = frozenset(
        {"rollout_mode", "training_gpus_per_agent"}
    )

    def fill(self, context: str) -> None:
        """Fill in the length of a generation, which is the algorithm's own."""
        if self.evo_steps is None and self.evo_epochs is None and context in REGISTRY:
            self.evo_steps = min(REGISTRY[context].evo_steps, self.max_steps)
        if context in REGISTRY and not is_llm(context):
            self.model_fields_set.discard("training_gpus_per_agent")  # it is of no consequence

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rules: intervals within the budget, exploration that shrinks."""
        yield from super().faults()
        if self.evo_steps is not None and self.evo_steps > self.max_steps:
            yield fault(
                f"evo_steps ({self.evo_steps:,}) must not be above max_steps ({self.max_steps:,}).",
                "evo_steps",
            )
        if self.evo_epochs is not None and self.num_epochs is None:
            yield fault("evo_epochs needs num_epochs; without it write evo_steps.", "evo_epochs")
        start, end = self.eps_start, self.eps_end
        if start is not None and end is not None and start < end:
            yield fault(f"eps_start ({start}) must not be below eps_end ({end}).", "eps_start")
        if not self.eval_greedy and self.eval_samples_per_task < 1:
            yield fault("Without it eval_samples_per_task must be at least 1.", "eval_greedy")
        engines = self.rollout_engines_per_agent
        if self.rollout_mode == "async" and engines != "auto" and engines < 1:
            yield fault(
                f"async needs rollout_engines_per_agent of at least 1 or `auto`; it is {engines}.",
                "rollout_mode",
            )
        if self.rollout_mode == "async" and self.experience_sharing:
            yield fault("It cannot be combined with `rollout_mode: async`.", "experience_sharing")
        batch, learners = self.rollout_batch_size or 1, self.training_gpus_per_agent
        if self.rollout_mode == "async" and batch % learners:
            yield fault(
                f"async needs a multiple of training_gpus_per_agent ({learners}); it is {batch}.",
                "rollout_batch_size",
            )


OF_LANGUAGE_MODELS = frozenset(
    {
        "num_epochs", "evo_epochs", "training_gpus_per_agent", "eval_samples_per_task",
        "eval_greedy", "eval_max_concurrent_episodes", "checkpoint_export", *Rollouts.model_fields,
    }
)  # fmt: skip
"""Fields that only runs of language models heed."""


def telling_order() -> tuple[str, ...]:
    """Return the fields as they are listed for people: what every run heeds first."""
    parts = (Population, Exploration, Evaluation, Checkpoints, Rollouts)
    names = dict.fromkeys(name for part in parts for name in part.model_fields)
    return tuple(sorted(names, key=lambda name: name in OF_LANGUAGE_MODELS))
