"""What pydantic found, in sentences of ours: what was found, and what is allowed."""

from __future__ import annotations

from typing import Any

from arena_sdk.manifest.problems import closest, shown

Error = dict[str, Any]

BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}
KINDS = {
    "int": "a whole number", "float": "a number", "bool": "true or false", "string": "text",
    "list": "a list", "dict": "a mapping", "model": "a mapping", "tuple": "a list", "set": "a list",
}  # fmt: skip


def sentence(errors: list[Error]) -> tuple[str, str | None]:
    """Return what is said of the errors of one field, and the closest real word if there is one.

    Args:
        errors: pydantic's, all of the same path; there are several where a field may be of
            several kinds.
    """
    first = errors[0]
    nouns = list(dict.fromkeys(filter(None, map(_noun, errors))))
    if len(errors) > 1 and len(nouns) > 1:
        return f"{shown(first['input'])} is not {' or '.join(nouns)}.", None
    return _one(_most_telling(errors))


def _most_telling(errors: list[Error]) -> Error:
    """Return the error of the kind that the value was meant to be: it says more than its kind."""
    return next((error for error in errors if _noun(error) is None), errors[0])


def _noun(error: Error) -> str | None:
    kind = error["type"]
    if kind in ("literal_error", "enum"):
        return str(error["ctx"]["expected"])
    for start, noun in KINDS.items():
        if kind in (
            f"{start}_type",
            f"{start}_parsing",
            f"{start}_from_float",
            "model_attributes_type",
        ):
            return noun
    return None


def _one(error: Error) -> tuple[str, str | None]:
    kind, context, found = error["type"], error.get("ctx", {}), error.get("input")
    if kind in BOUNDS:
        key, words = BOUNDS[kind]
        return (
            f"{shown(found)} is out of bounds; it must be {words} {context[key]:g}.",
            None,
        )
    if kind in ("literal_error", "enum"):
        return _not_a_word(found, str(context.get("expected")))
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _not_a_word(context.get("tag"), str(context.get("expected_tags")))
    if kind == "value_error":
        return str(error["msg"]).removeprefix("Value error, "), None
    if kind == "string_pattern_mismatch":
        return f"{shown(found)} does not match the pattern {context['pattern']}.", None
    if kind == "string_too_long":
        return f"{shown(found)} has more than {context['max_length']} characters.", None
    return _by_kind(kind, context, found), None


def _not_a_word(found: Any, expected: str) -> tuple[str, str | None]:
    meant = (
        closest(found, expected.replace(" or ", ", ").replace("'", "").split(", "))
        if (isinstance(found, str))
        else None
    )
    return f"{shown(found)} is not allowed; allowed: {expected}.", meant


def _by_kind(kind: str, context: dict[str, Any], found: Any) -> str:
    fixed = {
        "missing": "It is required.",
        "extra_forbidden": "There is no such field.",
        "string_too_short": "It must not be empty.",
        "invalid_key": "Keys must be text; put it into quotes.",
        "finite_number": f"{shown(found)} is not a whole number.",
        "int_parsing_size": f"{shown(found)} has too many digits.",
    }
    if kind in fixed:
        return fixed[kind]
    if kind == "too_short":
        return (
            f"It has {context['actual_length']} entries and needs at least {context['min_length']}."
        )
    if kind == "too_long":
        return f"It has {context['actual_length']} entries and may have {context['max_length']}."
    noun = _noun({"type": kind, "ctx": context})
    if found is None and noun:
        return f"It is empty; write {noun}, or leave the line out."
    if noun == "a list" and isinstance(found, int | float | str):
        return f"{shown(found)} is not a list; write [{found}]."
    if noun == "true or false":
        return f"{shown(found)} is neither true nor false."
    if noun == "a whole number" and isinstance(found, str):
        return f"{shown(found)} is not a whole number.{_in_digits(found)}"
    if noun == "text" and isinstance(found, int | float):
        return f"{shown(found)} is not text; put it into quotes."
    return f"{shown(found)} is not {noun or 'allowed'}."


def _in_digits(text: str) -> str:
    """Return a hint for numbers such as `1e6`, which YAML and JSON read as something else."""
    try:
        number = float(text.replace("_", ""))
    except ValueError:
        return ""
    return f" Write {int(number)}." if number.is_integer() and abs(number) < 1e15 else ""
