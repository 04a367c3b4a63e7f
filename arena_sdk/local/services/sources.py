"""Uploaded source trees: unpacked as if they came from an enemy, stored by their content.

A tree lies under `sources/<digest>`, where the digest covers every file's path, its executable
bit and its bytes: two uploads of the same files are one tree, and a tree never changes.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import secrets
import shutil
import tarfile
import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

MAX_ENTRIES = 20_000
MAX_BYTES = 2 << 30
MAX_DEPTH = 64
MAX_NAME_BYTES = 255
COPY_CHUNK = 1 << 20
LINK_HOPS = 16
MAX_META_BYTES = 1 << 20
META_TYPES = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)

ARCHIVE_ERRORS = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError)
SKIPPED_FOLDERS = frozenset(
    {"__pycache__", ".git", ".hg", ".svn", ".venv", "node_modules", "__MACOSX"}
)


class SourceError(Exception):
    """An upload that is refused; one sentence, and nothing of it was kept."""


class _CarefulTarInfo(tarfile.TarInfo):
    """A header that does not make the reader take a huge "name" into memory."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _CarefulTarInfo:
        """Read one header block."""
        info = super().frombuf(buf, encoding, errors)
        if info.type in META_TYPES and info.size > MAX_META_BYTES:
            raise SourceError(
                "The archive has a header of more than 1 MB, as no real one has."
                " Nothing of it was kept."
            )
        return info


class _Names:
    """The paths of an archive, compared as a case-insensitive disk would.

    On such a disk one file would silently replace the other.
    """

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def add_folder(self, path: PurePosixPath) -> None:
        """Note a folder and those above it; refuse one that is a file."""
        for part in (path, *path.parents):
            key = self._key(part)
            if key in self._files:
                raise self._twice(part)
            self._folders.add(key)

    def add_file(self, path: PurePosixPath) -> None:
        """Note a file; refuse one that is there already."""
        self.add_folder(path.parent)
        key = self._key(path)
        if key in self._files or key in self._folders:
            raise self._twice(path)
        self._files.add(key)

    @staticmethod
    def _key(path: PurePosixPath) -> str:
        return unicodedata.normalize("NFC", str(path)).casefold()

    @staticmethod
    def _twice(path: PurePosixPath) -> SourceError:
        return SourceError(
            f"The archive holds {_shown(str(path))} twice; every path may occur once, in upper"
            " or lower case. Nothing of it was kept."
        )


@dataclass(frozen=True)
class Limits:
    """What an archive may hold.

    Attributes:
        entries: Number of members.
        bytes: Unpacked size.
    """

    entries: int = MAX_ENTRIES
    bytes: int = MAX_BYTES


def store_archive(archive: IO[bytes], sources: Path, limits: Limits | None = None) -> str:
    """Unpack a gzip tar and keep its tree by content.

    Args:
        archive: The upload, at its start.
        sources: The folder of all trees.
        limits: How much is accepted.

    Returns:
        The digest, which is the tree's folder below `sources`.

    Raises:
        SourceError: It is no gzip tar, is too large, or holds what must not be unpacked.
        OSError: The disk is full, or the like; nothing is kept either.
    """
    sources.mkdir(parents=True, exist_ok=True)
    aside = sources / f".tmp-{secrets.token_hex(8)}"
    aside.mkdir()
    try:
        _unpack(archive, aside, limits or Limits())
        root = _unwrap(aside)
        digest = tree_digest(root)
        _keep(root, sources / digest)
        return digest
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def tree_digest(root: Path) -> str:
    """Return the SHA-256 of a tree's files: path, executable bit and content of each."""
    total = hashlib.sha256()
    for path in sorted(_files(root), key=lambda path: path.relative_to(root).as_posix()):
        name = path.relative_to(root).as_posix().encode()
        content = hashlib.sha256()
        with path.open("rb") as file:
            while chunk := file.read(COPY_CHUNK):
                content.update(chunk)
        executable = b"x" if os.access(path, os.X_OK) and path.stat().st_mode & 0o100 else b"-"
        total.update(len(name).to_bytes(4, "big") + name + executable + content.digest())
    return total.hexdigest()


def remove_leftovers(sources: Path) -> None:
    """Remove what an interrupted unpacking left behind."""
    for path in sources.glob(".tmp-*"):
        shutil.rmtree(path, ignore_errors=True)


def _files(root: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(root):
        for name in names:
            yield Path(folder) / name


def _keep(root: Path, target: Path) -> None:
    if target.exists():
        return
    try:
        root.rename(target)
    except OSError:
        if not target.exists():  # another upload of the same content may have been first
            raise


def _unwrap(aside: Path) -> Path:
    """Return the tree's root: the only top-level folder, unless that is a package itself."""
    entries = list(aside.iterdir())
    if len(entries) != 1 or not entries[0].is_dir():
        return aside
    folder = entries[0]
    importable = folder.name.isidentifier()
    if importable and ((folder / "__init__.py").exists() or folder.name == "src"):
        return aside
    return folder


def _unpack(archive: IO[bytes], target: Path, limits: Limits) -> None:
    budget = limits.bytes
    links: list[tuple[PurePosixPath, PurePosixPath]] = []
    seen = _Names()
    count = files = 0
    try:
        with tarfile.open(fileobj=archive, mode="r|gz", tarinfo=_CarefulTarInfo) as tar:
            for member in tar:
                count += 1
                if count > limits.entries:
                    raise SourceError(
                        f"The archive has more than {limits.entries:,} entries; leave out data,"
                        " caches and virtual environments. Nothing of it was kept."
                    )
                budget -= max(member.size, 0)
                if budget < 0:
                    raise _too_large(limits)
                path = _safe_path(member.name)
                if path is None or _is_skipped(path):
                    continue
                if member.isdir():
                    _make_folder(target, path, seen)
                elif member.isreg():
                    _write_file(tar, member, target, path, seen)
                    files += 1
                elif member.issym() or member.islnk():
                    links.append((path, _link_target(member, path)))
                else:
                    raise SourceError(
                        f"The archive holds {_shown(member.name)}, which is neither a file, a"
                        " folder nor a link; devices and pipes are refused. Nothing was kept."
                    )
    except SourceError:
        raise
    except (*ARCHIVE_ERRORS, ValueError, OverflowError, RecursionError) as error:
        raise SourceError(
            f"The upload is not a whole gzip tar archive ({_first_line(error)}); make one with"
            " `tar -czf source.tar.gz -C DIR .`"
        ) from error
    files += _copy_links(target, links, seen, budget, limits)
    if not files:
        raise SourceError("The archive holds no file, so there is no environment in it.")


def _safe_path(name: str) -> PurePosixPath | None:
    """Return a member's path below the root, None for the root itself.

    Raises:
        SourceError: The path leaves the root or cannot be a file's name.
    """
    refused = None
    path = PurePosixPath(name)
    if path.is_absolute():
        refused = "an absolute path"
    elif ".." in path.parts:
        refused = "a path that leaves the folder"
    elif "\\" in name or (len(name) > 1 and name[1] == ":" and name[0].isalpha()):
        refused = "a path with a backslash or a drive letter"
    elif any(unicodedata.category(c) in ("Cc", "Cs") for c in name):
        refused = "a path with control characters or broken UTF-8"
    elif len(path.parts) > MAX_DEPTH:
        refused = f"a path more than {MAX_DEPTH} folders deep"
    elif any(len(part.encode()) > MAX_NAME_BYTES for part in path.parts):
        refused = f"a name longer than {MAX_NAME_BYTES} bytes"
    if refused:
        raise SourceError(f"The archive holds {refused}: {_shown(name)}. Nothing of it was kept.")
    return path if path.parts else None


def _is_skipped(path: PurePosixPath) -> bool:
    return not SKIPPED_FOLDERS.isdisjoint(path.parts)


def _make_folder(target: Path, path: PurePosixPath, seen: _Names) -> None:
    seen.add_folder(path)
    (target / path).mkdir(parents=True, exist_ok=True)


def _write_file(
    tar: tarfile.TarFile,
    member: tarfile.TarInfo,
    target: Path,
    path: PurePosixPath,
    seen: _Names,
) -> None:
    seen.add_file(path)
    destination = target / path
    destination.parent.mkdir(parents=True, exist_ok=True)
    content = tar.extractfile(member)
    assert content is not None  # it is a regular file
    with destination.open("xb") as file:
        shutil.copyfileobj(content, file, COPY_CHUNK)
    destination.chmod(0o755 if member.mode & 0o100 else 0o644)


def _link_target(member: tarfile.TarInfo, path: PurePosixPath) -> PurePosixPath:
    """Return where a link leads, as a path below the root.

    Raises:
        SourceError: It leads out of the archive.
    """
    leads_to = PurePosixPath(member.linkname)
    steps = leads_to if member.islnk() else path.parent / leads_to
    parts: list[str] = []
    outside = leads_to.is_absolute()
    for part in steps.parts:
        if part == "..":
            if not parts:
                outside = True
                break
            parts.pop()
        else:
            parts.append(part)
    if outside:
        raise SourceError(
            f"The archive holds a link that leads out of it: {_shown(member.name)} ->"
            f" {_shown(member.linkname)}. Nothing of it was kept."
        )
    return PurePosixPath(*parts)


def _copy_links(
    target: Path,
    links: list[tuple[PurePosixPath, PurePosixPath]],
    seen: _Names,
    budget: int,
    limits: Limits,
) -> int:
    """Replace links within the archive by copies of the files that they lead to."""
    table = dict(links)
    for path, first in links:
        leads_to, hops = first, 0
        while leads_to in table and hops < LINK_HOPS:
            leads_to, hops = table[leads_to], hops + 1
        origin = target / leads_to
        if not origin.is_file():
            what = "a folder" if origin.is_dir() else "nothing in the archive"
            raise SourceError(
                f"The link {_shown(str(path))} leads to {what}; only links to files within the"
                " archive are taken. Nothing of it was kept."
            )
        budget -= origin.stat().st_size
        if budget < 0:
            raise _too_large(limits)
        seen.add_file(path)
        destination = target / path
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(origin, destination)
    return len(links)


def _too_large(limits: Limits) -> SourceError:
    return SourceError(
        f"The archive unpacks to more than {limits.bytes / 1e6:,.0f} MB; leave out data and"
        " checkpoints. Nothing of it was kept."
    )


def _shown(name: str) -> str:
    """Return a name fit for a message: escaped and not too long."""
    text = ascii(name)
    return text if len(text) <= 120 else f"{text[:60]}…{text[-50:]}"


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
