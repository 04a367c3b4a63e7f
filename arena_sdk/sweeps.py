"""Sweeps: one manifest, changed in several ways, as one experiment each.

All of it happens in the client: a child is an ordinary manifest, so that a sweep runs on every
Arena. `expand` makes the children; `AsyncSweeps.submit_sweep` submits them.
"""

from __future__ import annotations

import copy
import itertools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena_sdk.errors import ArenaConfigError
from arena_sdk.names import MAX_NAME_LENGTH

Given = str | os.PathLike[str] | dict[str, Any]

MOST_CHILDREN = 1_000
"""Experiments of one sweep; more is a slip of the pen."""

SEED = "seed"


@dataclass(frozen=True)
class Child:
    """One experiment of a sweep.

    Attributes:
        name: Its name, unique in the sweep; None when the service is to make one up.
        overrides: What differs from the manifest that the sweep began with, by dotted path.
        manifest: The whole manifest, checked.
    """

    name: str | None
    overrides: dict[str, Any]
    manifest: dict[str, Any]


def expand(
    manifest: Given,
    *,
    overrides: Mapping[str, Any] | None = None,
    seeds: Iterable[int] = (),
    grid: Mapping[str, Sequence[Any]] | None = None,
    name: str | None = None,
) -> list[Child]:
    """Return the children of a sweep: each point of the grid, with each seed.

    Example:
        >>> base = {"algorithm": {"name": "DQN"}, "environment": {"name": "CartPole-v1"}}
        >>> [child.name for child in expand(base, grid={"algorithm.lr": [1e-3, 1e-4]}, name="walk")]
        ['walk-lr-0.001', 'walk-lr-0.0001']

    Args:
        manifest: A YAML or JSON file, or the manifest itself.
        overrides: What is changed in every child, by dotted path.
        seeds: A child for each of them.
        grid: Values by dotted path; a child for each combination.
        name: What the children's names begin with; made from the file or the manifest when None.

    Raises:
        ArenaConfigError: A path is no path of a manifest, or is given twice, or there are too many.
        ManifestError: A child is not valid.
    """
    from arena_sdk.manifest import TrainingManifest

    document, sections = _opened(manifest)
    fixed = _canonical(overrides or {}, sections)
    axes = {path: list(values) for path, values in _canonical(grid or {}, sections).items()}
    numbers = list(seeds)
    if numbers:
        _add_axis(axes, _seed_path(sections), numbers)
    for path, values in axes.items():
        if path in fixed:
            raise ArenaConfigError(f"{path} is set and varied; do one of the two.")
        if not values:
            raise ArenaConfigError(f"{path} has no values to vary over.")
    points = _points(axes)
    stem = name or _stem(manifest, document)
    children = []
    for point in points:
        changed = copy.deepcopy(document)
        for path, value in {**fixed, **point}.items():
            _put(changed, path, value, sections)
        TrainingManifest.load(changed)
        label = _label(stem, point, _seed_path(sections)) if axes else name
        children.append(Child(label, {**fixed, **point}, changed))
    return _named_apart(children)


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return the name, or the first of `name-2`, `name-3`, … that is not taken."""
    known = set(taken)
    candidate, number = name, 1
    while candidate in known:
        number += 1
        ending = f"-{number}"
        candidate = name[: MAX_NAME_LENGTH - len(ending)].rstrip(" ._-") + ending
    return candidate


def value_of(text: str) -> Any:
    """Return what a value that was written on a command line means.

    Example:
        >>> value_of("1e-3"), value_of("[64, 64]"), value_of("true"), value_of("CartPole-v1")
        (0.001, [64, 64], True, 'CartPole-v1')
    """
    import yaml

    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    return _numbers(value)


def values_of(text: str) -> list[Any]:
    """Return the values of a list with commas.

    Example:
        >>> values_of("1e-3,1e-4"), values_of("[64],[64, 64]")
        ([0.001, 0.0001], [[64], [64, 64]])
    """
    values = value_of(f"[{text}]")
    return values if isinstance(values, list) else [value_of(part) for part in text.split(",")]


def _numbers(value: Any) -> Any:
    """Return a value in which `1e-3` is a number, as people mean it, and not text, as YAML has it.

    Dates and the like stay what was written.
    """
    if isinstance(value, list):
        return [_numbers(inner) for inner in value]
    if isinstance(value, dict):
        return {str(key): _numbers(inner) for key, inner in value.items()}
    if isinstance(value, str):
        try:
            return float(value) if any(c.isdigit() for c in value) else value
        except ValueError:
            return value
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _opened(manifest: Given) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a manifest as it was written, in present spelling, and its sections where valid."""
    from arena_sdk.manifest import ManifestError, ManifestUnreadable, TrainingManifest
    from arena_sdk.manifest.checking import Check
    from arena_sdk.manifest.migrate import migrated
    from arena_sdk.manifest.source import read

    source = read(manifest)
    if Check(source).problems:
        replaced, warnings = migrated(source)
        source = replaced if warnings else source
    document: dict[str, Any] = copy.deepcopy(source.document)
    try:
        return document, vars(TrainingManifest.from_source(source))
    except ManifestUnreadable:
        raise
    except ManifestError:
        if source.problems:  # the text itself is at fault, which no change of a value heals
            raise
        return document, {}


def _canonical(given: Mapping[str, Any], sections: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by the one spelling of each path."""
    found: dict[str, Any] = {}
    for path, value in given.items():
        keys = path.split(".")
        if len(keys) < 2 or not all(keys):
            raise ArenaConfigError(
                f"{path!r} is no path of a manifest; write section.key, as in algorithm.lr."
            )
        names = _spellings(sections, keys[0], keys[1])
        _add_axis(found, ".".join([keys[0], names[0], *keys[2:]]), value)
    return found


def _add_axis(found: dict[str, Any], path: str, value: Any) -> None:
    if path in found:
        raise ArenaConfigError(f"{path} is given twice.")
    found[path] = value


def _spellings(sections: Mapping[str, Any], section: str, key: str) -> list[str]:
    """Return every spelling of a field, the one that is written first."""
    fields = getattr(type(sections.get(section)), "model_fields", {})
    for name, field in fields.items():
        alias = field.validation_alias
        names = [name, alias] if isinstance(alias, str) else [name]
        if key in names:
            return names
    return [key]


def _seed_path(sections: Mapping[str, Any]) -> str:
    """Return where the seed of a run is: language models have one of their own."""
    fields = getattr(type(sections.get("algorithm")), "model_fields", {})
    return "algorithm.seed" if SEED in fields else "mutation.rand_seed"


def _points(axes: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    count = 1
    for values in axes.values():
        count *= len(values)
    if count > MOST_CHILDREN:
        raise ArenaConfigError(
            f"The sweep has {count:,} experiments; at most {MOST_CHILDREN:,} are submitted at once."
        )
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def _put(document: dict[str, Any], path: str, value: Any, sections: Mapping[str, Any]) -> None:
    """Set what a path names; another spelling of it goes."""
    *above, last = path.split(".")
    here: Any = document
    for depth, key in enumerate(above, 1):
        inner = here.get(key)
        if inner is None:
            inner = here[key] = {}
        if not isinstance(inner, dict):
            parent = ".".join(above[:depth])
            raise ArenaConfigError(f"{path} cannot be set: {parent} is {inner!r}, not a section.")
        here = inner
    if len(above) == 1:
        for spelling in _spellings(sections, above[0], last):
            here.pop(spelling, None)
    here[last] = value


def _stem(manifest: Given, document: Mapping[str, Any]) -> str:
    """Return what names begin with when nothing is said: the file's name, or what is trained."""
    if not isinstance(manifest, dict) and str(manifest) != "-" and "\n" not in str(manifest):
        return _plain(Path(manifest).stem)
    parts = (document.get(section) for section in ("algorithm", "environment"))
    names = [str(part["name"]) for part in parts if isinstance(part, dict) and "name" in part]
    return _plain("-".join(names).lower())


def _label(stem: str, point: Mapping[str, Any], seed_path: str) -> str:
    words = []
    for path, value in point.items():
        key = SEED if path == seed_path else path.rsplit(".", 1)[-1]
        words.append(f"{key}-{_plain(_written(value))}")
    return _plain("-".join([stem, *words]))[:MAX_NAME_LENGTH].rstrip(" ._-")


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _plain(text: str) -> str:
    """Return text of which an experiment's name can be made."""
    kept = "".join(c if c.isalnum() or c in "._-" else "-" for c in text)
    while "--" in kept:
        kept = kept.replace("--", "-")
    return kept.strip("._-") or "run"


def _named_apart(children: list[Child]) -> list[Child]:
    """Return the children with names that differ."""
    taken: set[str] = set()
    apart = []
    for child in children:
        name = None if child.name is None else free_name(child.name, taken)
        if name is not None:
            taken.add(name)
        apart.append(Child(name, child.overrides, child.manifest))
    return apart
