"""What Ray's errors mean, in a sentence."""

from __future__ import annotations

CREATION = "creation task"
"""Words of Ray's for an actor that could not be made."""


def is_unfit(problem: Exception) -> bool:
    """Whether a node could not make an actor or read what it was sent, and never will."""
    import ray

    return isinstance(problem, ray.exceptions.RayTaskError) or CREATION in str(problem)


def unfit(problem: Exception) -> str:
    """Say what a node needs that is not fit for members."""
    reason = (str(problem).strip() or type(problem).__name__).splitlines()[-1].strip(". ")
    return (
        f"A Ray node cannot host members ({reason}). Every node needs arena-tui[local,ray] of this "
        "Arena's version, and what the environment imports."
    )


def why_lost(problem: Exception) -> str:
    """Say why an actor is lost, as far as Ray knows."""
    text = str(problem).lower()
    if "node has died" in text or "node was terminated" in text:
        return "the node is gone"
    if "out of memory" in text or "oom" in text.split():
        return "the node ran out of memory"
    return "its process ended, or its node is out of reach"


def first_line(problem: Exception) -> str:
    """Return the first line of what Ray says, to stand in brackets."""
    return (str(problem).strip() or type(problem).__name__).splitlines()[0].rstrip(".: ")
