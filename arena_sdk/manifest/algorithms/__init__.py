"""The algorithms: families that share fields, and one short class for each algorithm.

`REGISTRY` names each with its module; a module is imported when one of its algorithms is used. To
add an algorithm, write its class beside its family's and a line here.
"""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena_sdk.manifest.algorithms.shared import Algorithm


@dataclass(frozen=True)
class Entry:
    """What is known of an algorithm before its class is imported.

    Attributes:
        module: Where its class is.
        family: `value`, `policy`, `multi`, `bandit`, `rollout` (language models that sample) or
            `dataset` (language models that do not).
        env_type: The `environment.env_type` of a manifest that has none.
        evo_steps: The `training.evo_steps` of a manifest that has none.
        objective: The `environment.objective` of a manifest that has none.
        class_name: The name of its class, where the algorithm's is no identifier.
    """

    module: str
    family: str
    env_type: str = "gym"
    evo_steps: int = 10_000
    objective: str | None = None
    class_name: str | None = None


def _sampled(family: str = "rollout") -> Entry:
    return Entry("llm_rollout", family, "rollout", 20)


REGISTRY: dict[str, Entry] = {
    "DQN": Entry("single_agent", "value"),
    "Rainbow DQN": Entry("single_agent", "value", class_name="RainbowDQN"),
    "CQN": Entry("single_agent", "value", "offline", 5_000),
    "DDPG": Entry("single_agent", "value"),
    "TD3": Entry("single_agent", "value"),
    "PPO": Entry("single_agent", "policy"),
    "Recurrent PPO": Entry("single_agent", "policy", class_name="RecurrentPPO"),
    "NeuralUCB": Entry("single_agent", "bandit", "bandit", 500),
    "NeuralTS": Entry("single_agent", "bandit", "bandit", 500),
    "IPPO": Entry("multi_agent", "multi"),
    "MADDPG": Entry("multi_agent", "multi"),
    "MATD3": Entry("multi_agent", "multi"),
    "GRPO": _sampled("group"),
    "GSPO": _sampled("group"),
    "CISPO": _sampled("group"),
    "LLMPPO": _sampled(),
    "LLMREINFORCE": _sampled(),
    "DPO": Entry("llm_dataset", "dataset", "dataset", 20, "preference"),
    "SFT": Entry("llm_dataset", "dataset", "dataset", 20, "sft"),
}
ALIASES = {"RainbowDQN": "Rainbow DQN", "RecurrentPPO": "Recurrent PPO"}
NAMES = tuple(REGISTRY)
LLM_FAMILIES = ("group", "rollout", "dataset")


def canonical(name: object) -> str | None:
    """Return the name that an algorithm is written back under, or None when there is none such."""
    if not isinstance(name, str):
        return None
    name = ALIASES.get(name, name)
    return name if name in REGISTRY else None


def is_llm(name: str) -> bool:
    """Tell whether an algorithm trains a language model."""
    return REGISTRY[name].family in LLM_FAMILIES


@functools.cache
def model_of(name: str) -> type[Algorithm]:
    """Return the class of an algorithm.

    Args:
        name: As `canonical` returns it.
    """
    entry = REGISTRY[name]
    module = importlib.import_module(f"arena_sdk.manifest.algorithms.{entry.module}")
    model: type[Algorithm] = getattr(module, entry.class_name or name)
    return model
