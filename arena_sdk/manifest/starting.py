"""Manifests to begin with: the smallest that is valid, and one with comments for a file."""

from __future__ import annotations

from typing import Any

from arena_sdk.manifest import algorithms
from arena_sdk.manifest.problems import ManifestError, Problem, closest

MODEL = "Qwen/Qwen2.5-0.5B-Instruct"
MUTABLE = {
    "lr": (0.1, 10), "lr_actor": (0.1, 10), "lr_critic": (0.1, 10), "beta": (0.1, 10),
}  # fmt: skip
"""Hyperparameters that a starting manifest lets mutation change, as factors of their default."""


def known(algorithm: str) -> str:
    """Return an algorithm's name as a payload has it.

    Raises:
        ManifestError: There is no such algorithm.
    """
    name = algorithms.canonical(algorithm)
    if name is None:
        meant = closest(algorithm, [*algorithms.NAMES, *algorithms.ALIASES])
        listing = ", ".join(sorted(algorithms.NAMES))
        message = f"{algorithm!r} is not known; allowed: {listing}."
        raise ManifestError([Problem("algorithm.name", message, "unknown_name", suggestion=meant)])
    return name


def starting_document(
    algorithm: str, environment: str, observation_space: Any = None
) -> dict[str, Any]:
    """Return the smallest valid manifest of an algorithm."""
    name = known(algorithm)
    document: dict[str, Any] = {
        "algorithm": {"name": name}, "environment": environment_section(name, environment)
    }  # fmt: skip
    if algorithms.is_llm(name):
        document["algorithm"]["pretrained_model_name_or_path"] = MODEL
    elif observation_space is not None:
        document["network"] = network_for(observation_space)
    return document


def environment_section(name: str, environment: str) -> dict[str, Any]:
    """Return an environment section of the algorithm's kind."""
    family = algorithms.REGISTRY[name].family
    if family == "dataset":
        return {"dataset": environment}
    if family not in algorithms.LLM_FAMILIES:
        return {"name": environment}
    if ":" in environment and not environment.startswith(("http:", "https:")):
        return {"entrypoint": environment}
    if "://" in environment:
        return {"env_url": environment, "max_turns": 1}
    return {
        "dataset": environment,
        "rubric_file_path": "reward.py",
        "prompt_template": {"system": "Think first, then answer.", "user": "{question}"},
    }


def network_for(space: Any) -> dict[str, Any]:
    """Return a network for an observation space.

    Args:
        space: A Gymnasium space, or a mapping with `type` (or `kind`), `shape` and `spaces`.
    """
    head = {"hidden_size": [64], "activation": "ReLU"}
    mlp = {"hidden_size": [64], "activation": "ReLU"}
    kind, shape = _kind_of(space), _shape_of(space)
    if kind in ("Dict", "Tuple"):
        return {"arch": "multiinput", "encoder_config": {"mlp_config": mlp}, "head_config": head}
    if len(shape) == 3:
        cnn = {"channel_size": [32, 32], "kernel_size": [8, 4], "stride_size": [4, 2]}
        return {"arch": "cnn", "encoder_config": cnn, "head_config": head}
    return {"arch": "mlp", "encoder_config": mlp, "head_config": head}


def _kind_of(space: Any) -> str:
    if isinstance(space, dict):
        return str(space.get("type") or space.get("kind") or "").capitalize()
    return type(space).__name__


def _shape_of(space: Any) -> tuple[int, ...]:
    shape = space.get("shape") if isinstance(space, dict) else getattr(space, "shape", ())
    return tuple(shape or ())


def starting_text(algorithm: str, environment: str) -> str:
    """Return a commented manifest to write into a file.

    Raises:
        ManifestError: There is no such algorithm.
    """
    from arena_sdk.manifest.lookup import line_about

    name = known(algorithm)
    document = starting_document(name, environment)
    llm = algorithms.is_llm(name)
    document["training"] = _training(name)
    document["mutation"] = _mutation(name)
    document["tournament_selection"] = {"tournament_size": 2, "elitism": True}
    if algorithms.REGISTRY[name].family == "value":
        document["replay_buffer"] = {"max_size": 100_000}
    model = algorithms.model_of(name)
    for field in ("batch_size", "lr", "lr_actor", "lr_critic", "gamma", "learn_step", "group_size"):
        if field in model.model_fields:
            document["algorithm"][field] = model.model_fields[field].default
    if not llm:
        document["environment"]["num_envs"] = 1 if name.startswith("Neural") else 8
    lines = [
        f"# A {name} run on {environment}. `arena manifest explain PATH` says more of a field."
    ]
    for section, content in document.items():
        lines += ["", *_lines(content, (section,), 0, line_about, document)]
    return "\n".join(lines) + "\n"


def _training(name: str) -> dict[str, Any]:
    evo_steps = algorithms.REGISTRY[name].evo_steps
    steps = 1_000 if algorithms.is_llm(name) else 20 * evo_steps
    return {"max_steps": steps, "evo_steps": evo_steps, "pop_size": 4}


def _mutation(name: str) -> dict[str, Any]:
    from arena_sdk.manifest.mutation import MutationProbabilities

    model = algorithms.model_of(name)
    ranges = {}
    for field, (low, high) in MUTABLE.items():
        default = model.model_fields[field].default if field in model.model_fields else None
        if isinstance(default, float) and default:
            ranges[field] = {"min": _short(default * low), "max": _short(default * high)}
    no_network = {"arch_mut": 0.0, "new_layer": 0.0, "params_mut": 0.0}
    usual = {"no_mut": 0.4, "rl_hp_mut": 0.4}
    # Every kind is written: one that is not has its default, which is not 0.
    chances = {key: field.default for key, field in MutationProbabilities.model_fields.items()}
    return {
        "probabilities": {**chances, **usual, **(no_network if algorithms.is_llm(name) else {})},
        "rl_hp_selection": ranges,
    }


def _short(value: float) -> float:
    return float(f"{value:.2g}")


def _lines(content: Any, path: tuple[str, ...], depth: int, about: Any, document: Any) -> list[str]:
    indent, key = "  " * depth, path[-1]
    comment = about(path, document)
    note = f"  # {comment}" if comment else ""
    if not isinstance(content, dict):
        return [f"{indent}{key}: {_scalar(content)}{note}"]
    lines = [f"{indent}{key}:{note}"]
    for name, value in content.items():
        lines += _lines(value, (*path, name), depth + 1, about, document)
    return lines


def _scalar(value: Any) -> str:
    import yaml

    if isinstance(value, float):
        text = f"{value:.10f}".rstrip("0") if 1e-8 < abs(value) < 1 else repr(value)
        return text + "0" if text.endswith(".") else text
    text = yaml.safe_dump(value, default_flow_style=True, width=10**6, allow_unicode=True)
    return str(text).removesuffix("\n").removesuffix("\n...").strip()
