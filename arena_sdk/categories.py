"""What a dataset can be for, and what its columns must then be."""

from __future__ import annotations

COLUMNS = {
    "reasoning": ("question", "answer"),
    "preference": ("prompt", "chosen", "rejected"),
    "sft": ("prompt", "target"),
}
"""Dataset categories, and the keys that their column mapping needs."""
