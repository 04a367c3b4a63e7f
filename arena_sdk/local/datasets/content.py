"""What the content of a dataset is known by, whatever its name."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

SHOWN_DIGITS = 12


def digest_of(files: Sequence[dict[str, Any]]) -> str:
    """Return the SHA-256 of the content of a dataset, hexadecimal; "" of one without files.

    Args:
        files: `{"path", "sha256"}` of each.
    """
    lines = sorted(f"{file['path']}\0{file['sha256']}\n" for file in files if "sha256" in file)
    return hashlib.sha256("".join(lines).encode()).hexdigest() if lines else ""


def version_of(files: Sequence[dict[str, Any]]) -> str | None:
    """Return the version that people are shown: the first digits of the digest."""
    return digest_of(files)[:SHOWN_DIGITS] or None
