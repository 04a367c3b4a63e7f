r"""What is typed after `/`: text, a regular expression, or a query on the columns of a table.

`cart` keeps rows that hold the text, `!cart` those that do not, `/cart|lunar/` matches a regular
expression. Words with a column's name are a query, of which all must hold:
`state:running algo:DQN lr>=1e-3 -name:test`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

Row = Mapping[str, Any]
Keep = Callable[[Row], bool]

_TERM = re.compile(r"^(?P<no>[-!]?)(?P<key>[A-Za-z_][\w.]*)(?P<how>>=|<=|!=|:|=|>|<)(?P<value>.+)$")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_SHORT = {
    "algo": "algorithm",
    "env": "environment",
    "fitness": "best_fitness",
    "best": "best_fitness",
    "pop": "pop_size",
    "nodes": "num_nodes",
    "deployment": "name",
    "experiment": "experiment_name",
}


class FilterError(ValueError):
    """A filter cannot be understood; the message is one sentence."""


def parse(text: str, *, text_keys: tuple[str, ...] = ()) -> Keep | None:
    """Return what tells whether a row is kept, or None when nothing is filtered.

    Args:
        text: What was typed.
        text_keys: Columns that plain words are looked for in; all of text when empty.

    Raises:
        FilterError: The regular expression is wrong, or a comparison has no number.
    """
    text = text.strip()
    if not text:
        return None
    inverse = text.startswith("!") and len(text) > 1 and " " not in text
    body = text[1:] if inverse and not _TERM.match(text) else text
    if body.startswith("/"):
        keep = _regular(body.strip("/"), text_keys)
        return _not(keep) if inverse else keep
    tests = [_term(word, text_keys) for word in body.split()]
    if inverse and not _TERM.match(text):
        tests = [_not(test) for test in tests]
    return lambda row: all(test(row) for test in tests)


def _term(word: str, text_keys: tuple[str, ...]) -> Keep:
    match = _TERM.match(word)
    if match is None:
        if len(word) > 1 and word[0] in "-!":
            return _not(_contains(word[1:], text_keys))
        return _contains(word, text_keys)
    how, value = match["how"], match["value"]
    key = _SHORT.get(match["key"], match["key"])
    if how in _COMPARE:
        test = _comparison(key, how, value)
    else:
        wanted = value.casefold()

        def test(row: Row) -> bool:
            return (
                wanted in str(lookup(row, key) if lookup(row, key) is not None else "").casefold()
            )

    return _not(test) if match["no"] or how == "!=" else test


def _comparison(key: str, how: str, value: str) -> Keep:
    try:
        limit = float(value.replace("_", ""))
    except ValueError:
        raise FilterError(f"{key}{how} needs a number, not {value!r}.") from None
    compare = _COMPARE[how]

    def test(row: Row) -> bool:
        found = lookup(row, key)
        return (
            isinstance(found, int | float)
            and not isinstance(found, bool)
            and bool(compare(found, limit))
        )

    return test


def lookup(row: Row, key: str) -> Any:
    """Return the value of a column, also of one that is nested one level down."""
    if key in row:
        return row[key]
    for value in row.values():
        if isinstance(value, Mapping) and key in value:
            return value[key]
    return None


def _texts(row: Row, text_keys: tuple[str, ...]) -> str:
    values = [row.get(key) for key in text_keys] if text_keys else list(row.values())
    return "\n".join(str(value) for value in values if isinstance(value, str | int | float))


def _contains(word: str, text_keys: tuple[str, ...]) -> Keep:
    wanted = word.casefold()
    return lambda row: wanted in _texts(row, text_keys).casefold()


def _regular(pattern: str, text_keys: tuple[str, ...]) -> Keep:
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise FilterError(f"/{pattern}/ is not a regular expression: {error}.") from None
    return lambda row: compiled.search(_texts(row, text_keys)) is not None


def _not(keep: Keep) -> Keep:
    return lambda row: not keep(row)
