"""Which class judges a section, seen what is written in it and which algorithm is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena_sdk.manifest import algorithms

if TYPE_CHECKING:
    from arena_sdk.manifest.base import Section

SECTIONS = {
    "algorithm": "What is learned by, and its hyperparameters.",
    "environment": "What is learned in.",
    "training": "The budget: how long, how many, how often.",
    "network": "The networks.",
    "mutation": "How members are changed between generations.",
    "replay_buffer": "What is learned from.",
    "tournament_selection": "Which members go on to the next generation.",
}
"""The sections in the order in which a payload has them, each with one line."""

REQUIRED = ("algorithm", "environment")
TOP_SPELLINGS = {
    "selection_strategy": "tournament_selection",
    "api_version": "apiVersion",
}
API_VERSION = "agilerl.com/v1"

ENV_TYPES = ("gym", "offline", "bandit", "rollout", "dataset")
STRATEGIES = ("tournament", "multi_frequency")
BUFFERS = ("classic", "llm")
ARCHITECTURES = ("mlp", "cnn", "cnn_lstm", "lstm", "multiinput", "simba")


class UnknownKind(ValueError):
    """A section says that it is of a kind that there is not.

    Attributes:
        key: The field that says so.
        found: What it says.
        allowed: What it may say.
    """

    def __init__(self, key: str, found: Any, allowed: tuple[str, ...]) -> None:
        super().__init__(key)
        self.key, self.found, self.allowed = key, found, allowed


def algorithm_of(document: dict[str, Any]) -> str | None:
    """Return the name of a manifest's algorithm, or None when there is none such."""
    section = document.get("algorithm")
    return algorithms.canonical(section.get("name")) if isinstance(section, dict) else None


def class_for(section: str, raw: dict[str, Any], algorithm: str | None) -> type[Section] | None:
    """Return the class of a section.

    Args:
        section: Its name in a payload.
        raw: What is written in it.
        algorithm: The algorithm's name, or None when it is not known.

    Returns:
        The class, or None when it depends on an algorithm that is not known.

    Raises:
        UnknownKind: The section is of no kind that there is.
    """
    if section == "algorithm":
        if algorithm is None:
            raise UnknownKind("name", raw.get("name"), tuple(sorted(algorithms.NAMES)))
        return algorithms.model_of(algorithm)
    if section == "environment":
        return _environment(raw, algorithm)
    if section == "network":
        return _network(raw)
    if section == "training":
        from arena_sdk.manifest.training import Training

        return Training
    if section == "mutation":
        from arena_sdk.manifest.mutation import Mutation

        return Mutation
    if section == "replay_buffer":
        from arena_sdk.manifest import buffers

        return (buffers.ReplayBuffer, buffers.RolloutBuffer)[_kind(raw, "kind", BUFFERS)]
    from arena_sdk.manifest import selection

    return (selection.Tournament, selection.MultiFrequency)[_kind(raw, "strategy", STRATEGIES)]


def _kind(raw: dict[str, Any], key: str, allowed: tuple[str, ...]) -> int:
    found = raw.get(key, allowed[0])
    if not isinstance(found, str) or found not in allowed:
        raise UnknownKind(key, found, allowed)
    return allowed.index(found)


def environment_defaults(raw: dict[str, Any], algorithm: str) -> dict[str, Any]:
    """Return an environment section with what the algorithm says of it where it is not written."""
    entry = algorithms.REGISTRY[algorithm]
    if "env_type" in raw:
        return raw
    objective = {"objective": entry.objective} if entry.objective else {}
    return {"env_type": entry.env_type, **objective, **raw}


def env_type_of(raw: dict[str, Any], algorithm: str | None) -> Any:
    """Return the kind of environment that is written, or else the algorithm's own."""
    if "env_type" in raw:
        return raw["env_type"]
    return algorithms.REGISTRY[algorithm].env_type if algorithm else None


def _environment(raw: dict[str, Any], algorithm: str | None) -> type[Section] | None:
    found = env_type_of(raw, algorithm)
    if found is None and "env_type" not in raw:
        return None
    if not isinstance(found, str) or found not in ENV_TYPES:
        raise UnknownKind("env_type", found, ENV_TYPES)
    if found in ("rollout", "dataset"):
        from arena_sdk.manifest.environment_llm import LlmEnvironment

        return LlmEnvironment
    from arena_sdk.manifest import environment

    if found == "gym":
        return environment.GymEnvironment
    return environment.OfflineEnvironment if found == "offline" else environment.BanditEnvironment


def arch_of(raw: dict[str, Any]) -> Any:
    """Return the kind of encoder that a network section names, or None."""
    encoder = raw.get("encoder_config")
    if isinstance(encoder, dict) and "arch" in encoder:
        return encoder["arch"] or None
    return raw.get("arch") or None


def _network(raw: dict[str, Any]) -> type[Section]:
    from arena_sdk.manifest import network

    if "pretrained_model_name_or_path" in raw or "max_context_length" in raw:
        return network.PretrainedNetwork
    arch = arch_of(raw)
    if arch is None:
        return network.DeferredNetwork
    if not isinstance(arch, str) or arch not in network.ENCODERS:
        raise UnknownKind("encoder_config.arch", arch, tuple(network.ENCODERS))
    return network.Network
