"""Verdicts and payloads are those of the published contract, which is asked itself."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from manifest_drawing import Drawing
from manifest_oracle import Oracle, disagreements

from arena_sdk.manifest import algorithms
from arena_sdk.manifest.checking import Check
from arena_sdk.manifest.document import TrainingManifest
from arena_sdk.manifest.problems import ManifestError
from arena_sdk.manifest.retired import changes
from arena_sdk.manifest.source import read

pytestmark = pytest.mark.slow

EXAMPLES = sorted((Path(__file__).parent / "examples").iterdir())
DRAWN = int(os.environ.get("ARENA_DRAWN_MANIFESTS", "4000"))


@pytest.fixture(scope="module")
def oracle(oracle_python: str) -> Iterator[Oracle]:
    with Oracle(oracle_python) as asked:
        yield asked


def judged(document: Any) -> tuple[bool, Any]:
    """Return our verdict, and the payload or the problems; retired spellings are not forgiven."""
    source = read(document)
    check = Check(source)
    if check.problems:
        return False, [str(problem) for problem in check.problems]
    return True, TrainingManifest.from_source(source).payload()


def compare(oracle: Oracle, document: dict[str, Any]) -> str | None:
    """Return how our verdict differs from the published one, or None when it does not."""
    theirs = oracle.verdict(document)
    ok, ours = judged(document)
    if ok != theirs["ok"]:
        return f"{json.dumps(document)}: ours {ok} {ours}, theirs {theirs.get('errors')}"
    found = disagreements(ours, theirs["payload"]) if ok else []
    return f"{json.dumps(document)}: {found}" if found else None


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_manifests_written_by_hand_are_judged_alike(oracle: Oracle, path: Path) -> None:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    theirs = oracle.verdict(document)
    assert theirs["ok"], theirs["errors"]
    assert disagreements(TrainingManifest.load(path).payload(), theirs["payload"]) == []


def test_there_is_an_example_of_every_algorithm() -> None:
    written = {TrainingManifest.load(path).algorithm.name for path in EXAMPLES}
    assert written == set(algorithms.NAMES)


def test_manifests_drawn_at_random_are_judged_alike(oracle: Oracle) -> None:
    seed = int(os.environ.get("ARENA_DRAWN_SEED") or random.SystemRandom().randrange(10**6))
    drawing = Drawing(oracle.schema(), seed)
    differing = []
    for _ in range(DRAWN):
        document = drawing.manifest()
        difference = compare(oracle, document)
        if difference is not None:
            differing.append(difference)
    assert not differing, f"seed {seed}: {len(differing)} of {DRAWN} differ\n" + "\n".join(
        differing[:10]
    )


def test_every_field_has_its_default_and_bounds_of_the_contract(oracle: Oracle) -> None:
    drawing = Drawing(oracle.schema(), 0)
    differing = [
        difference
        for document in drawing.each_field()
        if (difference := compare(oracle, document)) is not None
    ]
    assert not differing, "\n".join(differing[:10])


def test_only_retired_spellings_are_accepted_beyond_the_contract(oracle: Oracle) -> None:
    for path in sorted((Path(__file__).parent / "retired").glob("*.yaml")):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert changes(document), path
        assert not oracle.verdict(document)["ok"], path
        loaded = TrainingManifest.load(path)
        assert loaded.warnings
        assert oracle.verdict(loaded.payload())["ok"], path


def test_payloads_are_manifests_with_the_same_verdict(oracle: Oracle) -> None:
    for path in EXAMPLES:
        assert compare(oracle, TrainingManifest.load(path).payload()) is None


def test_what_the_contract_refuses_is_refused_with_a_place(oracle: Oracle) -> None:
    for path in sorted((Path(__file__).parent / "mistakes").glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        with pytest.raises(ManifestError) as caught:
            TrainingManifest.load(path)
        assert all(problem.line for problem in caught.value.problems)
        if any(
            problem.kind in ("duplicate_key", "unreadable") for problem in caught.value.problems
        ):
            continue
        assert not oracle.verdict(yaml.safe_load(text))["ok"], path
