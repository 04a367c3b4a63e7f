"""Retired spellings, and what is written today: the one list of what is understood out of kindness.

The published contract refuses these manifests. Ours loads them with a warning for each change, and
`arena manifest migrate` writes the changes into the file. Nothing else is accepted that the
published contract refuses; see also `STRICTER` for what it accepts and ours does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from arena_sdk.manifest import algorithms
from arena_sdk.manifest.sections import algorithm_of

STRICTER = {
    "duplicate_key": "A key that is given twice; the published contract takes the last one.",
}
"""What the published contract accepts in the text of a manifest and ours refuses, by problem kind.

In a mapping, which cannot hold a key twice, verdicts are equal.
"""

REWARD_FILE = "reward.py"
PROMPT = {"user": "{question}"}


@dataclass(frozen=True)
class Change:
    """One change of a manifest.

    Attributes:
        action: `rename` a key, `set` its value, `remove` it, or `add` one to the mapping at path.
        path: Keys from the root.
        message: What was found and what it becomes.
        name: The new key, for `rename` and `add`.
        value: The new value, for `set` and `add`.
    """

    action: str
    path: tuple[str, ...]
    message: str
    name: str = ""
    value: Any = None


Rule = Callable[[str, dict[str, Any], dict[str, Any]], Iterator[Change]]


def changes(document: dict[str, Any]) -> list[Change]:
    """Return what must be changed in a manifest for retired spellings to be gone."""
    name = algorithm_of(document)
    if name is None:
        return []
    found: list[Change] = []
    for section, rules in RULES.items():
        raw = document.get(section)
        if isinstance(raw, dict):
            for rule in rules:
                found += rule(name, raw, document)
    return found


def _dropped_switches(name: str, raw: dict[str, Any], _: dict[str, Any]) -> Iterator[Change]:
    reasons = {
        "use_vllm": "answers are always sampled with vLLM",
        "reduce_memory_peak": "micro_batch_size_per_gpu bounds memory",
    }
    for key, reason in reasons.items():
        if key in raw and algorithms.is_llm(name):
            yield Change("remove", ("algorithm", key), f"It is retired: {reason}. Removed.")


def _granularity(name: str, raw: dict[str, Any], _: dict[str, Any]) -> Iterator[Change]:
    if "action_granularity" not in raw or not algorithms.is_llm(name):
        return
    path = ("algorithm", "action_granularity")
    if "advantage_granularity" in raw:
        yield Change("remove", path, "It is retired; advantage_granularity stands. Removed.")
        return
    yield Change("rename", path, "It is called advantage_granularity now.", "advantage_granularity")
    if raw["action_granularity"] == "token" and algorithms.REGISTRY[name].family == "group":
        message = f"`token` is none of {name}'s; it becomes `auto`."
        yield Change("set", path, message, value="auto")


ENV_TYPES = {
    "reasoning": ("rollout", None),
    "multiturn": ("rollout", None),
    "preference": ("dataset", "preference"),
    "sft": ("dataset", "sft"),
}
"""Retired `env_type`s: today's, and the objective that goes with it."""


def _env_type(name: str, raw: dict[str, Any], _: dict[str, Any]) -> Iterator[Change]:
    kind = raw.get("env_type")
    if not isinstance(kind, str) or kind not in ENV_TYPES:
        return
    today, objective = ENV_TYPES[kind]
    yield Change(
        "set", ("environment", "env_type"), f"`{kind}` is called `{today}` now.", value=today
    )
    if objective is not None and "objective" not in raw:
        yield Change(
            "add", ("environment",), f"`{kind}` is said by `objective: {objective}` now.",
            "objective", objective,
        )  # fmt: skip


def _named_source(name: str, raw: dict[str, Any], _: dict[str, Any]) -> Iterator[Change]:
    """A data set was the environment's `name`, and an environment its `env_name`."""
    if not algorithms.is_llm(name):
        return
    sources = ("dataset", "dataset_path", "hf_dataset_id", "entrypoint", "env_url", "env_image")
    if "env_name" in raw and not any(key in raw for key in sources):
        message = "An environment is named by its entrypoint now; write `module:Class`."
        yield Change("rename", ("environment", "env_name"), message, "entrypoint")
    elif isinstance(raw.get("name"), str) and not any(key in raw for key in sources):
        yield Change(
            "rename", ("environment", "name"), "A data set is named by `dataset` now.", "dataset"
        )


def _rewards(name: str, raw: dict[str, Any], _: dict[str, Any]) -> Iterator[Change]:
    """A data set to reason about had its reward and its prompt given beside the manifest."""
    kind = raw.get("env_type", algorithms.REGISTRY[name].env_type)
    others = ("entrypoint", "env_url", "env_image", "env_name")
    has_rows = any(key in raw for key in ("dataset", "dataset_path", "hf_dataset_id", "name"))
    retired = kind == "reasoning" or ("name" in raw and "dataset" not in raw)
    if kind not in ("reasoning", "rollout") or not has_rows or not retired:
        return
    if not algorithms.is_llm(name) or any(key in raw for key in others):
        return
    if "rubric_file_path" not in raw and "reward_file_path" not in raw:
        yield Change(
            "add", ("environment",),
            f"The reward's file is named in the manifest now; {REWARD_FILE} is assumed.",
            "rubric_file_path", REWARD_FILE,
        )  # fmt: skip
    if "prompt_template" not in raw:
        yield Change(
            "add", ("environment",),
            "The prompt is written in the manifest now; the column `question` is assumed.",
            "prompt_template", PROMPT,
        )  # fmt: skip


def _async(name: str, raw: dict[str, Any], document: dict[str, Any]) -> Iterator[Change]:
    if "async_rollout" not in raw:
        return
    path = ("training", "async_rollout")
    if raw["async_rollout"] is not True:
        yield Change("remove", path, "It is retired; without it rollouts are colocated. Removed.")
        return
    yield Change("rename", path, "`rollout_mode: async` says it now.", "rollout_mode")
    yield Change("set", path, "`true` becomes `async`.", value="async")
    if "rollout_engines_per_agent" not in raw:
        message = "async needs to know how many engines sample; `auto` is assumed."
        yield Change("add", ("training",), message, "rollout_engines_per_agent", "auto")
    if "replay_buffer" not in document:
        message = "async needs a buffer for answers."
        yield Change("add", (), message, "replay_buffer", {"kind": "llm"})


RULES: dict[str, tuple[Rule, ...]] = {
    "algorithm": (_dropped_switches, _granularity),
    "environment": (_env_type, _named_source, _rewards),
    "training": (_async,),
}
