"""Sharding a model over GPUs with PyTorch's FSDP."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from arena_sdk.manifest.base import Section, about

Precision = Literal["bfloat16", "float16", "float32", "float64"]


def _a_number(value: Any) -> Any:
    if isinstance(value, bool | int | float):
        return int(value) if isinstance(value, bool) else value
    raise ValueError(f"{value!r} is no number.")


def _a_list(value: Any) -> Any:
    if isinstance(value, str | list | tuple):
        return list(value)
    raise ValueError(f"{value!r} is no list of names.")


Number = Annotated[int | float, BeforeValidator(_a_number)]
Names = Annotated[list[Any], BeforeValidator(_a_list)]


class FsdpSettings(Section):
    """How the model is sharded. Switches are passed on as they are written."""

    reshard_after_forward: Any = about("Free gathered weights after the forward pass.", True)
    cpu_offload: Any = about("Keep shards in main memory.", False)
    optim_cpu_offload: Any = about("Keep the optimizer's state in main memory.", None)
    defer_grad_sync: Any = about("Exchange gradients once an optimizer step.", True)
    param_dtype: Precision = about("Precision of weights in use.", "bfloat16")
    reduce_dtype: Precision = about("Precision of exchanged gradients.", "float32")
    prefetch_units: Number = about("Units gathered ahead in the forward pass.", 1, ge=1)
    backward_prefetch_units: Number = about("Units gathered ahead in the backward pass.", 1, ge=1)
    checkpoint_skip_layer_types: Names = about("Layer classes that are not checkpointed.", list)
    checkpoint_every_n_blocks: Number = about("Blocks between two checkpointed ones.", 1, ge=1)
    wrap_every_n_blocks: Number = about("Blocks in one sharded unit.", 1, ge=1)
    param_persistence_threshold: Number = about(
        "Parameters with fewer elements stay on every GPU.", 100_000, ge=0
    )
    shard_group_size: Any = about("GPUs that one copy of the model is sharded over.", None)
    routed_expert_chunk_mib: Any = about("MiB of expert weights gathered at once.", None)
    ep: Number = about("GPUs that experts are spread over.", 1, ge=1)
    ep_token_blocks: Number = about("Blocks of tokens sent to experts in turn.", 1, ge=1)
    tp: Number = about("GPUs that each layer is split over.", 1, ge=1)
