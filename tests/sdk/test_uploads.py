"""What is packed: the same bytes for the same content, without what nobody wants to send."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_sdk.errors import ArenaFileNotFoundError, ArenaValidationError
from arena_sdk.uploads import pack_bytes

NAMES = st.text("abcxyzé ü_-.", min_size=1, max_size=12).filter(
    lambda name: name.strip(". ") == name
)


def contents(archive: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        return {
            member.name: file.read()
            for member in tar
            if (file := tar.extractfile(member)) is not None
        }


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_caches_version_control_and_secrets_stay_home(tmp_path: Path) -> None:
    source = tree(
        tmp_path,
        {
            "env.py": "x",
            "pkg/mod.py": "y",
            ".git/config": "z",
            "pkg/__pycache__/mod.pyc": "z",
            ".env": "SECRET=1",
            "node_modules/a.js": "z",
            ".venv/bin/python": "z",
        },
    )
    assert set(contents(pack_bytes(source))) == {"env.py", "pkg/mod.py"}


def test_ignore_files_are_obeyed(tmp_path: Path) -> None:
    source = tree(
        tmp_path,
        {
            ".gitignore": "*.log\ndata/\n!keep.log\n/top.txt\n",
            "env.py": "x",
            "a.log": "",
            "keep.log": "",
            "data/big.bin": "",
            "top.txt": "",
            "sub/top.txt": "",
        },
    )
    assert set(contents(pack_bytes(source))) == {".gitignore", "env.py", "keep.log", "sub/top.txt"}
    (source / ".arenaignore").write_text("env.py\n")
    assert "a.log" in contents(pack_bytes(source))


def test_the_same_content_is_the_same_archive(tmp_path: Path) -> None:
    first = tree(tmp_path / "one", {"a.py": "1", "b/c.py": "2"})
    second = tree(tmp_path / "two", {"b/c.py": "2", "a.py": "1"})
    os.utime(second / "a.py", (1, 1))
    assert pack_bytes(first) == pack_bytes(second)


def test_executable_bits_are_kept(tmp_path: Path) -> None:
    source = tree(tmp_path, {"run.sh": "x", "env.py": "y"})
    (source / "run.sh").chmod(0o755)
    with tarfile.open(fileobj=io.BytesIO(pack_bytes(source)), mode="r:gz") as tar:
        assert {member.name: oct(member.mode) for member in tar} == {
            "env.py": "0o644",
            "run.sh": "0o755",
        }


def test_a_link_out_of_the_folder_is_refused_by_name(tmp_path: Path) -> None:
    source = tree(tmp_path / "src", {"env.py": "x"})
    (tmp_path / "secret").write_text("s")
    (source / "leak").symlink_to(tmp_path / "secret")
    with pytest.raises(ArenaValidationError, match="'leak'"):
        pack_bytes(source)


def test_links_inside_are_followed_and_loops_end(tmp_path: Path) -> None:
    source = tree(tmp_path, {"real/env.py": "x"})
    (source / "alias").symlink_to(source / "real")
    (source / "real" / "loop").symlink_to(source)
    assert set(contents(pack_bytes(source))) >= {"real/env.py", "alias/env.py"}


def test_a_zip_is_unpacked_not_nested(tmp_path: Path) -> None:
    path = tmp_path / "env.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("env.py", "x")
        archive.writestr("__pycache__/env.pyc", "y")
    assert contents(pack_bytes(path)) == {"env.py": b"x"}


@pytest.mark.parametrize("name", ["nowhere", "nowhere/env.py"])
def test_a_missing_source_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArenaFileNotFoundError, match="nowhere"):
        pack_bytes(tmp_path / name)


def test_a_broken_zip_is_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "env.zip"
    path.write_bytes(b"PK nonsense")
    with pytest.raises(ArenaValidationError, match=r"env\.zip"):
        pack_bytes(path)


@settings(max_examples=30)
@given(st.dictionaries(NAMES, st.binary(max_size=50), min_size=1, max_size=6))
def test_every_file_comes_back_as_it_went(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    source = tmp_path_factory.mktemp("source")
    for name, content in files.items():
        (source / f"f{name}.txt").write_bytes(content)
    assert contents(pack_bytes(source)) == {f"f{name}.txt": c for name, c in files.items()}
