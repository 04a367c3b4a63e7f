"""A section without its mistakes, so that the rules between its other fields are judged as well."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from typing import Any

from arena_sdk.manifest.base import Section
from arena_sdk.manifest.lookup import own_field
from arena_sdk.manifest.source import Keys

ENTRY = 2
"""Keys of the path to an entry of a mapping, from its section."""


def pruned(
    model: type[Section], raw: dict[str, Any], wrong: Iterable[tuple[Keys, bool]]
) -> tuple[Section | None, set[str]]:
    """Return a section as if what is wrong in it were not written.

    Args:
        model: Its class.
        raw: What is written.
        wrong: Paths inside of it, and whether it is missing there what makes it wrong.

    Returns:
        The section, None where it cannot be without that; and the names that it lacks now, of
        which nothing can be said.
    """
    left, names = copy.deepcopy(raw), set[str]()
    for path, missing in wrong:
        # An entry of a mapping goes as a whole: what it is left with need not make one.
        where = (path[:-1] if missing else path)[:ENTRY]
        if not where:
            return None, names
        names.add(where[-1])
        _drop(left, where)
    names |= {named[0] for name in names if (named := own_field(model, name)) is not None}
    try:
        return model.model_validate(left), names
    except ValueError:
        return None, names


def _drop(value: dict[str, Any], path: Keys) -> None:
    """Remove what is at a path; of a list all of it, since the rest would take other places."""
    for name in path[:-1]:
        below = value.get(name)
        if not isinstance(below, dict):
            value.pop(name, None)
            return
        value = below
    value.pop(path[-1], None)


def is_about(path: Keys, message: str, names: set[str]) -> bool:
    """Tell whether a broken rule is about a field that is left out."""
    words = set(re.findall(r"\w+", message))
    return not names.isdisjoint(path) or not names.isdisjoint(words)
