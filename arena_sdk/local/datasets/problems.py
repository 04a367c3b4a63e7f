"""What is wrong with a dataset, as one sentence for the one who uploaded it."""

from __future__ import annotations


class DatasetProblem(Exception):
    """A dataset that is refused; one sentence: what, where, and what to do next."""
