"""What is learned from: replayed steps, or answers of a language model."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import model_validator

from arena_sdk.manifest.base import Named, Section, about, refine


class Buffer(Named):
    """What both kinds of buffer have."""

    max_size: int = about("Experiences that are kept.", 100_000, also="memory_size", ge=1)


class Arguments(Section):
    """Settings of which null means that they are not written."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        known = cls.model_fields
        return {key: item for key, item in value.items() if item is not None or key not in known}


class NStepArguments(Arguments):
    """Settings of the n-step buffer."""

    n_step: int = about("Steps whose rewards are summed.", 3, ge=1)


class PrioritizedArguments(Arguments):
    """Settings of the prioritized buffer (https://arxiv.org/abs/1511.05952)."""

    alpha: float = about("How much priorities count; 0 draws evenly.", 0.5, ge=0.0, le=1.0)


class ReplayBuffer(Buffer):
    """Steps of an environment, replayed many times."""

    kind: Literal["classic"] = about("Kind of buffer: `classic`.", "classic")
    standard_buffer: bool = about("Keep single steps.", True)
    n_step_buffer: bool = about("Keep sums over several steps too.", False)
    n_step_buffer_args: NStepArguments = about(
        "Settings of the n-step buffer.", lambda: NStepArguments.model_validate({})
    )
    per_buffer: bool = about("Draw surprising experiences more often.", False)
    per_buffer_args: PrioritizedArguments = about(
        "Settings of the prioritized buffer.",
        lambda: PrioritizedArguments.model_validate({}),
    )


@refine(max_size={"default": 10_000})
class RolloutBuffer(Buffer):
    """Answers of a language model, used a few times."""

    kind: Literal["llm"] = about("Kind of buffer: `llm`.", "llm")
    max_rollout_version_lag: int | None = about(
        "Updates after which an answer is too old to learn from.", None, ge=0
    )
    drop_uninformative_groups: bool = about("Leave out groups with equal rewards.", False)
    group_replay_max_age: int = about("Updates for which a group may be used again.", 0, ge=0)
