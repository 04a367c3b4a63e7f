"""Archives and ignore files: what git ignores stays at home, and broken archives are named."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from arena_sdk._ignore import is_ignored
from arena_sdk.errors import ArenaValidationError
from arena_sdk.uploads import collect, pack, pack_bytes

PATTERNS = [
    "*.log", "/top.txt", "data/", "doc/*.txt", "**/deep", "a/**", "a/**/z", "x?z", "[ab].py",
    "[!ab].py", "[a-c]x", "foo/bar", "!keep.log", r"\#hash", r"\!bang", "b*d", "*", "!*.py", "sub/",
    "trail/**/", "**", "né*",
]  # fmt: skip
PATHS = [
    "a.log", "sub/a.log", "keep.log", "top.txt", "sub/top.txt", "data/f", "sub/data/f", "doc/a.txt",
    "doc/s/a.txt", "deep", "q/deep", "q/r/deep", "a/f", "a/b/z", "a/z", "xyz", "x/z", "a.py",
    "c.py", "bx", "foo/bar", "s/foo/bar", "#hash", "!bang", "bd", "b/d", "bcd", "trail/m/n", "néa",
]  # fmt: skip


def sent(folder: Path) -> set[str]:
    return {entry.name for entry in collect(folder)}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_mean_what_they_mean_to_git(tmp_path: Path, pattern: str) -> None:
    for name in PATHS:
        path = tmp_path / name
        if not path.exists() and not any(parent.is_file() for parent in path.parents):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")
    lines = f"keep.log\n{pattern}\n"
    (tmp_path / ".gitignore").write_text(lines)
    (tmp_path / "always").write_text("x")  # so that something is left
    git = ["git", "-C", str(tmp_path), "-c", "core.excludesFile=", "-c", "core.quotePath=false"]
    subprocess.run([*git, "init", "-q"], check=True)
    listed = subprocess.run(
        [*git, "ls-files", "--others", "--exclude-standard", "-z"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    wanted = set(listed.stdout.split("\0")) - {""}
    if not wanted:
        with pytest.raises(ArenaValidationError, match="no file to upload"):
            sent(tmp_path)
    else:
        assert sent(tmp_path) == wanted


def test_a_pattern_that_is_none_matches_itself_at_most() -> None:
    assert not is_ignored("m", ("[z-a]",), is_folder=False)


def test_what_is_never_sent_cannot_be_taken_back() -> None:
    assert is_ignored(".env", ("!.env",), is_folder=False)


def write_zip(path: Path, entries: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
    return path


def names(archive: bytes) -> set[str]:
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        return set(tar.getnames())


def test_a_zip_leaves_out_whole_folders(tmp_path: Path) -> None:
    entries = {"env.py": "x", ".git/config": "y", "p/.venv/bin/python": "z", "p/m.py": "w"}
    assert names(pack_bytes(write_zip(tmp_path / "e.zip", entries))) == {"env.py", "p/m.py"}


@pytest.mark.parametrize("name", ["../out.py", "/abs.py", "a/../../out.py", "..\\out.py"])
def test_a_zip_that_escapes_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArenaValidationError, match=r"e\.zip has an entry that leads out"):
        pack_bytes(write_zip(tmp_path / "e.zip", {name: "x"}))


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("leak")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(ArenaValidationError, match="has a link, 'leak'"):
        pack_bytes(tmp_path / "e.zip")


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "e.zip", {"env.py": "x"})
    raw = bytearray(path.read_bytes())
    raw[6] |= 1  # the flag in the entry's own header
    raw[raw.index(b"PK\x01\x02") + 8] |= 1  # and in the directory
    path.write_bytes(raw)
    with pytest.raises(ArenaValidationError, match="encrypted"):
        pack_bytes(path)


@pytest.mark.parametrize("content", [b"", b"not gzip", b"PK\x03\x04"])
def test_what_is_no_gzip_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ArenaValidationError, match="no gzip archive"):
        pack_bytes(content)
    (tmp_path / "e.tgz").write_bytes(content)
    with pytest.raises(ArenaValidationError, match=r"e\.tgz is no gzip archive"):
        pack_bytes(tmp_path / "e.tgz")


def test_an_archive_goes_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "env.py").write_text("x")
    packed = pack_bytes(tmp_path / "src")
    (tmp_path / "e.tar.gz").write_bytes(packed)
    assert pack_bytes(tmp_path / "e.tar.gz") == packed
    assert pack_bytes(packed) == packed


def test_a_file_that_shrinks_while_it_is_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "grows.log"
    path.write_text("x" * 100)
    entries = collect(tmp_path)
    path.write_text("x")
    monkeypatch.setattr("arena_sdk.uploads.collect", lambda source: entries)
    with pytest.raises(ArenaValidationError, match=r"'grows\.log' changed while"):
        pack(tmp_path, io.BytesIO())


def test_special_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "env.py").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    assert sent(tmp_path) == {"env.py"}
