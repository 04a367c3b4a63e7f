"""What `arena manifest explain` says: a field of one algorithm, or of all that have it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from arena_sdk.manifest import algorithms
from arena_sdk.manifest.base import Section
from arena_sdk.manifest.describing import Description, describe
from arena_sdk.manifest.lookup import is_section, section_class, sections_in
from arena_sdk.manifest.problems import SYNONYMS, closest
from arena_sdk.manifest.sections import SECTIONS, TOP_SPELLINGS

NAMED = 3
"""Paths that a hint names."""
DEPTH = 3
"""Levels of fields inside of fields that are looked through for a bare name."""


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
        path: As `algorithm.lr`; a field's name alone, as `lr`, means all fields that are so named.
        algorithm: Of which algorithm; None for all that have the field.

    Raises:
        ValueError: There is no such field; the message is a sentence.
    """
    keys = tuple(part for part in path.strip().split(".") if part)
    if len(keys) == 1 and keys[0] not in (*SECTIONS, *TOP_SPELLINGS):
        return _of_a_bare_name(keys[0], algorithm)
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


def _of_a_bare_name(name: str, algorithm: str | None) -> list[Explanation]:
    """Explain every field of a name, of whichever section; or what another tool calls so."""
    names = [_named(algorithm)] if algorithm else list(algorithms.NAMES)
    known = list(dict.fromkeys(path for one in names for path in _paths(one)))
    wanted = name.lower()
    words = (wanted, SYNONYMS.get(wanted, wanted))
    found = sorted((path for path in known if path[-1] in words), key=lambda p: words.index(p[-1]))
    if found:
        return [one for path in found for one in explanations(".".join(path), algorithm)]
    sections = f"there are the sections {', '.join(SECTIONS)}"
    meant = closest(name, [*SECTIONS, *(path[-1] for path in known)])
    where = [".".join(path) for path in known if path[-1] == meant]
    hint = f" Did you mean {' or '.join(where[:NAMED]) or meant}?" if meant else ""
    raise ValueError(f"There is no section and no field {name!r}; {sections}.{hint}")


def _paths(name: str) -> Iterator[tuple[str, ...]]:
    """Yield the path of every field of an algorithm's manifests, those inside of others too."""
    for section in SECTIONS:
        for document in _documents((section,), name):
            model = section_class(section, document)
            if model is not None:
                yield from _paths_in(model, (section,))


def _paths_in(model: type[Section], path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        yield (*path, name)
        if is_section(field.annotation) and len(path) < DEPTH:
            for inside in sections_in(field.annotation):
                yield from _paths_in(inside, (*path, name))


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
