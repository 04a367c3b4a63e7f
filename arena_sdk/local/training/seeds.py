"""Random streams derived from the run's seed, so that none has to be stored.

Each piece of work (training a member for a generation, an evolution, an evaluation) seeds the
generators of python, NumPy and torch from the run's seed and what it is about to do. The same run
draws the same numbers whichever process does the work, and a resumed run draws what the
uninterrupted one would have drawn.
"""

from __future__ import annotations

import random
from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """What a stream is for; part of what it is derived from."""

    BUILD = 1
    EVOLVE = 2
    TRAIN = 3
    EVALUATE = 4
    ENVIRONMENT = 5


def derive(seed: int, purpose: Purpose, *numbers: int) -> int:
    """Return a seed below 2**31 for one piece of work."""
    entropy = [seed, int(purpose), *numbers]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0] >> 1)


def seed_everything(seed: int) -> np.random.Generator:
    """Seed python's, NumPy's and torch's global generators; return one more of NumPy's."""
    import torch

    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    return np.random.default_rng(seed)
