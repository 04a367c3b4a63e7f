"""Language models that learn from answers that they sample themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from arena_sdk.manifest.algorithms.llm import LanguageModel, SingleRate
from arena_sdk.manifest.algorithms.shared import (
    ActorCriticRates,
    Advantages,
    Clipping,
    Discount,
    ValueLoss,
)
from arena_sdk.manifest.algorithms.vllm import VllmSettings
from arena_sdk.manifest.base import Fault, Section, about, fault, refine

Level = Literal["auto", "token", "turn", "trajectory"]


class CosineSchedule(Section):
    """A learning rate that rises and falls."""

    num_steps: int = about("Optimizer steps until the rate is lowest.", ge=1)
    warmup_proportion: float = about("Share of steps in which it rises.", 0.0, ge=0.0, lt=1.0)
    min_lr_ratio: float = about("Lowest rate, as a share of `lr`.", 0.1, ge=0.0, le=1.0)


class Profiling(Section):
    """What is measured of time and memory on the way."""

    output_dir: str | None = about("Folder for what is measured.", None)
    memory_snapshot_on_oom: bool = about("Write down memory when it runs out.", False)
    memory_history_max_entries: int = about("Allocations that are remembered.", 100_000, ge=1)
    torch_profile_step: int | None = about("Optimizer step that is profiled.", None, ge=1)
    torch_profile_with_stack: bool = about("Note call stacks in the profile.", False)
    profile_ranks: list[int] | None = about("Processes that are measured; all.", None)

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rules: results with no place to go, processes that cannot be."""
        yield from super().faults()
        if self.output_dir is None and (self.memory_snapshot_on_oom or self.torch_profile_step):
            yield fault("It is needed for what is measured.", "output_dir")
        if any(rank < 0 for rank in self.profile_ranks or ()):
            yield fault("Ranks are counted from 0.", "profile_ranks")


class Sampling(Section):
    """How answers are sampled."""

    temperature: float = about("Randomness of sampling; 0 takes the likeliest.", 0.9)
    repetition_penalty: float = about("Penalty on repetition; 1 is none.", 1.0, ge=0.0)
    top_p: float = about("Sample from the likeliest with this share.", 1.0, ge=0.0, le=1.0)
    top_k: int = about("Sample from this many likeliest; 0 from all.", 50, ge=0)
    min_p: float = about("Least probability, relative to the likeliest.", 0.0, ge=0.0, le=1.0)
    max_output_tokens: int | None = about("Tokens of one answer, at most.", None)
    min_output_tokens: int | None = about("Tokens of one answer, at least.", None, ge=0)
    max_row_tokens: int | None = about("Tokens of one row that is learned from.", None, ge=1)


class Engine(Section):
    """The engine, and how far it may be from the model that learns."""

    vllm_config: VllmSettings | None = about("The engine that samples.", None)
    vllm_importance_sampling_correction: bool = about(
        "Correct for differences between engine and model.", True
    )
    vllm_importance_sampling_cap: float = about("Largest weight of that correction.", 2.0, ge=0.0)
    vllm_max_logprob_gap: float = about("Mean difference that is still accepted.", 0.1, ge=0.0)
    vllm_max_clip_fraction: float = about(
        "Share of corrections at the cap that is still accepted.", 0.02, ge=0.0, le=1.0
    )


class Credit(Section):
    """What a reward and a correction are given to."""

    advantage_granularity: Level = about("What one advantage is given to.", "auto")
    importance_sampling_level: Level | None = about("What one ratio is computed for.", None)


class Rollout(LanguageModel, Sampling, Engine, Clipping, Credit):
    """What all that sample have."""

    cosine_lr_schedule_config: CosineSchedule | None = about("Schedule of the rate.", None)


class ClampedDivergence(Section):
    """A divergence that cannot explode."""

    kl_clamp: float | None = about("Largest divergence of one token; none is free.", 10.0, gt=0.0)


class Whitening(Section):
    """Advantages of one scale."""

    whiten_advantages: bool = about("Give advantages mean 0 and deviation 1.", False)


class Groups(Section):
    """Answers compared within their group."""

    group_size: int = about("Answers to one prompt that are compared.", 8, ge=1)
    adv_norm: Literal["mean_only", "mean_std"] = about(
        "Subtract the group's mean, or divide by its deviation too.", "mean_only"
    )
    use_kl_advantage_shaping: bool = about("Put the divergence into the advantage.", False)
    adv_clip_range: float | None = about("Largest advantage, either way.", None)
    filter_zero_adv: bool = about("Leave out answers without advantage.", False)
    adv_filter_eps: float = about("Advantage up to which that counts as none.", 0.0, ge=0.0)
    turn_advantage_trajectory_fallback: bool = about(
        "Use the whole trajectory's where a turn has no group.", True
    )


class OffPolicy(Section):
    """What is done about answers of older weights."""

    old_logprobs_source: Literal["trainer", "rollout"] | None = about(
        "Whose log-probabilities count as the old ones.", None
    )
    off_policy_token_mask_bounds: tuple[float, float] | None = about(
        "Ratios outside of which a token is left out.", (0.5, 5.0)
    )
    off_policy_sequence_mask_threshold: float | None = about(
        "Divergence above which an answer is left out.", 0.03, ge=0.0
    )
    use_bias_correction_kl: bool = about("Correct the divergence for old weights.", True)


@refine(
    lr={"default": 5e-7},
    advantage_granularity={"allowed": ("auto", "trajectory", "turn")},
    importance_sampling_level={"type": Literal["token", "turn", "trajectory"] | None},
)
class GRPO(Rollout, SingleRate, Groups, OffPolicy, ClampedDivergence, Whitening):
    """Group relative policy optimization (https://arxiv.org/abs/2402.03300)."""

    loss_norm: Literal["micro_batch", "accumulation_window", "episode"] = about(
        "What the loss is averaged over.", "accumulation_window"
    )
    loss_type: Literal["grpo", "gspo", "cispo"] = about("Form of the loss.", "grpo")
    profiling_config: Profiling | None = about("What is measured on the way.", None)


@refine(loss_type={"default": "gspo", "allowed": ("gspo",)})
class GSPO(GRPO):
    """Group sequence policy optimization (https://arxiv.org/abs/2507.18071)."""


@refine(loss_type={"default": "cispo", "allowed": ("cispo",)})
class CISPO(GRPO):
    """GRPO with clipped importance weights (https://arxiv.org/abs/2506.13585)."""


@refine(
    max_grad_norm={"default": 1.0},
    temperature={"default": 1.0},
    gamma={"default": 1.0, "le": 1.0},
    advantage_granularity={"allowed": ("turn", "token", "auto")},
)
class Reinforced(Rollout, Discount):
    """Language models that learn from discounted rewards."""

    turn_ratio_pooling: Literal["sum", "mean"] = about("How a turn's tokens are joined.", "sum")


@refine(
    importance_sampling_level={"default": "auto", "type": Level},
    whiten_advantages={"default": True},
    lr_actor={"default": 5e-7, "also": "lr"},
    lr_critic={"default": 5e-5, "type": float | None},
)
class LLMPPO(Reinforced, ActorCriticRates, Advantages, ValueLoss, ClampedDivergence, Whitening):
    """Proximal policy optimization of a language model."""

    share_grad_clip: bool = about("Clip gradients of policy and value head together.", False)
    critic_warmup_steps: int = about("Updates in which only the value head learns.", 0, ge=0)
    turn_level_clip: bool = about("Clip the ratio of whole turns.", True)
    turn_value_reduction: Literal["mean", "final_value"] = about(
        "Which value stands for a turn.", "final_value"
    )
    fuse_actor_critic_pass: bool | None = about("One forward pass for both.", None)


@refine(
    lr={"default": 5e-7},
    importance_sampling_level={
        "default": "token",
        "type": Literal["token", "turn", "trajectory"],
    },
)
class LLMREINFORCE(Reinforced, SingleRate):
    """REINFORCE of a language model (https://arxiv.org/abs/2402.14740)."""
