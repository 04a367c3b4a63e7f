"""Language models that learn from a data set of answers, without sampling."""

from __future__ import annotations

from collections.abc import Iterator

from arena_sdk.manifest.algorithms.llm import SingleRate
from arena_sdk.manifest.base import Fault, about, fault, refine


class Unsampled(SingleRate):
    """What algorithms that do not sample leave out."""

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rule: rows of several sequences."""
        yield from super().faults()
        if self.use_sequence_packing:
            yield fault(f"{self.name} cannot pack sequences; leave it out.", "use_sequence_packing")


@refine(lr={"default": 5e-6}, beta={"default": 0.1})
class DPO(Unsampled):
    """Direct preference optimization (https://arxiv.org/abs/2305.18290)."""

    nll_alpha: float = about("Weight of the chosen answers' likelihood.", 1.0, ge=0.0)


@refine(lr={"default": 5e-5}, use_separate_reference_adapter={"default": False})
class SFT(Unsampled):
    """Supervised fine-tuning on answers."""

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rule: activations kept elsewhere."""
        yield from super().faults()
        if self.activation_offload:
            yield fault("SFT cannot offload activations; leave it out.", "activation_offload")
