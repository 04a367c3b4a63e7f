"""How far an upload is: files that count what has been read of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO

Progress = Callable[[int, int | None], None]
"""Called with how many bytes are done, and of how many where that is known."""


class Upload:
    """Counts the bytes of several files together.

    Args:
        tell: Called after each piece that is read; None counts nothing.
    """

    def __init__(self, tell: Progress | None) -> None:
        self._tell = tell
        self._total = 0
        self._files: list[_CountedFile] = []

    def file(self, file: IO[bytes]) -> IO[bytes]:
        """Return a file that is read instead of this one, from its beginning."""
        if self._tell is None:
            return file
        self._total += file.seek(0, os.SEEK_END)
        file.seek(0)
        self._files.append(_CountedFile(file, self._moved))
        return self._files[-1]  # type: ignore[return-value]

    def _moved(self) -> None:
        if self._tell is not None:
            self._tell(sum(file.done for file in self._files), self._total)


class _CountedFile:
    """What an HTTP client needs of a file: `read`, `seek`, `tell`.

    It has no `fileno`, so that nobody reads past it.
    """

    def __init__(self, file: IO[bytes], moved: Callable[[], None]) -> None:
        self._file = file
        self._moved = moved
        self.done = 0

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        if piece:
            self.done += len(piece)
            self._moved()
        return piece

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if offset == 0 and whence == os.SEEK_SET:
            self.done = 0  # sent once more, as after a credential was refused
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()
