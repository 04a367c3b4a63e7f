"""How members are changed between generations."""

from __future__ import annotations

from typing import Any, ClassVar

from arena_sdk.manifest.base import Named, Section, about, fault

NO_MUTATION = {
    "no_mut": 1.0, "arch_mut": 0.0, "new_layer": 0.0, "params_mut": 0.0, "act_mut": 0.0,
    "rl_hp_mut": 0.0,
}  # fmt: skip
"""The probabilities of a manifest that says nothing of mutation."""


class MutationProbabilities(Section):
    """Relative chances of the kinds of mutation; they need not add up to 1."""

    no_mut: float = about("Chance that a member stays as it is.", 0.4, ge=0.0, le=1.0)
    arch_mut: float = about("Chance of a node or layer more or less.", 0.2, ge=0.0, le=1.0)
    new_layer: float = about(
        "Share of architecture mutations that are of a layer.", 0.2, ge=0.0, le=1.0
    )
    params_mut: float = about("Chance of noise on the weights.", 0.2, ge=0.0, le=1.0)
    act_mut: float = about("Chance of another activation.", 0.0, ge=0.0, le=1.0)
    rl_hp_mut: float = about("Chance of a grown or shrunk hyperparameter.", 0.2, ge=0.0, le=1.0)


class HyperparameterRange(Section):
    """Between which values mutation may move a hyperparameter."""

    min: float = about("Smallest value.")
    max: float = about("Largest value.")
    grow_factor: float = about("What the value is multiplied by to grow.", 1.2, ge=1.0)
    shrink_factor: float = about("What it is multiplied by to shrink.", 0.8, ge=0.0, le=1.0)

    def faults(self) -> Any:
        """Yield the broken rule: `min` above `max`."""
        if self.min > self.max:
            yield fault(f"min ({self.min:g}) must not be above max ({self.max:g}).", "min")


class NetworkBounds(Section):
    """Bounds of the architecture, written beside the mutation instead of in `network`."""

    min_latent_dim: int | None = about("As `network.min_latent_dim`.", None, gt=0)
    max_latent_dim: int | None = about("As `network.max_latent_dim`.", None, gt=1)
    encoder: dict[str, Any] = about("As `network.encoder_config`.", dict)
    head_net: dict[str, Any] = about("As `network.head_config`.", dict)

    def faults(self) -> Any:
        """Yield nothing: these bounds are judged where they are put to use."""
        yield from ()


class Mutation(Named):
    """The `mutation` section."""

    never_sent: ClassVar[frozenset[str]] = frozenset({"dormant_threshold"})

    probabilities: MutationProbabilities = about(
        "Relative chances of the kinds of mutation.",
        lambda: MutationProbabilities.model_validate({}),
    )
    rl_hp_selection: dict[str, HyperparameterRange] = about(
        "Hyperparameters that mutation may change, each with its bounds.", dict
    )
    mutation_sd: float = about("Standard deviation of noise on the weights.", 0.1, ge=0.0)
    rand_seed: int = about("Seed of all mutations.", 42, ge=0)
    network: NetworkBounds | None = about("Bounds of the architecture.", None)
    dormant_threshold: float = about(
        "Activity, relative to its layer, below which a neuron is dormant.",
        0.01,
        ge=0.0,
    )
