"""Contextual bandits on tables: a row of features in, the choice of its label out.

A labelled table becomes a bandit by giving each label an arm, of which the context is the row in
the arm's own block among zeros.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from .errors import TrainingError

Array = npt.NDArray[Any]

EPISODE_STEPS = 100
"""Rows of an episode where the manifest does not say."""
MOST_ARMS = 1_000


class BanditEnv:
    """A labelled table with the interface of a Gymnasium environment.

    An observation holds the contexts of all arms: float32, (arms, arms * features). The reward is 1
    for the arm of the row's label, else 0. Rows are drawn with replacement; an episode is cut off
    after a fixed number of them.

    Args:
        features: (rows, features), float32.
        labels: (rows,), whole numbers from 0.
        episode_steps: Rows of an episode.
    """

    metadata: dict[str, Any] = {}
    render_mode = None
    spec = None

    def __init__(self, features: Array, labels: Array, episode_steps: int) -> None:
        self._features, self._labels = features, labels
        self._arms = int(labels.max()) + 1
        self._steps = episode_steps
        width = self._arms * features.shape[1]
        low, high = min(0.0, float(features.min())), max(0.0, float(features.max()))
        self.observation_space = spaces.Box(low, high, (self._arms, width), np.float32)
        self.action_space = spaces.Discrete(self._arms)
        self._random = np.random.default_rng()

    def reset(
        self, *, seed: int | None = None, options: Any = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode with a row."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self._made = 0
        return self._draw(), {}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Choose an arm for the present row; the next one is drawn."""
        reward = float(int(action) == self._labels[self._row])
        self._made += 1
        return self._draw(), reward, False, self._made >= self._steps, {}

    def render(self) -> None:
        """There is nothing to see."""

    def close(self) -> None:
        """There is nothing to close."""

    def _draw(self) -> Array:
        self._row = int(self._random.integers(len(self._labels)))
        row = self._features[self._row]
        contexts = np.zeros(self.observation_space.shape, dtype=np.float32)
        for arm in range(self._arms):
            contexts[arm, arm * len(row) : (arm + 1) * len(row)] = row
        return contexts


def make_bandit(reference: dict[str, Any]) -> BanditEnv:
    """Return the bandit of a table.

    Args:
        reference: `{"kind": "bandit", "features", "targets", "episode_steps"}`, the first two paths
            of CSV or Parquet files with as many rows.

    Raises:
        TrainingError: A file cannot be read, or the two do not make a labelled table.
    """
    import pandas

    tables = {}
    for key in ("features", "targets"):
        path = Path(reference[key])
        try:
            read = pandas.read_parquet if path.suffix == ".parquet" else pandas.read_csv
            tables[key] = read(path)
        except (OSError, ValueError, ImportError) as problem:
            reason = str(problem).splitlines()[0].rstrip(".")
            raise TrainingError(
                f"environment.{key} {path} cannot be read as a table: {reason}.", "BAD_TABLE"
            ) from None
    features, targets = tables["features"], tables["targets"]
    if len(features) != len(targets) or not len(features):
        raise TrainingError(
            f"environment.features has {len(features):,} rows and environment.targets "
            f"{len(targets):,}; give one target to every row.",
            "BAD_TABLE",
        )
    try:
        values = features.to_numpy(dtype=np.float32)
    except (ValueError, TypeError):
        wrong = [c for c in features.columns if features[c].dtype.kind not in "biuf"]
        raise TrainingError(
            f"environment.features holds text in column {wrong[0]!r}; encode it as numbers.",
            "BAD_TABLE",
        ) from None
    if not np.isfinite(values).all():
        raise TrainingError(
            "environment.features holds missing or infinite values; fill or drop their rows.",
            "BAD_TABLE",
        )
    labels, names = pandas.factorize(targets.iloc[:, 0], sort=True)
    if not 2 <= len(names) <= MOST_ARMS:
        raise TrainingError(
            f"environment.targets has {len(names):,} different values; a bandit chooses among 2 to "
            f"{MOST_ARMS:,}.",
            "BAD_TABLE",
        )
    return BanditEnv(values, labels, int(reference.get("episode_steps") or EPISODE_STEPS))


def context_space(observation_space: spaces.Box) -> spaces.Box:
    """Return the space of one arm's context, which is what the network sees."""
    low, high = float(observation_space.low.min()), float(observation_space.high.max())
    return spaces.Box(low, high, observation_space.shape[1:], np.float32)
