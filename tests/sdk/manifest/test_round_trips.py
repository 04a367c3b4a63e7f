"""Properties that hold for every manifest: what is read again is what was written."""

from __future__ import annotations

import json
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_sdk.manifest import ManifestError, TrainingManifest, algorithms
from arena_sdk.manifest.comparing import differences
from arena_sdk.manifest.rules import numeric_fields
from arena_sdk.manifest.schema import section_models

CLASSICAL = [name for name in algorithms.NAMES if not algorithms.is_llm(name)]


@st.composite
def manifests(draw: st.DrawFn) -> dict[str, Any]:
    """Draw valid manifests of any algorithm."""
    name = draw(st.sampled_from(algorithms.NAMES))
    document = {"algorithm": {"name": name}, "environment": {"name": "CartPole-v1", "num_envs": 4}}
    if algorithms.is_llm(name):
        document["algorithm"]["pretrained_model_name_or_path"] = draw(st.text("ab/", min_size=1))
        rows = algorithms.REGISTRY[name].family == "dataset"
        document["environment"] = {"dataset": "d"} if rows else {"entrypoint": "a:B"}
    names = numeric_fields(algorithms.model_of(name))
    ranges = st.builds(
        lambda low, step: {"min": low, "max": low + step}, st.floats(0, 1), st.floats(0, 9)
    )
    document["mutation"] = {
        "rl_hp_selection": draw(st.dictionaries(st.sampled_from(names), ranges, max_size=3))
    }
    document["training"] = {
        "max_steps": draw(st.integers(1, 10**9)),
        "pop_size": draw(st.integers(1, 64)),
        "target_score": draw(st.none() | st.floats(allow_nan=False, allow_infinity=False)),
    }
    if name in CLASSICAL:
        sizes = draw(st.lists(st.integers(8, 256), min_size=1, max_size=6))
        document["network"] = {
            "arch": "mlp",
            "encoder_config": {"hidden_size": sizes},
            "head_config": {"hidden_size": sizes},
        }  # fmt: skip
    return document


@given(manifests())
def test_a_payload_is_a_manifest_with_the_same_payload(document: dict[str, Any]) -> None:
    payload = TrainingManifest.load(document).payload()
    assert TrainingManifest.load(payload).payload() == payload


@given(manifests())
def test_yaml_and_json_are_read_alike(document: dict[str, Any]) -> None:
    payload = TrainingManifest.load(document).payload()
    assert TrainingManifest.load(yaml.safe_dump(document)).payload() == payload
    assert TrainingManifest.load(json.dumps(document)).payload() == payload


@given(manifests())
def test_a_payload_has_no_null(document: dict[str, Any]) -> None:
    def values(value: Any) -> list[Any]:
        inner = (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
        )
        return [value, *(one for item in inner for one in values(item))]

    assert None not in values(TrainingManifest.load(document).payload())


@given(manifests(), manifests())
def test_a_difference_is_the_same_backwards(one: dict[str, Any], two: dict[str, Any]) -> None:
    old, new = (TrainingManifest.load(document).payload() for document in (one, two))
    there, back = differences(old, new), differences(new, old)
    assert {(d.path, repr(d.old), repr(d.new)) for d in there} == {
        (d.path, repr(d.new), repr(d.old)) for d in back
    }
    assert (there == []) == (old == new)


@given(
    manifests(),
    st.sampled_from(["algorithm", "training"]),
    st.text("abcxyz_", min_size=1, max_size=12),
)
def test_an_unknown_field_is_refused_where_it_stands(
    document: dict[str, Any], section: str, name: str
) -> None:
    model = algorithms.model_of(document["algorithm"]["name"])
    known = model if section == "algorithm" else section_models()["training"][0]
    if name in known.model_fields or name in ("lr", "metrics_interval", "population_size"):
        return
    document[section][name] = 1
    text = yaml.safe_dump(document, sort_keys=False)
    problems = TrainingManifest.validate(text)
    assert [(one.path, one.kind) for one in problems] == [(f"{section}.{name}", "extra_forbidden")]
    line = text.splitlines()[(problems[0].line or 0) - 1]
    assert line[(problems[0].column or 0) - 1 :].startswith(f"{name}:")


def said_of(given: Any) -> str:
    """Return the payload as text, or what is said of the mistakes."""
    try:
        return str(TrainingManifest.load(given).payload())
    except ManifestError as error:
        return str(error)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
SECTIONS = [
    "training",
    "network",
    "mutation",
    "replay_buffer",
    "tournament_selection",
    "environment",
]


@settings(max_examples=300)
@given(st.sampled_from(algorithms.NAMES), st.sampled_from(SECTIONS), st.data())
def test_any_value_anywhere_is_judged_without_a_crash(
    name: str, section: str, data: st.DataObject
) -> None:
    fields = sorted({field for model in section_models()[section] for field in model.model_fields})
    content = data.draw(st.dictionaries(st.sampled_from(fields), JSON, max_size=4) | JSON)
    document = {"algorithm": {"name": name}, "environment": {"name": "e"}, section: content}
    assert said_of(document)


@settings(max_examples=200)
@given(st.sampled_from(algorithms.NAMES), st.data())
def test_any_value_of_an_algorithm_is_judged_without_a_crash(
    name: str, data: st.DataObject
) -> None:
    fields = sorted(algorithms.model_of(name).model_fields)
    content = data.draw(st.dictionaries(st.sampled_from(fields), JSON, max_size=4))
    document = {"algorithm": {**content, "name": name}, "environment": {"name": "e"}}
    assert said_of(document)


@given(st.text(max_size=200))
def test_any_text_is_a_manifest_or_is_refused_in_words(text: str) -> None:
    assert said_of(text + "\n")
