"""The rules that cross sections, and what one section says for another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from arena_sdk.manifest import algorithms
from arena_sdk.manifest.base import Fault, fault, second_spelling
from arena_sdk.manifest.problems import closest

if TYPE_CHECKING:
    from arena_sdk.manifest.base import Section


ASYNC_DEFAULTS = {
    "rollout_batch_size": 1, "weight_sync_backend": "nccl", "weight_sync_interval": 1,
}  # fmt: skip

USUAL_TOURNAMENT = 2
"""Members of a tournament by default, of which nothing is said in a population of one."""


@dataclass
class Parts:
    """The sections of a manifest, each None when it is not there or not valid.

    Attributes:
        name: The algorithm's.
        network_written: Whether there is a network section, empty or not.
    """

    name: str
    algorithm: Any = None
    environment: Any = None
    training: Any = None
    network: Any = None
    mutation: Any = None
    replay_buffer: Any = None
    tournament_selection: Any = None
    network_written: bool = False


def crossing_faults(parts: Parts) -> Iterator[Fault]:
    """Yield every broken rule, and give the algorithm what other sections say of it."""
    if parts.algorithm is not None:
        yield from _shared_values(parts)
        yield from _model(parts)
        yield from _recurrence(parts)
        if parts.mutation is not None:
            yield from _mutated_names(parts)
    yield from _brackets(parts)
    yield from _rollouts(parts)


def doubts(parts: Parts) -> Iterator[Fault]:
    """Yield what is valid and yet hardly meant."""
    selection, training = parts.tournament_selection, parts.training
    size = getattr(selection, "tournament_size", 0)
    if training is not None and size > max(USUAL_TOURNAMENT, training.pop_size):
        yield fault(
            f"tournament_size ({size}) is above training.pop_size ({training.pop_size}), so members"
            " are drawn more than once and the fittest wins nearly every place.",
            "tournament_selection", "tournament_size",
        )  # fmt: skip


def _is_pretrained(network: Section | None) -> bool:
    return network is not None and "max_context_length" in type(network).model_fields


def _shared_values(parts: Parts) -> Iterator[Fault]:
    """Give the algorithm the values that other sections hold for it too."""
    environment, network = parts.environment, parts.network
    said: list[tuple[str, str, Any]] = []
    if environment is not None and "num_envs" in environment.model_fields_set:
        said += [(name, "environment.num_envs", environment.num_envs)
                 for name in ("num_envs", "vect_noise_dim")]  # fmt: skip
    if _is_pretrained(network) and algorithms.is_llm(parts.name):
        model = network.pretrained_model_name_or_path
        said.append(("pretrained_model_name_or_path", "network", model))
        said.append(("max_model_len", "network.max_context_length", network.max_context_length))
        if network.lora_config is not None:
            said.append(("lora_config", "network.lora_config", network.lora_config))
    for name, where, value in said:
        if name not in type(parts.algorithm).model_fields:
            continue
        own = getattr(parts.algorithm, name)
        if name in parts.algorithm.model_fields_set and own != value:
            if not isinstance(value, int | str):
                yield fault(f"It disagrees with {where}; write it in one place.", "algorithm", name)
            else:
                yield fault(
                    f"{'null' if own is None else own} disagrees with {where}, which is {value};"
                    " write it in one place.",
                    "algorithm",
                    name,
                )
        else:
            setattr(parts.algorithm, name, value)


def _model(parts: Parts) -> Iterator[Fault]:
    """A language model is named exactly where one is trained."""
    pretrained = _is_pretrained(parts.network)
    if not algorithms.is_llm(parts.name):
        if pretrained:
            yield fault(
                f"{parts.name} builds networks of its own and takes no pretrained model.",
                "network",
                "pretrained_model_name_or_path",
            )
        return
    if parts.network_written and not pretrained:
        yield fault(
            f"{parts.name} fine-tunes a model: write pretrained_model_name_or_path and"
            " max_context_length here, or leave the section out.",
            "network",
        )
    elif parts.algorithm.pretrained_model_name_or_path is None:
        yield fault(
            f"{parts.name} needs a model: write it here, or in `network`.",
            "algorithm",
            "pretrained_model_name_or_path",
        )


def _recurrence(parts: Parts) -> Iterator[Fault]:
    if getattr(parts.algorithm, "recurrent", False) and getattr(parts.network, "simba", False):
        yield fault("simba and algorithm.recurrent exclude each other.", "network", "simba")


def _mutated_names(parts: Parts) -> Iterator[Fault]:
    """Only numbers of the algorithm can grow and shrink."""
    if not parts.mutation.rl_hp_selection:
        return
    numeric = numeric_fields(type(parts.algorithm))
    for name in parts.mutation.rl_hp_selection:
        if name in numeric:
            continue
        path = ("mutation", "rl_hp_selection", name)
        if name != "name" and name in type(parts.algorithm).model_fields:
            yield fault(f"{name} of {parts.name} is no number, so it cannot grow or shrink.", *path)
            continue
        meant = closest(name, numeric)
        hint = f" Did you mean {meant!r}?" if meant else ""
        yield fault(f"{parts.name} has no such number.{hint}", *path)


def numeric_fields(algorithm: type[Section]) -> list[str]:
    """Return the names, second spellings too, of an algorithm's fields that are numbers."""
    found = []
    for name, field in algorithm.model_fields.items():
        kinds = {field.annotation, *get_args(field.annotation)}
        if kinds & {int, float} and bool not in kinds:
            found.append(name)
            other = second_spelling(field)
            if other:
                found.append(other)
    return found


def _brackets(parts: Parts) -> Iterator[Fault]:
    selection = parts.tournament_selection
    if selection is None or selection.strategy != "multi_frequency" or parts.training is None:
        return
    found = selection.brackets(parts.training.pop_size)
    if isinstance(found, str):
        yield fault(found, "tournament_selection", "n_subpopulations")
        return
    for name, value in found.items():
        setattr(selection, name, value)
    selection.evolution_frequency_ratios = selection.frequencies()


def _rollouts(parts: Parts) -> Iterator[Fault]:
    training, buffer = parts.training, parts.replay_buffer
    answers = buffer if buffer is not None and buffer.kind == "llm" else None
    if training is not None:
        yield from _sampled_elsewhere(training, answers)
        _engine_beside_training(parts)
        lag = (answers.max_rollout_version_lag or 0) if answers is not None else 0
        if training.reuse_prefix_cache_across_syncs and lag < 1:
            yield fault(
                "It needs a replay_buffer of kind llm with max_rollout_version_lag of at least 1.",
                "training", "reuse_prefix_cache_across_syncs",
            )  # fmt: skip
    replays = answers is not None and answers.group_replay_max_age > 0
    if replays and parts.algorithm is not None and getattr(parts.algorithm, "group_size", 1) < 2:
        yield fault(
            "It needs an algorithm that compares groups (GRPO, GSPO or CISPO) with group_size of"
            " at least 2.",
            "replay_buffer", "group_replay_max_age",
        )  # fmt: skip


def _sampled_elsewhere(training: Any, answers: Any) -> Iterator[Fault]:
    """With `rollout_mode: async`, answers are kept in a buffer and weights are sent."""
    if training.rollout_mode != "async":
        return
    if answers is None:
        yield fault(
            "async needs a buffer for answers: write `replay_buffer: {kind: llm}`.",
            "training", "rollout_mode",
        )  # fmt: skip
    for name, value in ASYNC_DEFAULTS.items():
        if getattr(training, name) is None:
            setattr(training, name, value)


def _engine_beside_training(parts: Parts) -> None:
    """Without it, the engine shares its GPU with learning and has settings for that."""
    if parts.training.rollout_mode == "async":
        return
    if hasattr(parts.algorithm, "vllm_config") and parts.algorithm.vllm_config is None:
        from arena_sdk.manifest.algorithms.vllm import beside_training

        parts.algorithm.vllm_config = beside_training()
