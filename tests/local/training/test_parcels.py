"""What an environment is made of arrives whole at another place, and nothing else does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena_sdk.local.training import parcels


def source(tmp_path: Path) -> dict[str, Any]:
    folder = tmp_path / "mine"
    (folder / "inner" / "__pycache__").mkdir(parents=True)
    (folder / "env.py").write_text("import inner")
    (folder / "inner" / "__init__.py").write_text("x = 1")
    (folder / "inner" / "__pycache__" / "x.pyc").write_bytes(b"old")
    (tmp_path / "outside.txt").write_text("linked")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    return {"kind": "custom", "source_dir": str(folder), "entrypoint": "env:Env"}


def test_a_folder_is_unpacked_elsewhere(tmp_path: Path) -> None:
    reference = source(tmp_path)
    moved = parcels.unpack(reference, parcels.pack(reference), tmp_path / "there")
    there = Path(moved["source_dir"])
    assert there.is_relative_to(tmp_path / "there")
    assert there.name == "mine"
    assert (there / "link.txt").read_text() == "linked"
    files = {str(path.relative_to(there)) for path in there.rglob("*") if path.is_file()}
    assert files == {"env.py", "inner/__init__.py", "link.txt"}
    assert {**moved, "source_dir": reference["source_dir"]} == reference


def test_files_travel_and_names_do_not(tmp_path: Path) -> None:
    for name in ("x.csv", "steps.h5"):
        (tmp_path / name).write_text(name)
    reference = {
        "features": str(tmp_path / "x.csv"),
        "dataset": {"path": str(tmp_path / "steps.h5")},
    }
    moved = parcels.unpack(reference, parcels.pack(reference), tmp_path / "there")
    assert Path(moved["features"]).read_text() == "x.csv"
    assert Path(moved["dataset"]["path"]).read_text() == "steps.h5"
    assert (
        parcels.pack({"kind": "gymnasium", "id": "CartPole-v1", "dataset": {"minari": "a/b"}}) == {}
    )


def test_what_is_too_large_stays_at_its_path(tmp_path: Path) -> None:
    reference = source(tmp_path)
    parcel = parcels.pack(reference, limit=10)
    assert parcel == {}
    assert parcels.unpack(reference, parcel, tmp_path / "there") == reference
