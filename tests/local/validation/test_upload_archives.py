"""Uploaded archives: what is refused, and that nothing of a refused one is kept."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena_sdk.local.services.sources import Limits, SourceError, store_archive

Entry = tuple[str, bytes | None] | tarfile.TarInfo


def archive(*entries: Entry, format: int = tarfile.PAX_FORMAT) -> io.BytesIO:
    """Return a gzip tar of files `(name, content)`, folders `(name, None)` and raw headers."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", format=format) as tar:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                tar.addfile(entry)
                continue
            name, content = entry
            info = tarfile.TarInfo(name)
            if content is None:
                info.type = tarfile.DIRTYPE
            else:
                info.size = len(content)
            tar.addfile(info, io.BytesIO(content or b""))
    buffer.seek(0)
    return buffer


def header(name: str, kind: bytes, linkname: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, linkname
    return info


def refusal(tmp_path: Path, upload: io.BytesIO, limits: Limits | None = None) -> str:
    """Return the sentence of the refusal, having seen that nothing was kept."""
    sources = tmp_path / "sources"
    with pytest.raises(SourceError) as caught:
        store_archive(upload, sources, limits)
    assert list(sources.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir() if path.name != "arena-home"] == ["sources"]
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("/etc/passwd", "an absolute path"),
        ("../outside.py", "a path that leaves the folder"),
        ("a/../../outside.py", "a path that leaves the folder"),
        ("a\\..\\b.py", "a path with a backslash or a drive letter"),
        ("C:evil.py", "a path with a backslash or a drive letter"),
        ("bell\a.py", "a path with control characters or broken UTF-8"),
        ("d/" * 70 + "deep.py", "a path more than 64 folders deep"),
        ("ü" * 150, "a name longer than 255 bytes"),
    ],
)
def test_an_unsafe_path_is_refused_by_name(tmp_path: Path, name: str, reason: str) -> None:
    said = refusal(tmp_path, archive(("env.py", b"x"), (name, b"y")))
    assert said.startswith(f"The archive holds {reason}: ")
    assert said.endswith("Nothing of it was kept.")


@pytest.mark.parametrize(
    "kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE], ids=["char", "block", "fifo"]
)
def test_devices_and_pipes_are_refused(tmp_path: Path, kind: bytes) -> None:
    said = refusal(tmp_path, archive(("env.py", b"x"), header("device", kind)))
    assert "'device', which is neither a file, a folder nor a link" in said


@pytest.mark.parametrize(
    ("linkname", "kind"),
    [
        ("/etc/passwd", tarfile.SYMTYPE),
        ("../../etc/passwd", tarfile.SYMTYPE),
        ("../outside", tarfile.LNKTYPE),
        ("/etc/passwd", tarfile.LNKTYPE),
    ],
)
def test_a_link_out_of_the_archive_is_refused(tmp_path: Path, linkname: str, kind: bytes) -> None:
    said = refusal(tmp_path, archive(("env.py", b"x"), header("a/link", kind, linkname)))
    assert said == (
        f"The archive holds a link that leads out of it: 'a/link' -> {linkname!a}."
        " Nothing of it was kept."
    )


def test_links_that_lead_in_a_circle_are_refused(tmp_path: Path) -> None:
    links = header("a", tarfile.SYMTYPE, "b"), header("b", tarfile.SYMTYPE, "a")
    said = refusal(tmp_path, archive(("env.py", b"x"), *links))
    assert said.startswith("The link 'a' leads to nothing in the archive")


def test_a_link_to_a_folder_is_refused(tmp_path: Path) -> None:
    link = header("again", tarfile.SYMTYPE, "folder")
    said = refusal(tmp_path, archive(("folder/env.py", b"x"), link))
    assert said.startswith("The link 'again' leads to a folder")


def test_a_file_written_through_an_earlier_link_stays_inside(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    link = header("dir", tarfile.SYMTYPE, str(victim))
    with pytest.raises(SourceError, match="leads out of it"):
        store_archive(archive(link, ("dir/evil.py", b"x")), tmp_path / "sources")
    assert list(victim.iterdir()) == []


def test_links_inside_become_copies(tmp_path: Path) -> None:
    links = (
        header("pkg/alias.py", tarfile.SYMTYPE, "../env.py"),
        header("twice.py", tarfile.SYMTYPE, "pkg/alias.py"),
        header("hard.py", tarfile.LNKTYPE, "env.py"),
    )
    digest = store_archive(archive(("env.py", b"content"), *links), tmp_path)
    for name in ("pkg/alias.py", "twice.py", "hard.py"):
        path = tmp_path / digest / name
        assert path.read_bytes() == b"content"
        assert not path.is_symlink()


def test_links_do_not_multiply_beyond_the_size_limit(tmp_path: Path) -> None:
    links = [header(f"copy{i}", tarfile.SYMTYPE, "big.bin") for i in range(10)]
    said = refusal(
        tmp_path, archive(("big.bin", bytes(1000)), *links), Limits(bytes=5000, entries=99)
    )
    assert said.startswith("The archive unpacks to more than")


def test_too_many_entries_are_refused(tmp_path: Path) -> None:
    said = refusal(
        tmp_path, archive(*((f"f{i}.py", b"") for i in range(20))), Limits(bytes=10, entries=10)
    )
    assert said.startswith("The archive has more than 10 entries")


def test_a_bomb_is_refused_before_it_is_written(tmp_path: Path) -> None:
    said = refusal(tmp_path, archive(("zeros", bytes(10_000_000))), Limits(bytes=1_000_000))
    assert said == (
        "The archive unpacks to more than 1 MB; leave out data and checkpoints."
        " Nothing of it was kept."
    )


def test_a_bomb_in_a_skipped_folder_is_refused_too(tmp_path: Path) -> None:
    entry = (".git/pack", bytes(10_000_000))
    refusal(tmp_path, archive(("env.py", b""), entry), Limits(bytes=1_000_000))


def test_a_huge_header_is_refused(tmp_path: Path) -> None:
    said = refusal(tmp_path, archive(("n" * 3_000_000, b""), format=tarfile.GNU_FORMAT))
    assert said.startswith("The archive has a header of more than 1 MB")


def test_a_path_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    assert "'env.py' twice" in refusal(tmp_path, archive(("env.py", b"1"), ("env.py", b"2")))


def test_paths_that_differ_in_case_are_refused(tmp_path: Path) -> None:
    assert "'ENV.py' twice" in refusal(tmp_path, archive(("env.py", b"1"), ("ENV.py", b"2")))


def test_a_file_where_a_folder_is_is_refused(tmp_path: Path) -> None:
    assert "'a' twice" in refusal(tmp_path, archive(("a", b"1"), ("a/b.py", b"2")))


@pytest.mark.parametrize(
    "make",
    [
        lambda whole: b"",
        lambda whole: b"this is no archive",
        lambda whole: whole[: len(whole) // 2],
        lambda whole: gzip.compress(b"not a tar" * 100),
        lambda whole: b"PK\x03\x04" + whole,
    ],
    ids=["empty", "text", "cut", "gzip of text", "zip"],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, make: Callable[[bytes], bytes]) -> None:
    whole = archive(("env.py", b"x" * 1000)).getvalue()
    said = refusal(tmp_path, io.BytesIO(make(whole)))
    assert said.startswith("The upload is not a whole gzip tar archive")


def test_an_archive_without_files_is_refused(tmp_path: Path) -> None:
    said = refusal(tmp_path, archive(("folder", None)))
    assert said == "The archive holds no file, so there is no environment in it."


def test_the_same_content_has_the_same_digest(tmp_path: Path) -> None:
    one = store_archive(archive(("a.py", b"1"), ("b.py", b"2")), tmp_path)
    other = store_archive(archive(("b.py", b"2"), ("a.py", b"1")), tmp_path)
    changed = store_archive(archive(("b.py", b"2"), ("a.py", b"!")), tmp_path)
    assert one == other != changed
    assert {path.name for path in tmp_path.iterdir()} - {"arena-home"} == {one, changed}


@pytest.mark.parametrize(
    ("entries", "kept"),
    [
        ([("merge-env/env.py", b"")], ["env.py"]),
        ([("merge_env/env.py", b""), ("merge_env/data/map.txt", b"")], ["data", "env.py"]),
        ([("pkg/__init__.py", b""), ("pkg/env.py", b"")], ["pkg"]),
        ([("src/pkg/env.py", b"")], ["src"]),
        ([("env.py", b""), ("more/x.py", b"")], ["env.py", "more"]),
        ([("env.py", b""), ("__pycache__/env.pyc", b""), (".git/HEAD", b"")], ["env.py"]),
    ],
)
def test_a_lone_top_folder_is_unwrapped_unless_it_is_a_package(
    tmp_path: Path, entries: list[Entry], kept: list[str]
) -> None:
    digest = store_archive(archive(*entries), tmp_path)
    assert sorted(path.name for path in (tmp_path / digest).iterdir()) == kept


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(
    lambda name: "\0" not in name
)
parts = st.lists(st.one_of(st.sampled_from(["..", ".", "a", "b", "", "~"]), names), min_size=1)
raw = st.builds(
    header,
    parts.map("/".join),
    st.sampled_from([tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.REGTYPE]),
    parts.map("/".join),
)
files = st.tuples(parts.map("/".join), st.binary(max_size=20))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(st.lists(st.one_of(raw, files), min_size=1, max_size=6), st.booleans())
def test_no_archive_writes_outside_or_leaves_a_link(
    tmp_path: Path, entries: list[Entry], absolute: bool
) -> None:
    sources = tmp_path / "hypothesis" / "sources"
    if absolute:
        entries = [*entries, ("/" + str(tmp_path / "evil"), b"x")]
    before = {path for path in tmp_path.rglob("*") if sources not in path.parents}
    try:
        digest = store_archive(archive(*entries), sources)
    except SourceError as error:
        said = str(error)
    else:
        said = ""
        for path in (sources / digest).rglob("*"):
            assert not path.is_symlink()
            assert path.is_dir() or path.is_file()
    assert "\n" not in said
    after = {path for path in tmp_path.rglob("*") if sources not in path.parents}
    assert after - before <= {sources, sources.parent}
    assert not list(sources.glob(".tmp-*"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(st.data())
def test_a_damaged_archive_is_an_error_of_one_sentence(tmp_path: Path, data: st.DataObject) -> None:
    whole = bytearray(archive(("pkg/env.py", b"x" * 3000), ("b.txt", b"y" * 600)).getvalue())
    tar = bytearray(gzip.decompress(whole))
    damaged = data.draw(st.sampled_from(["gzip", "tar"]))
    target = whole if damaged == "gzip" else tar
    for _ in range(data.draw(st.integers(1, 4))):
        target[data.draw(st.integers(0, len(target) - 1))] = data.draw(st.integers(0, 255))
    upload = bytes(whole) if damaged == "gzip" else gzip.compress(bytes(tar))
    sources = tmp_path / "damaged"
    said = ""
    try:
        store_archive(io.BytesIO(upload), sources)
    except SourceError as error:
        said = str(error)
    assert "\n" not in said
    assert not list(sources.glob(".tmp-*"))
