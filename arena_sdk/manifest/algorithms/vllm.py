"""The engine that samples answers (https://docs.vllm.ai)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from arena_sdk.manifest.base import Section, about


class VllmSettings(Section):
    """How a vLLM engine runs."""

    tensor_parallel_size: int | None = about("GPUs that one engine is split over.", None, ge=1)
    gpu_memory_utilization: float = about("Share of GPU memory it takes.", 0.3, ge=0.0, le=1.0)
    kv_cache_memory_bytes: int | None = about("Bytes of its cache, instead of a share.", None, ge=0)
    kv_cache_dtype: str | None = about("Precision of its cache.", None, min_length=1)
    max_num_seqs: int | None = about("Answers sampled side by side.", None, ge=1)
    max_num_batched_tokens: int | None = about("Tokens of one forward pass.", None, ge=1)
    enforce_eager: bool | None = about("Run without CUDA graphs.", None)
    sleep_mode: bool = about("Free its memory while the model learns.", False)
    sleep_mode_level: Literal[1, 2] = about("1 keeps weights in main memory, 2 drops them.", 1)
    dtype: str | None = about("Precision of its weights.", None, min_length=1)
    quantization: str | None = about("Quantization of its weights.", None, min_length=1)
    vllm_model_name_or_path: str | None = about("Model it loads instead.", None, min_length=1)
    max_lora_rank: int = about("Largest rank of an adapter.", 16, ge=1)
    max_loras: int = about("Adapters in one batch.", 1, ge=1)
    lora_staging_dir: str | None = about("Folder for adapters on their way.", None, min_length=1)
    strip_multimodal_towers: bool | list[Literal["image", "video", "audio"]] = about(
        "Leave out encoders of media: all, or those named.", False
    )
    limit_mm_per_prompt: dict[str, Annotated[int, Field(ge=0)]] | None = about(
        "Media of each kind in one prompt, at most.", None
    )
    stop_sequences: list[str] | None = about("Texts that end an answer.", None)
    presence_penalty: float = about("Penalty on words that occurred.", 0.0, ge=0.0)
    frequency_penalty: float = about("Penalty on words by how often they occurred.", 0.0, ge=0.0)


def beside_training() -> VllmSettings:
    """Return the settings of an engine that shares its GPU with learning, when none are written."""
    return VllmSettings.model_validate(
        {"gpu_memory_utilization": 0.9, "max_num_seqs": 16, "sleep_mode": True}
    )
