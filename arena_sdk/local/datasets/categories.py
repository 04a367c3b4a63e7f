"""Categories of datasets, and the columns that each must have been told."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from typing import Any

from .problems import DatasetProblem

NEEDED = {
    "reasoning": ("question", "answer"),
    "preference": ("prompt", "chosen", "rejected"),
    "sft": ("prompt", "target"),
}
"""Keys of a column mapping, by category."""


def checked_category(category: str) -> str:
    """Return a category that there is.

    Raises:
        DatasetProblem: There is none such.
    """
    if category not in NEEDED:
        raise DatasetProblem(
            f"{category[:80]!a} is no category of datasets; there are {', '.join(NEEDED)}."
        )
    return category


def parsed_mapping(text: str) -> dict[str, str]:
    """Return a column mapping: from the keys that a category needs to columns.

    Raises:
        DatasetProblem: It is no JSON object of texts.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise DatasetProblem("column_mapping is not valid JSON.") from None
    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
        raise DatasetProblem(
            'column_mapping must be a JSON object such as {"question": "prompt", "answer":'
            ' "completion"}: each key with the column that holds it.'
        )
    return {str(key): str(column) for key, column in value.items()}


def check_keys(category: str, mapping: dict[str, str], hint: str = "") -> None:
    """Check that a mapping has the keys that its category needs.

    Raises:
        DatasetProblem: It lacks some; the sentence ends with the hint.
    """
    missing = [key for key in NEEDED[category] if not mapping.get(key)]
    if missing:
        wanted = " and ".join(repr(key) for key in missing)
        raise DatasetProblem(f"The column_mapping of a {category} dataset needs {wanted}{hint}.")


def check_mapping(category: str, mapping: dict[str, str], columns: Sequence[str]) -> None:
    """Check that a mapping has what its category needs, and names columns that there are.

    Raises:
        DatasetProblem: Either is not so; the sentence lists the columns.
    """
    have = ", ".join(columns[:40]) + (", …" if len(columns) > 40 else "")
    check_keys(category, mapping, f"; the columns that can be named are: {have}")
    for key, column in mapping.items():
        if column not in columns:
            close = _closest(column, columns)
            hint = f"did you mean {close!r}? The" if close else "the"
            raise DatasetProblem(
                f"column_mapping says that {key!r} is in column {column!r}, which is not there;"
                f" {hint} columns are: {have}."
            )


def check_cells(mapping: dict[str, str], table: dict[str, Any]) -> list[str]:
    """Check what is in the columns that a mapping names.

    Args:
        mapping: From keys to columns that there are.
        table: As a `Table` is told.

    Returns:
        One sentence for each column that has some empty cells, or a few answers that are no
        numbers as the others are.

    Raises:
        DatasetProblem: A column holds nothing at all, or what is no text. The cells of a CSV file
            are text, also where each can be read as a number.
    """
    columns = {column["name"]: column for column in table["columns"]}
    rows, is_csv = table["num_rows"], table.get("kind") == "csv"
    warnings = []
    for key, name in mapping.items():
        column = columns[name]
        kind, empty = str(column["type"]), int(column.get("empty", 0))
        if not is_csv and key not in NUMBERS_GO and kind.startswith(NO_TEXT):
            raise DatasetProblem(
                f"The column {name!r}, which holds {key!r}, is of the type {kind}, where text is"
                " needed; convert it, or name another column."
            )
        if rows and empty == rows:
            raise DatasetProblem(f"The column {name!r}, which holds {key!r}, is empty in all rows.")
        if empty:
            places = ", ".join(f"{place:,}" for place in column["empty_at"])
            unit = "line" if is_csv else "row"
            warnings.append(
                f"{empty:,} of {rows:,} rows have no {key!r} (column {name!r}); the first:"
                f" {unit} {places}."
            )
        if key in NUMBERS_GO and column.get("words"):
            places = ", ".join(f"line {line:,} {text!r}" for line, text in column["words_at"])
            warnings.append(
                f"{column['words']:,} of {rows:,} rows have no number for {key!r} (column"
                f" {name!r}), as the others have; the first: {places}."
            )
    return warnings


NUMBERS_GO = ("answer",)
"""Keys whose column may hold numbers: what is compared with an answer is text by then."""
NO_TEXT = (
    "int", "uint", "float", "double", "halffloat", "decimal", "bool", "binary", "large_binary",
    "fixed_size_binary", "timestamp", "date", "time", "duration", "null",
)  # fmt: skip
"""How the types of Parquet columns begin that hold no text."""


def _closest(name: str, columns: Sequence[str]) -> str | None:
    lowered = {column.lower(): column for column in columns}
    close = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    return lowered[close[0]] if close else None
