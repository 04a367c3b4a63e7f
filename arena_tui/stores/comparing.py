"""How runs differ: their manifests once defaults are filled in, and their figures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arena_tui import format

if TYPE_CHECKING:
    from arena_tui.stores.run import Run

ABSENT: Any = object()
"""Stands where a manifest has no such field."""


def filled(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest with its defaults, or as it is when it is not one that we understand."""
    from arena_sdk.manifest import ManifestError, TrainingManifest

    try:
        return TrainingManifest.load(dict(manifest)).payload()
    except ManifestError:
        return dict(manifest)


def leaves(tree: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return the values of nested mappings by their paths, as `training.max_steps`."""
    found: dict[str, Any] = {}
    for key, value in tree.items():
        path = f"{above}{key}"
        if isinstance(value, Mapping) and value:
            found.update(leaves(value, f"{path}."))
        else:
            found[path] = value
    return found


def differing(manifests: Sequence[Mapping[str, Any]]) -> tuple[dict[str, list[Any]], int]:
    """Return the fields that manifests do not agree on, and how many they agree on.

    Args:
        manifests: What to compare, defaults filled in.

    Returns:
        Values by path, one a manifest in their order, `ABSENT` where one has none; paths in the
        order of the manifests.
    """
    flat = [leaves(manifest) for manifest in manifests]
    paths = dict.fromkeys(path for one in flat for path in one)
    rows = {path: [one.get(path, ABSENT) for one in flat] for path in paths}
    found = {path: values for path, values in rows.items() if any(v != values[0] for v in values)}
    return found, len(rows) - len(found)


def shown(value: Any) -> str:
    """Return a value of a manifest as it is written in a table."""
    if value is ABSENT:
        return format.NOTHING
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def figures(run: Run) -> dict[str, Any]:
    """Return what a run has reached: the service's word, or what its metrics say where it is mum.

    `seconds` are from its start to its end, or to now while it runs; `members` are those alive.
    """
    row = run.figures
    columns = run.columns
    fitness = columns.gather("fitness")
    finite = fitness[np.isfinite(fitness)]
    reached = float(finite.max()) if len(finite) else None
    return {
        "name": run.name,
        "state": row.get("state") or "",
        "algorithm": row.get("algorithm"),
        "environment": row.get("environment"),
        "best_fitness": _first(row.get("best_fitness"), reached),
        "mean_fitness": row.get("mean_fitness"),
        "generation": _first(row.get("generation"), columns.generation or None),
        "steps": _first(row.get("steps"), _greatest(run, "steps")),
        "total_steps": _first(row.get("total_steps"), _greatest(run, "total_steps")),
        "steps_per_second": row.get("steps_per_second"),
        "members": _first(row.get("pop_size"), len(columns.living) or None),
        "seconds": _seconds(run),
    }


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _greatest(run: Run, name: str) -> int | None:
    values = run.columns.gather(name)
    finite = values[np.isfinite(values)]
    return int(finite.max()) if len(finite) else None


def _seconds(run: Run) -> float | None:
    start = format.moment(run.figures.get("started_at"))
    end = format.moment(run.figures.get("ended_at"))
    if start is not None and (end is not None or run.is_active):
        return (format.time.time() if end is None else end) - start
    times = run.columns.gather("time")
    return float(times.max() - times.min()) if len(times) > 1 else None
