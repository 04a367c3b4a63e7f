"""Names that files of a dataset come under: relative paths, judged as if an enemy had sent them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import PurePosixPath

from .problems import DatasetProblem

MAX_FILES = 1_000
MAX_DEPTH = 16
MAX_NAME_BYTES = 255
CSV, PARQUET = "csv", "parquet"
PARQUET_TYPES = ("application/vnd.apache.parquet", "application/x-parquet")


def relative_path(name: str) -> PurePosixPath:
    """Return the relative path that an uploaded file's name says.

    Raises:
        DatasetProblem: It is absolute, leads out of the dataset, or no file system takes it.
    """
    shown = ascii(name[:80])
    if not name or not name.isprintable() or "\\" in name:
        raise DatasetProblem(f"The file name {shown} cannot be used; use plain names and '/'.")
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise DatasetProblem(f"The file name {shown} leads out of the dataset.")
    if len(path.parts) > MAX_DEPTH:
        raise DatasetProblem(f"The file name {shown} is nested more than {MAX_DEPTH} folders deep.")
    if any(len(part.encode("utf-8", "replace")) > MAX_NAME_BYTES for part in path.parts):
        raise DatasetProblem(f"The file name {shown} is longer than {MAX_NAME_BYTES} bytes.")
    return path


def check_together(paths: Sequence[PurePosixPath]) -> None:
    """Check that the files can lie beside each other, on a case-insensitive disk too.

    Raises:
        DatasetProblem: Two have the same path, or one is a folder of another.
    """
    if len(paths) > MAX_FILES:
        raise DatasetProblem(f"The dataset has {len(paths):,} files; at most {MAX_FILES:,} go.")
    keys = [PurePosixPath(_key(path)) for path in paths]
    folders = {folder for key in keys for folder in key.parents}
    seen: set[PurePosixPath] = set()
    for path, key in zip(paths, keys, strict=True):
        if key in seen or key in folders:
            raise DatasetProblem(f"The file name {str(path)!a} occurs twice.")
        seen.add(key)


def _key(path: PurePosixPath) -> str:
    return unicodedata.normalize("NFC", str(path)).casefold()


def kind_of(path: PurePosixPath, content_type: str | None) -> str:
    """Return `csv` or `parquet`: by the name, else by the type that it was sent as.

    Raises:
        DatasetProblem: It is neither.
    """
    suffix = path.suffix.lower()
    if suffix == ".parquet" or (not suffix and content_type in PARQUET_TYPES):
        return PARQUET
    if suffix == ".csv" or (not suffix and content_type == "text/csv"):
        return CSV
    raise DatasetProblem(
        f"{str(path)!a} is neither a .csv nor a .parquet file; a dataset is one CSV file, or"
        " Parquet files."
    )


def common_kind(kinds: Sequence[str]) -> str:
    """Return the kind of all files of a dataset.

    Raises:
        DatasetProblem: There is no file, both kinds, or more than one CSV file.
    """
    if not kinds:
        raise DatasetProblem("The dataset has no file.")
    if len(set(kinds)) > 1:
        raise DatasetProblem("A dataset is one CSV file, or Parquet files, not both together.")
    if kinds[0] == CSV and len(kinds) > 1:
        raise DatasetProblem(f"A dataset has one CSV file, not {len(kinds)}; join them into one.")
    return kinds[0]


def of_config(paths: Sequence[PurePosixPath], config: str | None) -> list[PurePosixPath]:
    """Return the shards that belong to a configuration: the top folder that they lie in.

    Raises:
        DatasetProblem: Several folders and none named, or none of that name.
    """
    folders = sorted({path.parts[0] for path in paths if len(path.parts) > 1})
    if config is None:
        if len(folders) > 1:
            listed = ", ".join(map(ascii, folders[:8]))
            raise DatasetProblem(
                f"The files belong to several configurations ({listed}); name one with config."
            )
        return list(paths)
    if not folders:
        return list(paths)
    if config not in folders:
        listed = ", ".join(map(ascii, folders[:8]))
        raise DatasetProblem(
            f"There is no configuration {config[:80]!a} among the files; there are: {listed}."
        )
    return [path for path in paths if path.parts[0] == config and len(path.parts) > 1]
