"""Sources of environments as one gzip tar: reproducible, without what nobody wants to send."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from arena_sdk._ignore import has_ignored_part, is_ignored, read_patterns
from arena_sdk.errors import ArenaFileNotFoundError, ArenaValidationError

CHUNK = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class Entry:
    """One file that goes along.

    Attributes:
        name: Path inside the archive, with `/`.
        path: Where it is read from.
        size: In bytes.
        executable: Whether its owner may run it.
    """

    name: str
    path: Path
    size: int
    executable: bool


def collect(source: Path) -> list[Entry]:
    """List the files of a folder, or the one file, that would be sent, sorted by name.

    Raises:
        ArenaFileNotFoundError: There is no such folder or file.
        ArenaValidationError: A link leads out of the folder, or nothing is left to send.
    """
    if not source.exists():
        raise ArenaFileNotFoundError(f"There is no file or folder {str(source)!r} to upload.")
    if source.is_file():
        return [_entry(source.name, source)]
    root = source.resolve()
    try:
        patterns = read_patterns(root)
        entries = sorted(_walk(root, root, patterns, frozenset({root})), key=lambda e: e.name)
    except OSError as error:
        raise _unreadable(error) from None
    if not entries:
        raise ArenaValidationError(f"The folder {str(source)!r} holds no file to upload.")
    return entries


def pack(source: str | os.PathLike[str] | bytes, target: IO[bytes]) -> None:
    """Write a source to `target` as a gzip tar, the same bytes for the same content.

    Args:
        source: A folder, a file, a `.tar.gz`, `.tgz` or `.zip`, or the bytes of a gzip tar.
        target: Open for writing; only a chunk of a file is held in memory at a time.

    Raises:
        ArenaFileNotFoundError: There is no such folder or file.
        ArenaValidationError: A link leads outside, an archive is broken, or nothing is left.
    """
    if isinstance(source, bytes):
        _check_gzip(source, "What was given as bytes")
        target.write(source)
        return
    path = Path(source).expanduser()
    if not path.exists():
        raise ArenaFileNotFoundError(f"There is no file or folder {str(source)!r} to upload.")
    if path.is_file() and path.name.lower().endswith((".tar.gz", ".tgz")):
        _copy_archive(path, target)
    elif path.is_file() and path.suffix.lower() == ".zip":
        _repack_zip(path, target)
    else:
        _pack_entries(collect(path), target)


def _pack_entries(entries: list[Entry], target: IO[bytes]) -> None:
    name = ""
    try:
        with _Writer(target) as writer:
            for entry in entries:
                name = entry.name
                with entry.path.open("rb") as file:
                    writer.add(name, file, entry.size, executable=entry.executable)
    except OSError as error:
        if error.strerror:
            raise _unreadable(error) from None
        raise ArenaValidationError(f"{name!r} changed while it was read; try again.") from None


def _copy_archive(path: Path, target: IO[bytes]) -> None:
    try:
        with path.open("rb") as file:
            _check_gzip(file.peek(2), str(path))
            while chunk := file.read(CHUNK):
                target.write(chunk)
    except OSError as error:
        raise _unreadable(error) from None


def _check_gzip(beginning: bytes, what: str) -> None:
    if not beginning.startswith(GZIP_MAGIC):
        raise ArenaValidationError(f"{what} is no gzip archive.")


def _unreadable(error: OSError) -> ArenaValidationError:
    if error.filename is None:
        return ArenaValidationError(f"The archive cannot be packed: {error.strerror}.")
    return ArenaValidationError(f"{error.filename} cannot be read: {error.strerror}.")


class _Writer:
    """A gzip tar without times, owners or anything else that differs between machines."""

    def __init__(self, target: IO[bytes]) -> None:
        self._gzip = gzip.GzipFile(filename="", mode="wb", fileobj=target, mtime=0, compresslevel=6)
        self._tar = tarfile.TarFile(fileobj=self._gzip, mode="w", format=tarfile.PAX_FORMAT)

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *exception: object) -> None:
        self._tar.close()
        self._gzip.close()

    def add(self, name: str, file: IO[bytes], size: int, *, executable: bool) -> None:
        """Add one file."""
        info = tarfile.TarInfo(name)
        info.size = size
        info.mode = 0o755 if executable else 0o644
        self._tar.addfile(info, file)


def _repack_zip(path: Path, target: IO[bytes]) -> None:
    try:
        with zipfile.ZipFile(path) as archive, _Writer(target) as writer:
            for name, info in sorted(_zip_entries(archive)):
                executable = bool((info.external_attr >> 16) & 0o100)
                with archive.open(info) as file:
                    writer.add(name, file, info.file_size, executable=executable)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        # RuntimeError: encrypted; NotImplementedError: an unusual compression.
        raise ArenaValidationError(f"{path} is no zip archive that can be read: {error}.") from None


def _zip_entries(archive: zipfile.ZipFile) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    """Yield the files of a zip archive that are to be sent."""
    for info in archive.infolist():
        name = info.filename.replace("\\", "/")
        if info.is_dir() or has_ignored_part(name):
            continue
        if name.startswith("/") or ".." in PurePosixPath(name).parts:
            raise ArenaValidationError(
                f"{archive.filename} has an entry that leads out of it: {name!r}."
            )
        if stat.S_ISLNK(info.external_attr >> 16):
            raise ArenaValidationError(
                f"{archive.filename} has a link, {name!r}; pack what it points to."
            )
        yield name, info


def _walk(
    folder: Path, root: Path, patterns: tuple[str, ...], above: frozenset[Path]
) -> Iterator[Entry]:
    for path in sorted(folder.iterdir()):
        name = path.relative_to(root).as_posix()
        if is_ignored(name, patterns, is_folder=path.is_dir()):
            continue
        if path.is_symlink():
            goal = path.resolve()
            if not goal.is_relative_to(root):
                raise ArenaValidationError(
                    f"The link {name!r} leads out of the folder, to {goal}; copy what it points"
                    " to, or leave it out with an .arenaignore file."
                )
            if goal in above or not goal.exists():
                continue  # a loop, or a dead link
        if path.is_dir():
            yield from _walk(path, root, patterns, above | {path.resolve()})
        elif path.is_file():
            yield _entry(name, path)


def _entry(name: str, path: Path) -> Entry:
    status = path.stat()
    return Entry(name, path, status.st_size, bool(status.st_mode & 0o100))


def pack_bytes(source: str | os.PathLike[str] | bytes) -> bytes:
    """Return a source as the bytes of a gzip tar, for small sources and tests."""
    buffer = io.BytesIO()
    pack(source, buffer)
    return buffer.getvalue()
