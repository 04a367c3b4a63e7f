"""A small Hugging Face cache, laid out as the real one: blobs, snapshots of links to them, refs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def add_repository(
    hub: Path, kind: str, name: str, files: Mapping[str, bytes], commit: str = COMMIT
) -> Path:
    """Add a repository with files at a commit; return its snapshot."""
    folder = hub / f"{kind}--{name.replace('/', '--')}"
    snapshot = folder / "snapshots" / commit
    for path, content in files.items():
        blob = folder / "blobs" / hashlib.sha256(content).hexdigest()
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(content)
        link = snapshot / path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(blob)
    (folder / "refs").mkdir(exist_ok=True)
    (folder / "refs" / "main").write_text(commit)
    return snapshot


def safetensors(shapes: Mapping[str, tuple[int, ...]]) -> bytes:
    """Return a whole safetensors file with tensors of zeros in float16."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, shape in shapes.items():
        size = 2
        for length in shape:
            size *= length
        header[name] = {"dtype": "F16", "shape": list(shape), "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(end)


def block(layer: int) -> dict[str, tuple[int, ...]]:
    """Return the tensors of one block of a very small Qwen."""
    prefix = f"model.layers.{layer}"
    return {
        f"{prefix}.self_attn.q_proj.weight": (8, 8),
        f"{prefix}.self_attn.q_proj.bias": (8,),
        f"{prefix}.self_attn.k_proj.weight": (2, 8),
        f"{prefix}.mlp.up_proj.weight": (16, 8),
        f"{prefix}.input_layernorm.weight": (8,),
    }


TINY_CONFIG = {
    "model_type": "qwen2",
    "architectures": ["Qwen2ForCausalLM"],
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "max_position_embeddings": 4096,
    "vocab_size": 10,
}
TINY_SHAPES = {"model.embed_tokens.weight": (10, 8), **block(0), **block(1)}
TINY_PARAMETERS = 10 * 8 + 2 * (64 + 8 + 16 + 128 + 8)


def add_tiny_model(hub: Path, name: str = "tiny/Qwen-0") -> Path:
    """Add a model of two layers."""
    files = {
        "config.json": json.dumps(TINY_CONFIG).encode(),
        "model.safetensors": safetensors(TINY_SHAPES),
    }
    return add_repository(hub, "models", name, files)
