"""Language models of the cache, described by `config.json` and the headers of their weights.

A safetensors file begins with the length of its header and the header, JSON that names every
tensor with its shape (https://huggingface.co/docs/safetensors), so parameters are counted and the
layers that LoRA can adapt are found without reading a weight.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

from .cache import Repository

CONFIG_LIMIT = 16 << 20
HEADER_LIMIT = 100_000_000
"""Bytes; the format's own limit."""
INDEX = "model.safetensors.index.json"

CONTEXT_KEYS = ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length")
HIDDEN_KEYS = ("hidden_size", "n_embd", "d_model")
LAYER_KEYS = ("num_hidden_layers", "n_layer", "num_layers")
TRANSPOSED = frozenset({"gpt2", "openai-gpt"})
"""Model types whose linear layers keep their weight as (in, out)."""

Shapes = dict[str, tuple[int, ...]]


def describe(repository: Repository) -> dict[str, Any] | None:
    """Return a model's row, or None for a repository that is no model with a configuration.

    Returns:
        `model_name`, `num_params` and `lora_info` (None without whole safetensors weights),
        `max_context_length`, and more. `lora_info` lists for each kind of linear layer, by its
        name, where it occurs, how large and how often.
    """
    config = _json(repository.snapshot / "config.json", CONFIG_LIMIT)
    if config is None or not (config.get("model_type") or config.get("architectures")):
        return None
    text = config.get("text_config")
    config = {**config, **text} if isinstance(text, dict) else config
    shapes = _shapes(repository.snapshot)
    kind = str(config.get("model_type") or "")
    return {
        "model_name": repository.name,
        "num_params": None if shapes is None else sum(math.prod(s) for s in shapes.values()),
        "lora_info": None if shapes is None else _linear_layers(shapes, kind in TRANSPOSED),
        "max_context_length": _number(config, CONTEXT_KEYS),
        "model_type": kind or None,
        "hidden_dim": _number(config, HIDDEN_KEYS),
        "num_hidden_layers": _number(config, LAYER_KEYS),
        "vocab_size": _number(config, ("vocab_size",)),
        "revision": repository.revision,
        "size_mb": _size_mb(repository.snapshot),
    }


def _shapes(snapshot: Path) -> Shapes | None:
    """Return the shape of every tensor; None unless all weights are there as safetensors."""
    index = _json(snapshot / INDEX, CONFIG_LIMIT)
    if index is not None:
        mapped = index.get("weight_map")
        files = sorted({str(v) for v in mapped.values()}) if isinstance(mapped, dict) else []
    else:
        files = sorted(path.name for path in snapshot.glob("*.safetensors"))
    shapes: Shapes = {}
    for name in files:
        found = _header(snapshot / name) if Path(name).name == name else None
        if found is None:
            return None
        shapes |= found
    return shapes or None


def _header(path: Path) -> Shapes | None:
    """Return the tensors of one file; None when it is not whole."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= HEADER_LIMIT:
                return None
            header = json.loads(file.read(length))
        entries = [(k, v) for k, v in header.items() if k != "__metadata__"]
        end = max((int(entry["data_offsets"][1]) for _, entry in entries), default=0)
        if path.stat().st_size < 8 + length + end:
            return None
        return {name: tuple(int(n) for n in entry["shape"]) for name, entry in entries}
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


def _linear_layers(shapes: Shapes, transposed: bool) -> dict[str, list[dict[str, Any]]]:
    """Return the linear layers of the repeated blocks: what a LoRA adapter can be put beside."""
    counts: Counter[tuple[str, str, int, int]] = Counter()
    for name, shape in shapes.items():
        *path, last = name.split(".")
        numbered = any(part.isdecimal() for part in path)
        if last != "weight" or len(shape) != 2 or not numbered or not path:
            continue
        module = path.pop()
        scope = ".".join(part for part in path if not part.isdecimal())
        rows, columns = shape
        inside, outside = (rows, columns) if transposed else (columns, rows)
        counts[module, scope, inside, outside] += 1
    found: dict[str, list[dict[str, Any]]] = {}
    for (module, scope, inside, outside), count in sorted(counts.items()):
        if module.isdecimal():
            continue
        found.setdefault(module, []).append(
            {
                "kind": "module",
                "scope": scope,
                "type": "Conv1D" if transposed else "Linear",
                "in_features": inside,
                "out_features": outside,
                "count": count,
            }
        )
    return found


def _json(path: Path, limit: int) -> dict[str, Any] | None:
    try:
        with path.open("rb") as file:
            raw = file.read(limit + 1)
        value = json.loads(raw) if len(raw) <= limit else None
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _number(config: dict[str, Any], keys: tuple[str, ...]) -> int | None:
    for key in keys:
        value = config.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _size_mb(snapshot: Path) -> float:
    total = 0
    for path in snapshot.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # a link to a blob that is not there
            continue
    return round(total / 1e6, 2)
