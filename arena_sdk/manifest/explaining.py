"""What `arena manifest explain` says: a field of one algorithm, or of all that have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena_sdk.manifest import algorithms
from arena_sdk.manifest.describing import Description, describe
from arena_sdk.manifest.problems import closest
from arena_sdk.manifest.sections import SECTIONS


@dataclass(frozen=True)
class Explanation:
    """A field, and the algorithms whose field is just so."""

    description: Description
    algorithms: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return it as text."""
        head = self.description.path
        if self.algorithms:
            head += f"  ({', '.join(self.algorithms)})"
        return [head, *self.description.lines()]

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {**vars(self.description), "algorithms": list(self.algorithms)}


def explanations(path: str, algorithm: str | None = None) -> list[Explanation]:
    """Return what a dotted path means.

    Args:
        path: As `algorithm.lr`.
        algorithm: Of which algorithm; None for all that have the field.

    Raises:
        ValueError: There is no such field; the message is a sentence.
    """
    keys = tuple(part for part in path.strip().split(".") if part)
    names = [_named(algorithm)] if algorithm else list(algorithms.NAMES)
    grouped: dict[Description, list[str]] = {}
    for name in names:
        for document in _documents(keys, name):
            found = describe(keys, document)
            if found is not None:
                grouped.setdefault(found, []).append(name)
                break
    if not grouped:
        raise ValueError(_unknown(keys, names, algorithm))
    if len(grouped) == 1 and not algorithm and len(next(iter(grouped.values()))) == len(names):
        return [Explanation(next(iter(grouped)))]
    return [Explanation(one, tuple(owners)) for one, owners in grouped.items()]


def _named(algorithm: str) -> str:
    name = algorithms.canonical(algorithm)
    if name is None:
        meant = closest(algorithm, algorithms.NAMES)
        hint = f" Did you mean {meant!r}?" if meant else ""
        raise ValueError(f"There is no algorithm {algorithm!r}.{hint}")
    return name


def _documents(keys: tuple[str, ...], name: str) -> list[dict[str, Any]]:
    """Return manifests of the algorithm with each kind that the section may be of."""
    base: dict[str, Any] = {"algorithm": {"name": name}}
    section = keys[0] if keys else ""
    kinds: list[dict[str, Any]] = [{}]
    if section == "network":
        model = {"pretrained_model_name_or_path": "m", "max_context_length": 1}
        arches = [
            {"encoder_config": {"arch": arch}}
            for arch in ("mlp", "cnn_lstm", "simba", "multiinput")
        ]
        kinds = [model] if algorithms.is_llm(name) else [*arches, {}]
    elif section == "replay_buffer":
        kinds = [{}, {"kind": "llm"}]
    elif section in ("tournament_selection", "selection_strategy"):
        kinds = [{}, {"strategy": "multi_frequency"}]
    return [{**base, section: kind} if section != "algorithm" else base for kind in kinds]


def _unknown(keys: tuple[str, ...], names: list[str], algorithm: str | None) -> str:
    path = ".".join(keys)
    if not keys or len(keys) == 1:
        return f"There is no section {path!r}; there are {', '.join(SECTIONS)}."
    known: dict[str, None] = {}
    for name in names:
        for document in _documents(keys, name):
            parent = describe(keys[:-1], document)
            known.update(dict.fromkeys(parent.fields if parent else ()))
    whose = f" of {algorithm}" if algorithm else ""
    meant = closest(keys[-1], known)
    hint = f" Did you mean {'.'.join((*keys[:-1], meant))!r}?" if meant else ""
    return f"There is no field {path!r}{whose}.{hint}"
