"""What is said of typical mistakes, word for word: place, cause, remedy.

Each `mistakes/NAME.yaml` is a manifest with the mistake, `mistakes/NAME.txt` what is said of it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from arena_sdk.manifest import ManifestError, TrainingManifest

MISTAKES = sorted((Path(__file__).parent / "mistakes").glob("*.yaml"))


def test_there_are_enough_of_them() -> None:
    assert len(MISTAKES) >= 30


@pytest.mark.parametrize("path", MISTAKES, ids=lambda path: path.stem)
def test_what_is_said_of_a_mistake(path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        TrainingManifest.load(path)
    assert f"{caught.value}\n" == path.with_suffix(".txt").read_text(encoding="utf-8")
