"""CSV files: read as a stream, row by row, in the strict sense of RFC 4180.

Cells may hold line ends in quotes; a byte-order mark is dropped. What a lenient reader would take
silently (a quote that is never closed swallows the rest of the file) is refused with its line.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from .problems import DatasetProblem
from .table import MAX_COLUMNS, PREVIEW_ROWS, SHORTEST_CELL, SHOWN_PLACES, Table, preview_of

LONGEST_LINE = 64 << 20
"""Bytes; a cell may be as long."""
OTHER_ENCODINGS = {
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
    codecs.BOM_UTF32_BE: "UTF-32",
}
KINDS = ("integer", "number", "boolean", "string")
MOST_WORDS = 100
"""A column with more cells that are no numbers is taken to be one of text."""
NUMBERS_TO_A_WORD = 4
"""A column with fewer numbers for each cell that is none is taken to be one of text, too."""


def read(path: Path, name: str) -> Table:
    """Read a CSV file.

    Args:
        path: The file.
        name: What it is called in refusals.

    Raises:
        DatasetProblem: It is no CSV with a header, as UTF-8; the sentence names the line.
    """
    csv.field_size_limit(LONGEST_LINE)
    with path.open("rb") as file:
        _check_start(file, name)
        reader = csv.reader(_lines(file, name), strict=True)
        try:
            return _read(reader, name)
        except csv.Error as problem:
            raise DatasetProblem(f"{name}, line {reader.line_num}: {_reason(problem)}.") from None


def first_row(path: Path, name: str) -> dict[str, str]:
    """Return the first row of a CSV file, with whole cells.

    Raises:
        DatasetProblem: It has none.
    """
    csv.field_size_limit(LONGEST_LINE)
    with path.open("rb") as file:
        _check_start(file, name)
        reader = csv.reader(_lines(file, name), strict=True)
        try:
            header = _header(reader, name)
            row = next((row for row in reader if row), None)
        except csv.Error as problem:
            raise DatasetProblem(f"{name}, line {reader.line_num}: {_reason(problem)}.") from None
    if row is None:
        raise DatasetProblem(f"{name} has a header but no row.")
    return dict(zip(header, row, strict=False))


def _read(reader: Iterator[list[str]], name: str) -> Table:
    header = _header(reader, name)
    guesses = [_Guess() for _ in header]
    first: list[list[str]] = []
    count = 0
    for row in reader:
        if not row:
            continue  # an empty line
        if len(row) != len(header):
            line = reader.line_num  # type: ignore[attr-defined]
            raise DatasetProblem(
                f"{name}, line {line}: the row has {len(row)} cells, but the header"
                f" {len(header)}; put cells with commas or line ends in double quotes."
            )
        count += 1
        if count <= PREVIEW_ROWS:
            first.append(row)
        for guess, cell in zip(guesses, row, strict=True):
            if cell and not cell.isspace():
                guess.see(cell, reader.line_num)  # type: ignore[attr-defined]
            else:
                guess.miss(reader.line_num)  # type: ignore[attr-defined]
    if not count:
        raise DatasetProblem(f"{name} has a header but no row.")
    columns = [
        {"name": title, "type": guess.kind, **guess.told()}
        for title, guess in zip(header, guesses, strict=True)
    ]
    rows = (dict(zip(header, row, strict=True)) for row in first)
    return Table(columns, count, preview_of(rows, len(header)))


def _header(reader: Iterator[list[str]], name: str) -> list[str]:
    titles = next(reader, None)
    if not titles:
        raise DatasetProblem(f"{name} is empty; its first line must name the columns.")
    if len(titles) > MAX_COLUMNS:
        raise DatasetProblem(f"{name} has {len(titles):,} columns; at most {MAX_COLUMNS:,} go.")
    header = [title.strip() or f"column_{number}" for number, title in enumerate(titles, 1)]
    twice = next((title for number, title in enumerate(header) if title in header[:number]), None)
    if twice is not None:
        raise DatasetProblem(f"{name} has two columns named {twice!r}.")
    return header


class _Guess:
    """What a column's cells are, the narrowest kind that fits all; empty cells fit any."""

    def __init__(self) -> None:
        self._kinds = list(KINDS)
        self._seen = False
        self._numbers, self._words = 0, 0
        self._words_at: list[tuple[int, str]] = []
        self._empty = 0
        self._empty_at: list[int] = []

    @property
    def kind(self) -> str:
        return self._kinds[0] if self._seen else "string"

    def told(self) -> dict[str, Any]:
        """Return what a table tells of the cells that are unlike the others."""
        found: dict[str, Any] = {"empty": self._empty, "empty_at": self._empty_at}
        if 0 < self._words <= MOST_WORDS and self._numbers >= NUMBERS_TO_A_WORD * self._words:
            found |= {"words": self._words, "words_at": self._words_at}
        return found

    def miss(self, line: int) -> None:
        """Take an empty cell, whose row ends in a line."""
        self._empty += 1
        if len(self._empty_at) < SHOWN_PLACES:
            self._empty_at.append(line)

    def see(self, cell: str, line: int) -> None:
        """Take a cell that is not empty, whose row ends in a line."""
        if self._words > MOST_WORDS and len(self._kinds) == 1:
            return  # a column of text: nothing can be learnt any more
        text = cell.strip()
        self._seen = True
        if self._words <= MOST_WORDS:
            self._count(text, line)
        while not _fits(text, self._kinds[0]):
            self._kinds.pop(0)

    def _count(self, text: str, line: int) -> None:
        if _fits(text, "number"):
            self._numbers += 1
            return
        self._words += 1
        if len(self._words_at) < SHOWN_PLACES:
            self._words_at.append((line, text[:SHORTEST_CELL]))


def _fits(text: str, kind: str) -> bool:
    if kind == "boolean":
        return text.lower() in ("true", "false")
    if kind == "string":
        return True
    if len(text) > 400 or "_" in text:
        return False
    try:
        int(text) if kind == "integer" else float(text)
    except ValueError:
        return False
    return True


def _check_start(file: IO[bytes], name: str) -> None:
    """Refuse what is not text in UTF-8 by how it begins; skip a byte-order mark."""
    start = file.read(4096)
    if start.startswith(b"PAR1"):
        raise DatasetProblem(f"{name} is a Parquet file; give it the ending .parquet.")
    for mark, encoding in OTHER_ENCODINGS.items():
        if start.startswith(mark):
            raise DatasetProblem(f"{name} is {encoding} text; save it as UTF-8.")
    if b"\0" in start:
        raise DatasetProblem(f"{name} is not text, so it is no CSV file.")
    file.seek(len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0)


def _lines(file: IO[bytes], name: str) -> Iterator[str]:
    number = 0
    while raw := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(raw) > LONGEST_LINE:
            raise DatasetProblem(
                f"{name}, line {number}: it is longer than {LONGEST_LINE >> 20} MiB."
            )
        try:
            yield raw.decode()
        except UnicodeDecodeError as problem:
            raise DatasetProblem(
                f"{name}, line {number}: byte {problem.start + 1} is not UTF-8"
                f" (0x{raw[problem.start]:02x}); save the file as UTF-8."
            ) from None


def _reason(problem: csv.Error) -> str:
    text = str(problem)
    if "unexpected end" in text:
        return "the file ends within double quotes that were never closed"
    if "expected after" in text:
        return "a quoted cell goes on after its closing quote; write a quote inside as two"
    if "new-line character" in text:
        return "a bare carriage return outside of quotes; use line feeds as line ends"
    return text
