"""Low-rank adapters: the few weights of a language model that are trained."""

from __future__ import annotations

from arena_sdk.manifest.base import Section, about


class LoraSettings(Section):
    """Which modules get adapters, and how large those are (https://arxiv.org/abs/2106.09685)."""

    lora_r: int = about("Rank of the adapters.", 16, ge=1)
    lora_alpha: int = about("Scale of the adapters; it counts divided by the rank.", 32, ge=1)
    target_modules: list[str] | str | set[str] = about(
        "Modules that get adapters: their names, or `all-linear`.", "all-linear"
    )
    target_parameters: list[str] | None = about("Single parameters that get adapters too.", None)
    task_type: str = about("Kind of model, in PEFT's words.", "CAUSAL_LM", min_length=1)
    lora_dropout: float = about("Share of adapter inputs dropped.", 0.05, ge=0.0, le=1.0)
