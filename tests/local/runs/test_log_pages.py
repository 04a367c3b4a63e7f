"""Pages of a log: the right lines, and no more read than a page needs."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from arena_sdk.local.services import logs
from arena_sdk.local.services.logs import STRIDE, LogPages


def write(path: Path, first: int, last: int, end: str = "\n") -> None:
    with path.open("a") as log:
        log.write("\n".join(f"line {n}" for n in range(first, last)) + end)


@pytest.mark.parametrize("limit", [1, 7, STRIDE - 1, STRIDE, 1000])
def test_pages_one_after_another_are_the_log(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "log"
    write(path, 0, 1000)
    pages, lines, after = LogPages(), list[str](), 0
    while page := pages.page(path, after, limit, whole=True)[0]:
        lines += page
        after += len(page)
    assert lines == [f"line {n}" for n in range(1000)]


def test_a_line_under_way_is_left_for_the_next_page(tmp_path: Path) -> None:
    path = tmp_path / "log"
    write(path, 0, 2, end="")
    pages = LogPages()
    assert pages.page(path, 0, 10, whole=False) == (["line 0"], 1)
    write(path, 5, 6)
    assert pages.page(path, 1, 10, whole=False) == (["line 1line 5"], 2)
    assert pages.page(path, 2, 10, whole=False) == ([], 2)


def test_the_last_line_of_an_ended_log_needs_no_end(tmp_path: Path) -> None:
    path = tmp_path / "log"
    write(path, 0, 2, end="")
    assert LogPages().page(path, 0, 10, whole=True) == (["line 0", "line 1"], 2)


def test_a_log_that_is_not_there_or_not_so_long_has_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    pages = LogPages()
    assert pages.page(path, 3, 10, whole=True) == ([], 3)
    write(path, 0, 2)
    assert pages.page(path, 2**40, 10, whole=True) == ([], 2**40)


def test_a_new_file_under_the_same_name_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "log"
    write(path, 0, 3 * STRIDE)
    pages = LogPages()
    pages.page(path, 0, 10_000, whole=True)
    aside = tmp_path / "new"
    aside.write_text("".join(f"other {n}\n" for n in range(3 * STRIDE)))
    aside.rename(path)
    assert pages.page(path, 2 * STRIDE, 1, whole=True) == ([f"other {2 * STRIDE}"], 2 * STRIDE + 1)
    path.write_text("short\n")
    assert pages.page(path, 0, 5, whole=True) == (["short"], 1)


class Counting(io.BytesIO):
    """A file that counts the lines that are read of it."""

    reads = 0

    def readline(self, *arguments: Any) -> bytes:
        Counting.reads += 1
        return super().readline(*arguments)


def test_a_late_page_reads_from_near_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    write(path, 0, 20_000)
    pages = LogPages()
    pages.page(path, 0, 10_000, whole=True)
    pages.page(path, 10_000, 10_000, whole=True)
    content, status = path.read_bytes(), path.stat()
    monkeypatch.setattr(Path, "open", lambda self, mode: Counting(content))
    monkeypatch.setattr(Counting, "fileno", lambda self: 0)
    monkeypatch.setattr(logs.os, "fstat", lambda fd: status)
    lines, reached = pages.page(path, 19_000, 100, whole=True)
    assert (lines[0], reached) == ("line 19000", 19_100)
    assert Counting.reads <= STRIDE + 100


def test_only_so_many_logs_are_remembered(tmp_path: Path) -> None:
    pages = LogPages()
    for number in range(logs.INDEXES + 20):
        path = tmp_path / str(number)
        path.write_text("x\n")
        pages.page(path, 0, 1, whole=True)
    assert len(pages._indexes) == logs.INDEXES
