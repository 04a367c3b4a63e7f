"""Which algorithms of the manifest can be trained on an environment here, and why not the others.

What is known of algorithms is in `arena_sdk.local.training.catalogue`, where submissions are
refused by it too; here it is asked for one environment, from the description of its spaces that a
validation leaves.
"""

from __future__ import annotations

from typing import Any

from arena_sdk.local.training.catalogue import ALGORITHMS, space_problem
from arena_sdk.local.validation.space_trees import space_of
from arena_sdk.manifest.algorithms import REGISTRY, Entry, is_llm


def fitting_algorithms(
    spaces: dict[str, Any], *, multi_agent: bool = False, language_based: bool = False
) -> list[dict[str, Any]]:
    """Say for every algorithm of the manifest whether it can be trained on an environment.

    Args:
        spaces: `{"observation": tree, "action": tree}` as a validation reports them; of several
            agents a Dict by agent each.
        multi_agent: The environment is a PettingZoo one.
        language_based: It is a GEM one.

    Returns:
        `{"algorithm", "fits", "why"}` for each, those that fit first, in the manifest's order;
        `why` is one sentence, "" where it fits. Empty when the spaces are not known.
    """
    if not language_based and not {"observation", "action"} <= spaces.keys():
        return []
    rows = []
    for name, entry in REGISTRY.items():
        why = _why_not(name, entry, spaces, multi_agent, language_based)
        rows.append({"algorithm": name, "fits": why is None, "why": why or ""})
    return sorted(rows, key=lambda row: not row["fits"])


def _why_not(
    name: str, entry: Entry, spaces: dict[str, Any], multi_agent: bool, language_based: bool
) -> str | None:
    if entry.env_type == "dataset":
        return f"{name} trains a language model on a dataset, not in an environment."
    if is_llm(name) and not language_based:
        return f"{name} trains a language model, which needs an environment of text."
    if is_llm(name):
        return f"{name} trains a language model, which this Arena, one machine, does not."
    if language_based:
        return f"{name} needs observations and actions of numbers; here they are text."
    if entry.env_type in ("offline", "bandit"):
        kind = "recorded steps" if entry.env_type == "offline" else "a labelled dataset"
        return f"{name} learns from {kind} (env_type: {entry.env_type}), not from steps taken here."
    if (entry.module == "multi_agent") != multi_agent:
        wants, has = ("several agents", "one") if not multi_agent else ("one agent", "several")
        return f"{name} trains {wants}; the environment has {has}."
    if name not in ALGORITHMS:
        return f"{name} cannot be trained on this Arena."
    observation, action = space_of(spaces["observation"]), space_of(spaces["action"])
    if multi_agent:
        observation, action = observation.spaces, action.spaces
    problem = space_problem(name, observation, action)
    return None if problem is None else f"{problem}."
