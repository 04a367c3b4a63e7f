"""What all algorithms for language models share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import field_validator

from arena_sdk.manifest.algorithms.fsdp import FsdpSettings
from arena_sdk.manifest.algorithms.shared import Algorithm, LearningRate, Updates
from arena_sdk.manifest.base import Fault, Section, about, fault, refine
from arena_sdk.manifest.lora import LoraSettings

PACKING_BACKENDS = ("flash_attention_2", "flex_attention")
"""Attention backends that keep sequences apart that share a row."""


class Reference(Section):
    """The model that the trained one is held close to."""

    beta: float = about("Weight of the divergence from the reference model.", 1e-3, ge=0.0, le=1.0)
    use_separate_reference_adapter: bool = about("Keep the reference as its own adapter.", True)


class MemorySavers(Section):
    """What trades memory for time."""

    gradient_checkpointing: bool = about("Recompute activations instead of keeping them.", True)
    activation_offload: bool = about("Keep activations in main memory meanwhile.", False)
    moe_lora_recompute: bool | None = about("Recompute the inside of expert layers.", None)
    chunk_rows: int | None = about("Rows of which the loss is computed at once.", None, ge=1)
    quantization: str | dict[str, Any] | None = about(
        "Quantize the frozen weights: a preset, or bitsandbytes settings.", None
    )
    fsdp: FsdpSettings | Literal[True] | None = about(
        "Shard the model over GPUs; `true` takes the defaults.", None
    )

    @field_validator("fsdp", mode="before")
    @classmethod
    def _read_fsdp(cls, value: Any) -> Any:
        if value is True:
            return {}
        if value is not None and not isinstance(value, dict):
            raise ValueError("fsdp is `true`, a mapping of settings, or left out.")
        return value


class Kernels(Section):
    """Which implementations are used."""

    use_liger_loss: bool = about("Fused loss kernel of Liger; Linux only.", True)
    use_liger_kernel: bool | None = about("Fused layer kernels of Liger, where they fit.", None)
    use_mamba_kernels: bool | None = about("Fused kernels for state-space layers.", None)
    attn_implementation: str | None = about("Attention backend of transformers.", None)
    cast_logprobs_to_fp32: bool = about("Sum log-probabilities in 32 bits.", True)
    calc_position_embeddings: bool = about("Compute position embeddings in the forward pass.", True)


class Batching(Section):
    """How a batch is cut up."""

    micro_batch_size_per_gpu: int | None = about("Sequences of one forward pass.", None, ge=1)
    mini_batch_size: int | None = about("Sequences of one optimizer step.", None, ge=1)
    use_sequence_packing: bool = about("Put several short sequences into one row.", False)
    hf_generate_chunk_size: int | None = about("Prompts that are answered at once.", None, ge=1)


class Answers(Section):
    """What answers may look like."""

    thinking_token_budget: int | None = about("Tokens of reasoning before the answer.", None, ge=0)
    constrain_answer_pattern: str | None = about("Regular expression that answers match.", None)
    answer_continuation: bool = about("Have a cut-off answer finished under the pattern.", False)

    @field_validator("constrain_answer_pattern")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        try:
            re.compile(value or "")
        except re.error as error:
            raise ValueError(f"{value!r} is no regular expression: {error}.") from None
        return value


@refine(
    batch_size={"default": 16},
    max_grad_norm={"default": 0.1, "ge": 0.0},
    update_epochs={"default": 1},
)
class LanguageModel(Algorithm, Updates, Reference, MemorySavers, Kernels, Batching, Answers):
    """What all algorithms for language models have."""

    pretrained_model_name_or_path: str | None = about(
        "Hub name or folder of the model, here or in `network`.", None, min_length=1
    )
    max_model_len: int = about("Tokens of prompt and answer together, at most.", 1024, ge=1)
    lora_config: LoraSettings | None = about("Low-rank adapters, here or in `network`.", None)
    lora_target_scope: str | None = about("Part of the model that gets adapters.", None)
    seed: int = about("Seed of sampling, data order and first weights.", 42)
    vllm_engine_args: dict[str, Any] = about("Further arguments of the vLLM engine.", dict)
    vllm_lora_export_dir: str | None = about("Folder through which vLLM gets adapters.", None)

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rules: batches that divide, packing that can be, answers that end."""
        yield from super().faults()
        mini, micro = self.mini_batch_size, self.micro_batch_size_per_gpu
        if mini and micro and mini % micro:
            yield fault(
                f"mini_batch_size ({mini}) must be a multiple of"
                f" micro_batch_size_per_gpu ({micro}).",
                "mini_batch_size",
            )
        if self.use_sequence_packing and self.attn_implementation not in PACKING_BACKENDS:
            yield fault(
                f"It needs attn_implementation {' or '.join(PACKING_BACKENDS)};"
                f" that is {self.attn_implementation or 'not set'}.",
                "use_sequence_packing",
            )
        yield from self.answer_faults()

    def answer_faults(self) -> Iterator[Fault]:
        """Yield the broken rules of answers."""
        if self.answer_continuation and not self.constrain_answer_pattern:
            yield fault("It needs a constrain_answer_pattern.", "answer_continuation")
        budget, limit = (
            self.thinking_token_budget,
            getattr(self, "max_output_tokens", None),
        )
        if budget is not None and limit is None:
            yield fault(
                "It needs max_output_tokens, of which it is a part.", "thinking_token_budget"
            )
        elif budget is not None and limit is not None and budget >= limit:
            yield fault(
                f"thinking_token_budget ({budget}) must be below max_output_tokens ({limit}).",
                "thinking_token_budget",
            )


class SingleRate(LanguageModel, LearningRate):
    """Language models with one optimizer."""
