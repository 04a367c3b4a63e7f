"""Parquet files: rows and columns by their footers; only the first rows are decoded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .problems import DatasetProblem
from .table import MAX_COLUMNS, PREVIEW_ROWS, SHOWN_PLACES, Table, preview_of

BATCH_ROWS = 1_024
BUFFER_BYTES = 1 << 20
"""What is read of a column at a time, so that a file of gigabytes needs little memory."""


def read(shards: Sequence[tuple[str, Path]], wanted: Sequence[str] = ()) -> Table:
    """Read the shards of one table.

    Args:
        shards: (what it is called in refusals, file) of each, in order.
        wanted: Columns whose every cell is looked at, not only their type.

    Raises:
        DatasetProblem: One is no Parquet file, or has other columns than the first.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: list[dict[str, Any]] = []
    gaps = {name: _Gaps() for name in wanted}
    first: list[dict[str, Any]] = []
    count = 0
    for name, path in shards:
        try:
            with pq.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER_BYTES) as file:
                found = _columns(file.schema_arrow)
                _check_columns(name, found, columns or found, shards[0][0])
                rows = file.metadata.num_rows
                columns = _agreed(name, found, columns or found, (count + 1, count + rows))
                if len(first) < PREVIEW_ROWS and rows:
                    first += _rows(file, PREVIEW_ROWS - len(first))
                _look_at_cells(name, file, gaps, count)
                count += rows
        except (pa.ArrowException, OSError, NotImplementedError) as problem:
            lines = str(problem).strip().splitlines() or [type(problem).__name__]
            reason = lines[0][:200].rstrip(". ").replace(str(path), name)
            raise DatasetProblem(f"{name} is no Parquet file that can be read: {reason}.") from None
    if not count:
        raise DatasetProblem("The Parquet files have no row.")
    for column in columns:
        if column["name"] in gaps:
            column |= gaps[column["name"]].told()
    return Table(columns, count, preview_of(first, len(columns)))


def first_row(shards: Sequence[tuple[str, Path]]) -> dict[str, Any]:
    """Return the first row of the shards, with whole cells.

    Raises:
        DatasetProblem: They have none, or cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, path in shards:
        try:
            with pq.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER_BYTES) as file:
                if file.metadata.num_rows:
                    return next(iter(_rows(file, 1)))
        except (pa.ArrowException, OSError, NotImplementedError) as problem:
            raise DatasetProblem(f"{name} is no Parquet file that can be read.") from problem
    raise DatasetProblem("The Parquet files have no row.")


class _Gaps:
    """The cells of a column that hold nothing: how many, and the first rows that have one."""

    def __init__(self) -> None:
        self._count = 0
        self._first: list[int] = []

    def told(self) -> dict[str, Any]:
        """Return what a table tells of them; rows count from 1."""
        return {"empty": self._count, "empty_at": [row + 1 for row in self._first]}

    def look(self, cells: Any, offset: int) -> None:
        """Take a batch of a column that begins at a row of the table."""
        import pyarrow as pa
        import pyarrow.compute as pc

        nothing = pc.is_null(cells)
        if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
            blank = pc.equal(pc.utf8_trim_whitespace(cells), "")
            nothing = pc.or_(nothing, pc.fill_null(blank, False))
        elif pa.types.is_list(cells.type) or pa.types.is_large_list(cells.type):
            blank = pc.equal(pc.list_value_length(cells), 0)
            nothing = pc.or_(nothing, pc.fill_null(blank, False))
        found = pc.sum(nothing).as_py() or 0
        if found and len(self._first) < SHOWN_PLACES:
            places = pc.indices_nonzero(nothing).to_pylist()[: SHOWN_PLACES - len(self._first)]
            self._first += [offset + place for place in places]
        self._count += found


def _look_at_cells(shard: str, file: Any, gaps: dict[str, _Gaps], offset: int) -> None:
    names = [name for name in gaps if name in file.schema_arrow.names]
    if not names:
        return
    for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=names, use_threads=False):
        for name in names:
            cells = batch.column(batch.schema.get_field_index(name))
            _check_text(shard, name, cells, offset)
            gaps[name].look(cells, offset)
        offset += batch.num_rows


def _check_text(shard: str, name: str, cells: Any, offset: int) -> None:
    """Check that text is UTF-8, which no writer of Parquet has to.

    Raises:
        DatasetProblem: It is not; the sentence names the row of the table, from 1.
    """
    import pyarrow as pa

    if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
        return
    try:
        cells.validate(full=True)
    except pa.ArrowInvalid:
        for place, raw in enumerate(cells.cast(pa.large_binary()).to_pylist()):
            try:
                (raw or b"").decode()
            except UnicodeDecodeError:
                raise DatasetProblem(
                    f"{shard}, row {offset + place + 1:,}: the text in column {name!r} is not"
                    " UTF-8; write the file again from UTF-8 text."
                ) from None
        raise


def _rows(file: Any, count: int) -> Iterator[dict[str, Any]]:
    for batch in file.iter_batches(batch_size=count, use_threads=False):
        yield from batch.to_pylist()
        return


def _columns(schema: Any) -> list[dict[str, Any]]:
    return [{"name": str(f.name), "type": str(f.type)[:200]} for f in schema]


def _check_columns(
    name: str, found: list[dict[str, Any]], wanted: list[dict[str, Any]], first: str
) -> None:
    if len(found) > MAX_COLUMNS:
        raise DatasetProblem(f"{name} has {len(found):,} columns; at most {MAX_COLUMNS:,} go.")
    titles, expected = [c["name"] for c in found], [c["name"] for c in wanted]
    if len(set(titles)) < len(titles):
        raise DatasetProblem(f"{name} has two columns of the same name.")
    if sorted(titles) != sorted(expected):
        raise DatasetProblem(
            f"{name} has other columns ({_listed(titles)}) than {first} ({_listed(expected)}); the"
            " files of a dataset have the same columns."
        )


def _agreed(
    name: str, found: list[dict[str, Any]], before: list[dict[str, Any]], rows: tuple[int, int]
) -> list[dict[str, Any]]:
    """Return the columns that the shards up to this one agree on.

    Raises:
        DatasetProblem: A column is of another type here than before.
    """
    known = {column["name"]: column for column in before}
    for column in found:
        one, other = _family(column["type"]), _family(known[column["name"]]["type"])
        if one == other or one == "null":
            continue
        if other != "null":
            raise DatasetProblem(
                f"{name} (rows {rows[0]:,} to {rows[1]:,}) has column {column['name']!r} as"
                f" {column['type']}, where the files before it have"
                f" {known[column['name']]['type']}; write all of them with one type."
            )
        known[column["name"]] = column
    return [known[column["name"]] for column in before]


def _family(kind: str) -> str:
    """Return what types are alike in: how wide a number is, or how text is stored, is no matter."""
    if "string" in kind and not kind.startswith(("list", "large_list", "struct", "map")):
        return "text"
    if kind.startswith(("int", "uint")):
        return "integer"
    return "number" if kind.startswith(("float", "double", "halffloat")) else kind


def _listed(titles: list[str]) -> str:
    return ", ".join(titles[:12]) + (", …" if len(titles) > 12 else "")
