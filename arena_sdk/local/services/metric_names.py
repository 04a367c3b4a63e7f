"""The metrics of a run: every name, its unit and what it is. The one place that says so.

Beside these a run has its losses under the names that AgileRL gives them (the mean over a
generation), and each hyperparameter that evolution may change under its own name. A value that is
no finite number is kept, as `NaN`, `Infinity` or `-Infinity`; what was not measured is left empty.
"""

from __future__ import annotations

METRICS: dict[str, tuple[str, str]] = {
    "generation": ("", "Generation, from 1."),
    "member": ("", "Id of the member; it keeps it for life."),
    "parent": ("", "Id of the member that it was copied from; empty in the first generation."),
    "mutation": ("", "What was changed in it at its birth; empty for a plain copy."),
    "steps": ("steps", "Environment steps of the member and, up to its birth, of its ancestors."),
    "total_steps": ("steps", "Environment steps of all members there ever were."),
    "time": ("s", "When it was stored: seconds since 1970, UTC."),
    "fitness": ("return", "Mean return of the evaluation episodes."),
    "score": ("return", "Mean return of the training episodes that ended in the generation."),
    "episodes": ("episodes", "Training episodes that ended, counted as steps are."),
    "steps_per_second": ("steps/s", "Environment steps of the member over the time it trained."),
    "evaluation_std": ("return", "Standard deviation of the evaluation episodes' returns."),
    "evaluation_min": ("return", "Lowest return of an evaluation episode."),
    "evaluation_max": ("return", "Highest return of an evaluation episode."),
    "evaluation_length": ("steps", "Mean length of the evaluation episodes."),
    "evaluation_episodes": ("episodes", "Evaluation episodes of the generation."),
    "gradient_norm": ("", "Norm of the policy's gradient at its last learning step, as clipped."),
    "cpu_percent": ("% of a core", "CPU that the member's process used while it trained."),
    "memory_mb": ("MiB", "Memory that the member's process has to itself, after its training."),
    "gpu_percent": ("%", "Load of the GPUs at the end of the generation, mean of all."),
    "gpu_memory_mb": ("MiB", "GPU memory in use then, of all GPUs."),
}
"""Unit and meaning by name."""


def described() -> dict[str, dict[str, str]]:
    """Return `{name: {unit, description}}`, for the capabilities document."""
    return {
        name: {"unit": unit, "description": meaning} for name, (unit, meaning) in METRICS.items()
    }
