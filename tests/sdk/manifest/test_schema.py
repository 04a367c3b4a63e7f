"""The JSON Schema that editors are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from arena_sdk.manifest import TrainingManifest, algorithms

EXAMPLES = sorted((Path(__file__).parent / "examples").iterdir())
SCHEMA = TrainingManifest.schema()


def faults(value: Any, schema: dict[str, Any], path: str = "") -> list[str]:
    """Judge a value by the part of JSON Schema that ours uses.

    The library for it is no dependency of this project.
    """
    if "$ref" in schema:
        return faults(value, SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]], path)
    found: list[str] = []
    if "anyOf" in schema and all(faults(value, one, path) for one in schema["anyOf"]):
        found.append(f"{path}: fits none")
    for one in schema.get("allOf", []):
        if "if" not in one or not faults(value, one["if"], path):
            found += faults(value, one.get("then", one), path)
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{path}: {value!r} is none of {schema['enum']}")
    if "const" in schema and value != schema["const"]:
        found.append(f"{path}: {value!r} is not {schema['const']!r}")
    kind = schema.get("type")
    kinds = {
        "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
        "integer": int, "number": (int, float),
    }  # fmt: skip
    if kind and not (isinstance(value, kinds[kind]) and (kind == "boolean" or value is not True)):
        return [*found, f"{path}: {value!r} is no {kind}"]
    if isinstance(value, dict):
        found += _object_faults(value, schema, path)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for index, item in enumerate(value):
            found += faults(item, schema["items"], f"{path}.{index}")
    elif isinstance(value, int | float):
        for word, wrong in (("minimum", value < schema.get("minimum", value)),
                            ("maximum", value > schema.get("maximum", value))):  # fmt: skip
            if wrong:
                found.append(f"{path}: {value} and {word}")
    return found


def _object_faults(value: dict[str, Any], schema: dict[str, Any], path: str) -> list[str]:
    known = schema.get("properties", {})
    found = [f"{path}.{name}: missing" for name in schema.get("required", []) if name not in value]
    for name, item in value.items():
        rest = schema.get("additionalProperties", True)
        if name in known:
            found += faults(item, known[name], f"{path}.{name}")
        elif rest is False:
            found.append(f"{path}.{name}: unknown")
        elif isinstance(rest, dict):
            found += faults(item, rest, f"{path}.{name}")
    return found


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_valid_manifests_fit_the_schema(path: Path) -> None:
    document = yaml.load(path.read_text(encoding="utf-8"), Loader=_Numbers)
    assert faults(document, SCHEMA) == []


class _Numbers(yaml.SafeLoader):
    """Reads `1e-4` as editors do (YAML 1.2), as a number."""


_Numbers.add_implicit_resolver(  # type: ignore[no-untyped-call]
    "tag:yaml.org,2002:float", __import__("re").compile(r"^[-+]?\d+(\.\d+)?[eE][-+]?\d+$"), None
)


@pytest.mark.parametrize("name", algorithms.NAMES)
def test_payloads_fit_the_schema(name: str) -> None:
    payload = TrainingManifest.defaults_for(name).payload()
    payload.pop("mutation")
    assert faults(payload, SCHEMA) == []


@pytest.mark.parametrize(
    ("document", "word"),
    [
        ({"algorithm": {"name": "DQN"}}, "environment"),
        ({"algorithm": {"name": "DQN", "clip_coef": 1}, "environment": {"name": "e"}}, "clip_coef"),
        ({"algorithm": {"name": "dqn"}, "environment": {"name": "e"}}, "dqn"),
        ({"algorithm": {"name": "DQN", "gamma": 2}, "environment": {"name": "e"}}, "gamma"),
        ({"algorithm": {"name": "DQN"}, "environment": {"name": "e"}, "netwrok": {}}, "netwrok"),
    ],
)
def test_mistakes_do_not_fit(document: dict[str, Any], word: str) -> None:
    assert word in " ".join(faults(document, SCHEMA))


def test_it_says_its_dialect_and_describes_every_field() -> None:
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for name, definition in SCHEMA["$defs"].items():
        assert definition["title"], name
        for field, schema in definition["properties"].items():
            assert schema.get("description"), (name, field)


def test_a_schema_is_ones_own_to_change() -> None:
    TrainingManifest.schema()["properties"].clear()
    assert TrainingManifest.schema()["properties"]
